/**
 * The packets of MySQL's protocol that both ends here need: lengths, numbers, the native password.
 * https://dev.mysql.com/doc/dev/mysql-server/latest/PAGE_PROTOCOL.html
 */

import { createHash } from 'node:crypto';

/** Three bytes of length, one of sequence. */
export const PACKET_HEAD_BYTES = 4;
/** A payload of this many bytes goes on in the next packet. */
export const PAYLOAD_MAX = 0xffffff;

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
 * @param {...Uint8Array} parts of the payload, together below PAYLOAD_MAX
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
 */
export function readLengthEncoded(bytes, at) {
  const first = bytes[at];
  if (first < 251) return { value: first, end: at + 1 };
  if (first === 0xfb) return { value: null, end: at + 1 };
  if (first === 0xfc) return { value: bytes.readUInt16LE(at + 1), end: at + 3 };
  if (first === 0xfd) return { value: bytes.readUIntLE(at + 1, 3), end: at + 4 };
  return { value: bytes.readUIntLE(at + 1, 6), end: at + 9 };
}

/**
 * The payload of a packet, put together where it goes over several.
 * @param {Buffer} bytes
 * @param {number} at
 * @returns {{ payload: Buffer, sequence: number, end: number } | null} null: not whole
 */
export function readPacket(bytes, at) {
  /** @type {Buffer[]} */
  const parts = [];
  let from = at;
  for (;;) {
    if (bytes.length - from < PACKET_HEAD_BYTES) return null;
    const size = bytes.readUIntLE(from, 3);
    const end = from + PACKET_HEAD_BYTES + size;
    if (bytes.length < end) return null;
    parts.push(bytes.subarray(from + PACKET_HEAD_BYTES, end));
    if (size < PAYLOAD_MAX) {
      const payload = parts.length === 1 ? parts[0] : Buffer.concat(parts);
      return { payload, sequence: bytes[from + 3], end };
    }
    from = end;
  }
}

/**
 * mysql_native_password: SHA1(password) xor SHA1(salt + SHA1(SHA1(password))).
 * @param {string | undefined} password
 * @param {Buffer} salt 20 bytes
 * @returns {Buffer} empty where there is no password
 */
export function nativePassword(password, salt) {
  if (!password) return Buffer.alloc(0);
  const sha1 = (/** @type {(Buffer | string)[]} */ ...parts) => {
    const hash = createHash('sha1');
    for (const part of parts) hash.update(part);
    return hash.digest();
  };
  const once = sha1(password);
  const mask = sha1(salt, sha1(once));
  return Buffer.from(once.map((byte, index) => byte ^ mask[index]));
}
