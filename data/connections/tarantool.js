/**
 * A Tarantool connection for loaders and namespaces: calls of stored functions, with rows encoded
 * directly from the dataset;
 * https://www.tarantool.io/en/doc/latest/dev_guide/internals/box_protocol/ Not the raced driver,
 * which encodes through objects and hangs with many requests in flight.
 */

import { VALUE_SIZE_MAX } from '../../lib/dataset.js';
import { targetError } from '../../lib/errors.js';
import { FULL_DISK } from '../../lib/hints.js';
import { encodeAuth, readGreeting } from '../../protocols/iproto/greeting.js';
import {
  CODE,
  encodeRequest,
  encodeSelect,
  endRequest,
  KEY,
  packetBytes,
  readPacket,
  replyOf,
  VSPACE,
  writeRequestHead,
} from '../../protocols/iproto/packet.js';
import { writeArrayHead, writeStringHead, writeUint } from '../../protocols/msgpack.js';
import { SocketConnection } from './socket-connection.js';

/** Bytes of a call in addition to its rows: head, map, function name, first id, heads of arrays. */
const CALL_OVERHEAD_BYTES = 160;
/** Bytes of the space name after the rows, with its head. */
const SPACE_BYTES_MAX = 37;
/** Head of a string. */
const VALUE_OVERHEAD_BYTES = 5;

/** Requests may be answered in any order; each has a number, `sync`. */
export class TarantoolConnection extends SocketConnection {
  sync = 0;
  greeted = false;

  /**
   * @param {import('../../lib/types.js').ConnectionContext} context
   * @returns {Promise<TarantoolConnection>} connected and authenticated
   * @throws {import('../../lib/errors.js').DragstripError} E_TARGET, E_ABORTED
   */
  static async connect({ address, credentials, signal, timeoutMs }) {
    const connection = new TarantoolConnection({
      what: 'Tarantool',
      endpoint: address.main,
      signal,
      timeoutMs,
    });
    try {
      await connection.greet(credentials);
      return connection;
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  /**
   * @param {import('../../lib/types.js').Credentials} credentials without a user: guest
   * @returns {Promise<void>} connected, and authenticated if there are credentials
   */
  async greet({ user, password }) {
    // The server sends the greeting first; it is awaited as the reply to a request without bytes.
    const salt = this.request(0, Buffer.alloc(0));
    salt.catch(() => {});
    await this.opened();
    if (user === undefined) {
      await salt;
      return;
    }
    this.sync += 1;
    await this.request(this.sync, encodeAuth(this.sync, { user, password }, await salt));
  }

  /**
   * @param {string} name name of a stored function
   * @param {any[]} [values] its arguments
   * @returns {Promise<any>} its first return value
   * @throws {import('../../lib/errors.js').DragstripError} E_TARGET with the server's message
   */
  async call(name, values = []) {
    const [first] = await this.send(CODE.call, [
      [KEY.name, name],
      [KEY.tuple, values],
    ]);
    return first;
  }

  /**
   * @param {string} name
   * @returns {Promise<number | null>} id of a space that this user may see
   */
  async spaceId(name) {
    const [tuple] = await this.select(VSPACE.id, VSPACE.byName, [name]);
    return tuple?.[0] ?? null;
  }

  /**
   * @param {number} space
   * @param {number} index number of a unique index
   * @param {any[]} key complete key
   * @returns {Promise<any[][]>} the tuple, if it exists
   */
  select(space, index, key) {
    this.sync += 1;
    return this.request(this.sync, encodeSelect(this.sync, { space, index, key }));
  }

  /** @param {number} space @param {any[]} tuple */
  replace(space, tuple) {
    return this.send(CODE.replace, [
      [KEY.space, space],
      [KEY.tuple, tuple],
    ]);
  }

  /** @param {number} code @param {[number, any][]} entries */
  send(code, entries) {
    this.sync += 1;
    return this.request(this.sync, encodeRequest(code, this.sync, entries));
  }

  /**
   * Encodes a call name(first, {value, …}), with as many values as fit into the buffer. Send it
   * with sendRows before any other request.
   * @param {string} name
   * @param {import('../../lib/types.js').Dataset} dataset
   * @param {Buffer} buffer buffer of at least rowBufferBytes
   * @param {number} first
   * @param {string} [space] target, as a third argument
   * @returns {{ length: number, next: number }}
   */
  encodeRows(name, dataset, buffer, first, space) {
    this.sync += 1;
    let at = writeRequestHead(buffer, CODE.call, this.sync);
    at = buffer.writeUInt8(0x82, at);
    at = buffer.writeUInt8(KEY.name, at);
    at = writeStringHead(buffer, at, name.length);
    at += buffer.write(name, at, 'latin1');
    at = buffer.writeUInt8(KEY.tuple, at);
    at = buffer.writeUInt8(space === undefined ? 0x92 : 0x93, at);
    at = writeUint(buffer, at, first);
    const countAt = at;
    at += 5;
    let id = first;
    const tail = space === undefined ? 0 : SPACE_BYTES_MAX;
    const limit = buffer.length - dataset.valueSize - VALUE_OVERHEAD_BYTES - tail;
    for (; id <= dataset.rows && at <= limit; id += 1) {
      at = writeStringHead(buffer, at, dataset.sizeOf(id));
      at = dataset.write(id, buffer, at);
    }
    writeArrayHead(buffer, countAt, id - first);
    if (space !== undefined) {
      at = writeStringHead(buffer, at, space.length);
      at += buffer.write(space, at, 'latin1');
    }
    endRequest(buffer, at);
    return { length: at, next: id };
  }

  /**
   * @param {Uint8Array} bytes output of the last encodeRows
   * @returns {Promise<any>}
   */
  sendRows(bytes) {
    return this.request(this.sync, bytes);
  }

  /** @param {Buffer} bytes @override */
  consume(bytes) {
    let at = 0;
    try {
      if (!this.greeted) {
        const greeting = readGreeting(bytes);
        if (greeting === null) return 0;
        this.greeted = true;
        this.settle(0, null, greeting.salt);
        at = greeting.end;
      }
      for (;;) {
        const packet = readPacket(bytes, at, VALUE_SIZE_MAX);
        if (packet === null) break;
        this.reply(packet);
        at = packet.end;
      }
      this.need = packetBytes(bytes, at, VALUE_SIZE_MAX) || 1;
      return at;
    } catch {
      throw this.garbled(bytes.subarray(at));
    }
  }

  /** @param {import('../../protocols/iproto/packet.js').IprotoPacket} packet */
  reply(packet) {
    const { sync, data, code, message } = replyOf(packet);
    if (!this.waiting.has(sync))
      throw new RangeError('unexpected reply: no request is outstanding');
    this.settle(sync, message === null ? null : this.refusal(code, message), data);
  }

  /** @param {number} code code of Tarantool's errcode.h @param {string} message */
  refusal(code, message) {
    return targetError(`${this.where} answered ${JSON.stringify(message)}`, HINTS[code]);
  }
}

/**
 * @param {number} valueSize
 * @returns {number} minimum size of a buffer for encodeRows with one row
 */
export function rowBufferBytes(valueSize) {
  return CALL_OVERHEAD_BYTES + VALUE_OVERHEAD_BYTES + valueSize;
}

const BOX = 'start it with Dragstrip’s box.lua (`npx dragstrip servers start tarantool`)';

/** @type {Record<number, string>} by error code */
const HINTS = {
  2: 'raise memtx_memory in box.lua, or choose fewer --rows or a smaller --value-size',
  7: 'name a server that accepts writes',
  33: BOX,
  40: FULL_DISK,
  42: BOX,
  45: 'check the user in the environment',
  47: 'check the password in the environment',
  110: 'raise memtx_max_tuple_size in box.lua, or choose a smaller --value-size',
};
