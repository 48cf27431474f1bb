/** Tarantool, as far as its drivers ask: the greeting, the space by its name, select by key. */

import { PLACES } from '../../lib/dataset.js';
import { Decoder, encode } from '../../protocols/msgpack.js';
import { ReplyTable } from './table.js';

const PREFIX_BYTES = 5;
const VSPACE = 281;
const SPACE_ID = 512;
const SELECT = 1;
const KEY = 0x20;
/** From a reply's beginning to the four low bytes of its sync: CE n, 83 00 CE n, 01 CF n n. */
const SYNC_OFFSET = 18;
const NO_TUPLES = Buffer.of(0x81, 0x30, 0xdd, 0, 0, 0, 0);
const GREETING = Buffer.from(
  `${'Tarantool 2.6.0 (Binary) 00000000-0000-4000-8000-000000000000'.padEnd(63)}\n` +
    `${Buffer.alloc(32, 7).toString('base64').padEnd(63)}\n`,
  'latin1',
);

/**
 * @param {import('../../lib/types.js').Dataset} dataset
 * @returns {import('./server.js').StandIn}
 */
export function createTarantool(dataset) {
  const table = new ReplyTable(dataset, (value, id) =>
    reply(oneTuple(Buffer.of(0x92), encode(id), encode(value))),
  );
  const space = reply(oneTuple(Buffer.of(0x93), encode(SPACE_ID), encode(1), encode(PLACES.space)));
  const none = reply(NO_TUPLES);
  return {
    greeting: GREETING,
    converse: () => ({ consume: (bytes, out) => consume({ table, space, none }, bytes, out) }),
  };
}

/** @param {...Buffer} tuple its parts */
function oneTuple(...tuple) {
  return Buffer.concat([Buffer.of(0x81, 0x30, 0xdd, 0, 0, 0, 1), ...tuple]);
}

/**
 * @param {Buffer} body
 * @returns {Buffer} with a sync of zero
 */
function reply(body) {
  const head = Buffer.from(
    'ce00000000' + '8300ce00000000' + '01cf0000000000000000' + '05ce00000052',
    'hex',
  );
  head.writeUInt32BE(head.length - PREFIX_BYTES + body.length, 1);
  return Buffer.concat([head, body]);
}

/**
 * @param {{ table: ReplyTable, space: Buffer, none: Buffer }} replies
 * @param {Buffer} bytes
 * @param {import('./outbox.js').Outbox} out
 */
function consume({ table, space, none }, bytes, out) {
  let at = 0;
  while (bytes.length - at >= PREFIX_BYTES) {
    if (bytes[at] !== 0xce) throw new Error('not a request of Tarantool');
    const end = at + PREFIX_BYTES + bytes.readUInt32BE(at + 1);
    if (end > bytes.length) break;
    const request = readRequest(bytes, at + PREFIX_BYTES);
    const { sync, key } = request;
    if (typeof key === 'number' && table.has(key)) {
      table.copy(key, out);
      out.patchUInt32(sync, table.offsets[key + 1] - table.offsets[key] - SYNC_OFFSET);
    } else {
      const other = request.space === VSPACE && key === PLACES.space ? space : none;
      out.push(other);
      out.patchUInt32(sync, other.length - SYNC_OFFSET);
    }
    at = end;
  }
  return at;
}

/**
 * @param {Buffer} bytes
 * @param {number} at of the header
 * @returns {{ sync: number, space: number, key: number | string | null }}
 */
function readRequest(bytes, at) {
  const decoder = new Decoder(bytes, at);
  const request = { sync: 0, space: 0, key: null };
  let code = 0;
  for (let left = bytes[decoder.at++] & 15; left > 0; left -= 1) {
    const field = decoder.next();
    const value = decoder.next();
    if (field === 0) code = value;
    else if (field === 1) request.sync = value;
  }
  if (code !== SELECT) return request;
  for (let left = bytes[decoder.at++] & 15; left > 0; left -= 1) {
    const field = decoder.next();
    if (field === KEY) {
      decoder.at += 1; // an array of one
      request.key = decoder.next();
    } else {
      const value = decoder.next();
      if (field === 0x10) request.space = value;
    }
  }
  return request;
}
