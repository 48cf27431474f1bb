/**
 * Bytes of replies of the fake servers: requests in, replies of a conversation out, without a
 * socket.
 */

import { ROW_NAMES } from '../../lib/dataset.js';
import { createHandlerSocket } from '../../limits/fake/handlersocket.js';
import { createMysql } from '../../limits/fake/mysql.js';
import { createRedis } from '../../limits/fake/redis.js';
import { createTarantool } from '../../limits/fake/tarantool.js';

const CREATE = {
  redis: createRedis,
  handlersocket: createHandlerSocket,
  tarantool: createTarantool,
  mysql: createMysql,
};

/** The session after the greeting of the protocol. */
export const SESSIONS = Object.freeze({
  redis: ROW_NAMES.redisPrefix,
  handlersocket: null,
  tarantool: 512,
  mysql: { statement: 1, deprecateEof: false },
});

/** @typedef {keyof typeof CREATE} ProtocolName */

export const PROTOCOLS = /** @type {ProtocolName[]} */ (Object.keys(CREATE));

/** A write buffer that records written bytes, with the copying and patching of the fake server. */
export class Kept {
  bytes = Buffer.alloc(0);

  /** @param {Buffer} source @param {number} from @param {number} to */
  append(source, from, to) {
    this.bytes = Buffer.concat([this.bytes, source.subarray(from, to)]);
  }

  /** @param {Buffer} bytes */
  push(bytes) {
    this.append(bytes, 0, bytes.length);
  }

  /** @param {number} value @param {number} fromEnd */
  patchUInt32(value, fromEnd) {
    this.bytes.writeUInt32BE(value, this.bytes.length - fromEnd);
  }
}

/**
 * A conversation after its greeting.
 * @param {ProtocolName} name
 * @param {import('../../lib/types.js').Dataset} dataset
 */
export function converse(name, dataset) {
  const conversation = CREATE[name](dataset).converse();
  // MySQL's first packet is the handshake response, with any content.
  if (name === 'mysql')
    conversation.consume(Buffer.of(1, 0, 0, 1, 0), /** @type {any} */ (new Kept()));
  return conversation;
}

/**
 * @param {ProtocolName} name
 * @param {import('../../lib/types.js').Dataset} dataset
 * @param {Buffer} requests complete requests
 * @returns {Buffer} the replies
 */
export function repliesTo(name, dataset, requests) {
  const out = new Kept();
  const used = converse(name, dataset).consume(requests, /** @type {any} */ (out));
  if (used !== requests.length)
    throw new Error(`${requests.length - used} bytes were not answered`);
  return out.bytes;
}
