/**
 * Tarantool's packets: a length, a map that is the header, a map that is the body.
 * https://www.tarantool.io/en/doc/latest/reference/internals/iproto/format/
 */

import { garbled, tooLong } from '../framer.js';
import { decodeAll, encode, encodeMap } from '../msgpack.js';

/** Length of a packet: 0xCE and 32 bits. */
export const PREFIX_BYTES = 5;
/** Bytes of a request head as writeRequestHead writes it: the length and the header. */
const HEAD_BYTES = 14;
/** Large enough for an error reply with its message and stack. */
const PACKET_BYTES_MAX = 65_536;

/** Request codes. */
export const CODE = Object.freeze({ select: 1, replace: 3, auth: 7, call: 10 });

/** Keys of headers and bodies. */
export const KEY = Object.freeze({
  code: 0x00,
  sync: 0x01,
  space: 0x10,
  index: 0x11,
  limit: 0x12,
  offset: 0x13,
  iterator: 0x14,
  key: 0x20,
  tuple: 0x21,
  name: 0x22,
  user: 0x23,
  data: 0x30,
  error: 0x31,
});

/** The view of all spaces that the user may see, and its index by name. */
export const VSPACE = Object.freeze({ id: 281, byName: 2 });

/**
 * Writes the head of a request; its length is written by endRequest.
 * @param {Buffer} target
 * @param {number} code
 * @param {number} sync
 * @returns {number} offset after it
 */
export function writeRequestHead(target, code, sync) {
  target[0] = 0xce;
  target[PREFIX_BYTES] = 0x82;
  target[6] = KEY.code;
  target[7] = code;
  target[8] = KEY.sync;
  target[9] = 0xce;
  return target.writeUInt32BE(sync, 10);
}

/** @param {Buffer} target buffer with a request that ends at the offset @param {number} end */
export function endRequest(target, end) {
  target.writeUInt32BE(end - PREFIX_BYTES, 1);
}

/**
 * @param {number} code
 * @param {number} sync
 * @param {[number, any][]} entries entries of the body; a value that is a Buffer is already encoded
 * @returns {Buffer}
 */
export function encodeRequest(code, sync, entries) {
  const head = Buffer.allocUnsafe(HEAD_BYTES);
  writeRequestHead(head, code, sync);
  const packet = Buffer.concat([head, encodeMap(entries)]);
  endRequest(packet, packet.length);
  return packet;
}

/**
 * @param {number} sync
 * @param {{ space: number, index?: number, key: readonly any[] }} select selects one tuple by a
 *   full key
 * @returns {Buffer}
 */
export function encodeSelect(sync, { space, index = 0, key }) {
  return encodeRequest(CODE.select, sync, [
    [KEY.space, space],
    [KEY.index, index],
    [KEY.limit, 1],
    [KEY.offset, 0],
    [KEY.iterator, 0],
    [KEY.key, key],
  ]);
}

/**
 * @typedef {object} IprotoPacket
 * @property {number} end offset after it
 * @property {Record<number, any>} header by KEY
 * @property {Record<number, any>} body by KEY; empty if absent
 */

/**
 * @param {Buffer} bytes
 * @param {number} at
 * @param {number} [valueSize] bytes requested beyond those of any packet
 * @returns {IprotoPacket | null} null: incomplete
 * @throws {import('../../lib/errors.js').DragstripError} E_TARGET if it is not a packet, or is
 *   longer than requested
 */
export function readPacket(bytes, at, valueSize = 0) {
  const size = packetBytes(bytes, at, valueSize);
  if (size === 0 || bytes.length - at < size) return null;
  const end = at + size;
  const [header, body] = decodePacket(bytes.subarray(at + PREFIX_BYTES, end));
  if (typeof header !== 'object' || header === null) throw garbled('Tarantool', bytes[at + 5] ?? 0);
  return { end, header, body: typeof body === 'object' && body !== null ? body : {} };
}

/**
 * @param {Buffer} bytes
 * @param {number} at start of a packet
 * @param {number} [valueSize] same as in readPacket
 * @returns {number} bytes of the packet; 0: not yet known
 */
export function packetBytes(bytes, at, valueSize = 0) {
  if (bytes.length === at) return 0;
  if (bytes[at] !== 0xce) throw garbled('Tarantool', bytes[at]);
  if (bytes.length - at < PREFIX_BYTES) return 0;
  const size = bytes.readUInt32BE(at + 1);
  const limit = PACKET_BYTES_MAX + valueSize;
  if (size > limit) throw tooLong('Tarantool', size, limit);
  return PREFIX_BYTES + size;
}

/** @param {Buffer} packet without its length */
function decodePacket(packet) {
  try {
    return decodeAll(packet);
  } catch {
    throw garbled('Tarantool', packet[0] ?? 0);
  }
}

/**
 * @param {IprotoPacket} packet a reply
 * @returns {{ sync: number, data: any[], code: number, message: string | null }} code and message
 *   of an error; 0 and null: none
 */
export function replyOf({ header, body }) {
  const code = header[KEY.code] & 0x7fff;
  const isError = header[KEY.code] !== 0;
  return {
    sync: header[KEY.sync],
    data: isError ? [] : (body[KEY.data] ?? []),
    code: isError ? code : 0,
    message: isError ? String(body[KEY.error]) : null,
  };
}

const SCHEMA_VERSION = 82;
/** From the start of a reply to the low four bytes of its sync: CE n, 83 00 CE n, 01 CF n n. */
export const REPLY_SYNC_OFFSET = 18;

/**
 * A reply of a server with sync zero, to be patched in copies.
 * @param {readonly any[]} tuples
 * @returns {Buffer}
 */
export function encodeReply(tuples) {
  const head = Buffer.alloc(28);
  head[0] = 0xce;
  head.set([0x83, KEY.code, 0xce], PREFIX_BYTES);
  head.set([KEY.sync, 0xcf], 12);
  head.set([0x05, 0xce, 0, 0, 0, SCHEMA_VERSION], 22);
  const data = Buffer.alloc(7);
  data.set([0x81, KEY.data, 0xdd]);
  data.writeUInt32BE(tuples.length, 3);
  const packet = Buffer.concat([head, data, ...tuples.map(encode)]);
  packet.writeUInt32BE(packet.length - PREFIX_BYTES, 1);
  return packet;
}
