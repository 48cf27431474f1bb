/**
 * The packets of MySQL's protocol: lengths, numbers, the meaning of a payload's first byte.
 * https://dev.mysql.com/doc/dev/mysql-server/latest/PAGE_PROTOCOL.html
 */

import { garbled, tooLong } from '../framer.js';

/** Three bytes of length, one of sequence. */
export const PACKET_HEAD_BYTES = 4;
/** A payload of this many bytes continues in the next packet. */
export const PAYLOAD_MAX = 0xffffff;
/** Maximum payload in addition to the requested value: a column's definition, an error's text. */
const OVERHEAD_BYTES_MAX = 65_536;

/** First byte of a payload. */
export const MARK = Object.freeze({ ok: 0x00, eof: 0xfe, error: 0xff });

/** CLIENT_* flags; MySQL reference, group__group__cs__capabilities__flags. */
export const CAPABILITY = Object.freeze({
  longPassword: 0x1,
  connectWithDatabase: 0x8,
  protocol41: 0x200,
  transactions: 0x2000,
  secureConnection: 0x8000,
  pluginAuth: 0x80000,
  deprecateEof: 0x1000000,
});

export const COMMAND = Object.freeze({
  quit: 0x01,
  query: 0x03,
  ping: 0x0e,
  prepare: 0x16,
  execute: 0x17,
  closeStatement: 0x19,
});

/**
 * @param {number} sequence
 * @param {...Uint8Array} parts parts of the payload, together below PAYLOAD_MAX
 * @returns {Buffer}
 */
export function packet(sequence, ...parts) {
  const payload = Buffer.concat(parts);
  const head = Buffer.alloc(PACKET_HEAD_BYTES);
  head.writeUIntLE(payload.length, 0, 3);
  head[3] = sequence;
  return Buffer.concat([head, payload]);
}

/**
 * @param {number} value below 2^32
 * @returns {Buffer} length-encoded integer
 */
export function lengthEncoded(value) {
  if (value < 251) return Buffer.of(value);
  const [mark, width] = value < 0x10000 ? [0xfc, 2] : value < 0x1000000 ? [0xfd, 3] : [0xfe, 8];
  const bytes = Buffer.alloc(1 + width);
  bytes[0] = mark;
  bytes.writeUIntLE(value, 1, Math.min(width, 6));
  return bytes;
}

/**
 * @param {Buffer} bytes
 * @param {number} at
 * @returns {{ value: number | null, end: number }} null: the mark of SQL NULL
 * @throws {import('../../lib/errors.js').DragstripError} E_TARGET: the bytes end before it
 */
export function readLengthEncoded(bytes, at) {
  const first = bytes[at];
  if (!(at + widthOf(first) < bytes.length)) throw garbled('MySQL', first ?? 0);
  if (first < 251) return { value: first, end: at + 1 };
  if (first === 0xfb) return { value: null, end: at + 1 };
  if (first === 0xfc) return { value: bytes.readUInt16LE(at + 1), end: at + 3 };
  if (first === 0xfd) return { value: bytes.readUIntLE(at + 1, 3), end: at + 4 };
  return { value: bytes.readUIntLE(at + 1, 6), end: at + 9 };
}

/** @param {number} first @returns {number} number of bytes after the first one */
function widthOf(first) {
  if (first < 0xfc) return 0;
  return first === 0xfc ? 2 : first === 0xfd ? 3 : 8;
}

/**
 * @param {number} first first byte of a payload
 * @param {number} size size of the payload
 * @param {boolean} deprecateEof whether the server omits EOF packets
 * @returns {boolean} whether it ends the rows; a row that begins with the same byte is longer
 */
export function isEnd(first, size, deprecateEof) {
  return first === MARK.eof && size < (deprecateEof ? PAYLOAD_MAX : 9);
}

/**
 * The payload of a packet, reassembled if it spans several packets.
 * @param {Buffer} bytes
 * @param {number} at
 * @param {number} [valueSize] bytes requested beyond those of any packet
 * @returns {{ payload: Buffer, sequence: number, end: number } | null} null: incomplete
 * @throws {import('../../lib/errors.js').DragstripError} E_TARGET: longer than requested
 */
export function readPacket(bytes, at, valueSize = 0) {
  const limit = OVERHEAD_BYTES_MAX + valueSize;
  /** @type {Buffer[]} */
  const parts = [];
  let from = at;
  for (;;) {
    if (bytes.length - from < PACKET_HEAD_BYTES) return null;
    const size = bytes.readUIntLE(from, 3);
    const end = from + PACKET_HEAD_BYTES + size;
    if (end - at > limit) throw tooLong('MySQL', end - at, limit);
    if (bytes.length < end) return null;
    parts.push(bytes.subarray(from + PACKET_HEAD_BYTES, end));
    if (size < PAYLOAD_MAX) {
      const payload = parts.length === 1 ? parts[0] : Buffer.concat(parts);
      return { payload, sequence: bytes[from + 3], end };
    }
    from = end;
  }
}
