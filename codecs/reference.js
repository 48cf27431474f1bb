/**
 * The protocols in their simplest form, except CQL, which is only decoded: the expected output of
 * encoders, byte for byte, and the requests for recording the fixtures. Slow, and not measured.
 * test/contract verifies that servers accept it. Deliberately separate from protocols/, since tests
 * compare those encoders with this.
 */

import { INDEX_ID } from './handlersocket/encoders.js';
import { SPACE_ID } from './messagepack/requests.js';
import { batchRows, requestKeys } from './rows.js';

/**
 * @param {readonly (string | number | Buffer)[]} tokens
 * @returns {Buffer} a line of HandlerSocket
 */
export function handlersocketLine(tokens) {
  const parts = tokens.flatMap((token) => [Buffer.from('\t'), escapedBytes(toBytes(token))]);
  return Buffer.concat([...parts.slice(1), Buffer.from('\n')]);
}

/** @param {string | number | Buffer} value */
function toBytes(value) {
  return Buffer.isBuffer(value) ? value : Buffer.from(String(value));
}

/** @param {Buffer} bytes */
function escapedBytes(bytes) {
  return Buffer.from([...bytes].flatMap((byte) => (byte < 0x10 ? [1, byte + 0x40] : [byte])));
}

/**
 * @param {readonly (string | number | Buffer)[]} words
 * @returns {Buffer} a command of Redis
 */
export function respCommand(words) {
  const parts = words.flatMap((word) => {
    const bytes = toBytes(word);
    return [Buffer.from(`$${bytes.length}\r\n`), bytes, Buffer.from('\r\n')];
  });
  return Buffer.concat([Buffer.from(`*${words.length}\r\n`), ...parts]);
}

/**
 * The shortest form of each: https://github.com/msgpack/msgpack/blob/master/spec.md
 * @param {any} value
 * @returns {Buffer}
 */
export function messagePack(value) {
  if (value === null) return Buffer.of(0xc0);
  if (typeof value === 'boolean') return Buffer.of(value ? 0xc3 : 0xc2);
  if (typeof value === 'number') {
    return Number.isSafeInteger(value) ? packInteger(value) : packDouble(value);
  }
  if (typeof value === 'string') {
    const bytes = Buffer.from(value);
    return Buffer.concat([packLength(bytes.length, [0xa0, 32], 0xd9), bytes]);
  }
  if (Buffer.isBuffer(value)) return Buffer.concat([packLength(value.length, null, 0xc4), value]);
  if (Array.isArray(value)) {
    return Buffer.concat([packLength(value.length, [0x90, 16], 0xdb), ...value.map(messagePack)]);
  }
  const entries = Object.entries(value);
  const head = packLength(entries.length, [0x80, 16], 0xdd);
  return Buffer.concat([head, ...entries.flat().map(messagePack)]);
}

/**
 * @param {number} length
 * @param {[number, number] | null} fixed code and end of the one-byte form
 * @param {number} code code for a length of one byte; those for two and four follow it. Arrays and
 *   maps have none for one byte
 */
function packLength(length, fixed, code) {
  if (fixed !== null && length < fixed[1]) return Buffer.of(fixed[0] + length);
  if (length < 0x100 && code < 0xdb) return Buffer.of(code, length);
  if (length < 0x10000) return Buffer.of(code + 1, length >>> 8, length & 0xff);
  const head = Buffer.of(code + 2, 0, 0, 0, 0);
  head.writeUInt32BE(length, 1);
  return head;
}

/** @param {number} value */
export function packDouble(value) {
  const bytes = Buffer.of(0xcb, 0, 0, 0, 0, 0, 0, 0, 0);
  bytes.writeDoubleBE(value, 1);
  return bytes;
}

/** @param {number} value */
function packInteger(value) {
  if (value >= 0 && value < 0x80) return Buffer.of(value);
  if (value < 0 && value >= -32) return Buffer.of(0x100 + value);
  const fits = (/** @type {number} */ width) =>
    value < 0 ? -value <= 2 ** (8 * width - 1) : value < 2 ** (8 * width);
  const width = [1, 2, 4].find(fits) ?? 8;
  const bytes = Buffer.alloc(1 + width);
  bytes[0] = (value < 0 ? 0xd0 : 0xcc) + Math.log2(width);
  if (width === 8) bytes.writeBigInt64BE(BigInt(value), 1);
  else if (value < 0) bytes.writeIntBE(value, 1, width);
  else bytes.writeUIntBE(value, 1, width);
  return bytes;
}

/**
 * A select of Tarantool, its numbers as wide as in tarantool-driver.
 * @param {number} sync
 * @param {{ space: number, index?: number, limit?: number, iterator?: number, key: any }} select
 * @returns {Buffer}
 */
export function iprotoSelect(sync, { space, index = 0, limit = 1, iterator = 0, key }) {
  const uint32 = (/** @type {number} */ value) => {
    const bytes = Buffer.of(0xce, 0, 0, 0, 0);
    bytes.writeUInt32BE(value, 1);
    return bytes;
  };
  const body = Buffer.concat([
    Buffer.of(0x82, 0x00, 0x01, 0x01),
    uint32(sync),
    Buffer.of(0x86, 0x10, 0xcd, space >>> 8, space & 0xff, 0x11, index, 0x12),
    uint32(limit),
    Buffer.of(0x13),
    uint32(0),
    Buffer.of(0x14, iterator, 0x20),
    messagePack([key]),
  ]);
  return Buffer.concat([uint32(body.length), body]);
}

/** @type {Record<string, Record<string, () => Buffer[]>>} by protocol and fixture */
const ENCODED = {
  handlersocket: {
    'batch-4096': () =>
      batchRows().map((row) => handlersocketLine([INDEX_ID, '+', row.length, ...row])),
    'requests-1000': () => requestKeys().map((key) => handlersocketLine([INDEX_ID, '=', 1, key])),
  },
  resp: {
    'batch-4096': () => batchRows().map((row) => respCommand(['rpush', 'batch', ...row])),
    'requests-1000': () => requestKeys().map((key) => respCommand(['get', `dragstrip:${key}`])),
  },
  messagepack: {
    'batch-4096': () => [messagePack(batchRows())],
    'requests-1000': () =>
      requestKeys().map((key, i) => iprotoSelect(i + 1, { space: SPACE_ID, key })),
  },
};

/** @type {Map<string, Buffer>} */
const made = new Map();

/**
 * @param {import('./fixtures.js').Fixture} fixture fixture to encode
 * @returns {Buffer} expected output of every encoder
 */
export function referenceBytes({ protocol, name }) {
  const key = `${protocol}/${name}`;
  const bytes = made.get(key) ?? Buffer.concat(ENCODED[protocol][name]());
  made.set(key, bytes);
  return bytes;
}
