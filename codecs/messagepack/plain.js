/**
 * A simple MessagePack decoder and encoder, the baseline: one function with a switch
 * over a Buffer, no options, no extension types. Apart from protocols/msgpack.js, on purpose: that
 * one is a package of npm, which is compared here with this.
 */

import { batchRows } from '../rows.js';
import { selectEncoder } from './requests.js';

class PlainReader {
  /** @param {Buffer} bytes */
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  /** @returns {any} */
  next() {
    const { bytes } = this;
    const code = bytes[this.at];
    this.at += 1;
    if (code < 0x80) return code;
    if (code < 0x90) return this.map(code & 15);
    if (code < 0xa0) return this.array(code & 15);
    if (code < 0xc0) return this.text(code & 31);
    if (code >= 0xe0) return code - 256;
    return code < 0xca ? this.simple(code) : this.sized(code);
  }

  /** @param {number} code */
  simple(code) {
    if (code === 0xc0) return null;
    if (code === 0xc2 || code === 0xc3) return code === 0xc3;
    if (code < 0xc4 || code > 0xc6) throw new RangeError(`type 0x${code.toString(16)}`);
    const length = this.uint(1 << (code - 0xc4));
    this.at += length;
    return Buffer.from(this.bytes.subarray(this.at - length, this.at));
  }

  /** @param {number} code */
  sized(code) {
    if (code === 0xca || code === 0xcb) return this.float(code === 0xca ? 4 : 8);
    if (code <= 0xcf) return this.uint(1 << (code - 0xcc));
    if (code <= 0xd3) return this.int(1 << (code - 0xd0));
    if (code < 0xd9) throw new RangeError(`type 0x${code.toString(16)}`);
    if (code <= 0xdb) return this.text(this.uint(1 << (code - 0xd9)));
    const length = this.uint(code & 1 ? 4 : 2);
    return code <= 0xdd ? this.array(length) : this.map(length);
  }

  /** @param {number} width 1, 2, 4 or 8 bytes */
  uint(width) {
    const { bytes, at } = this;
    this.at += width;
    if (width === 1) return bytes[at];
    if (width === 2) return (bytes[at] << 8) | bytes[at + 1];
    const high = bytes.readUInt32BE(at);
    return width === 4 ? high : high * 2 ** 32 + bytes.readUInt32BE(at + 4);
  }

  /** @param {number} width */
  int(width) {
    const { bytes, at } = this;
    this.at += width;
    if (width < 8) return bytes.readIntBE(at, width);
    return bytes.readInt32BE(at) * 2 ** 32 + bytes.readUInt32BE(at + 4);
  }

  /** @param {number} width */
  float(width) {
    this.at += width;
    const { bytes, at } = this;
    return width === 4 ? bytes.readFloatBE(at - 4) : bytes.readDoubleBE(at - 8);
  }

  /** @param {number} length */
  text(length) {
    this.at += length;
    return this.bytes.toString('utf8', this.at - length, this.at);
  }

  /** @param {number} length @returns {any[]} */
  array(length) {
    const items = new Array(length);
    for (let i = 0; i < length; i += 1) items[i] = this.next();
    return items;
  }

  /** @param {number} length @returns {Record<string, any>} */
  map(length) {
    /** @type {Record<string, any>} */
    const object = {};
    for (let i = 0; i < length; i += 1) {
      const key = this.next();
      object[key] = this.next();
    }
    return object;
  }
}

/** @type {import('./packets.js').Unpack} */
export function unpackPlain(packet) {
  const reader = new PlainReader(packet);
  const header = reader.next();
  return { header, body: reader.next() };
}

/**
 * @param {Buffer} target with room
 * @param {number} at
 * @param {any} value integers from 0 to 2^32 - 1, strings and Buffers below 256 bytes, arrays
 * @returns {number} the offset after it
 */
function writeValue(target, at, value) {
  if (typeof value === 'number') return writeUint(target, at, value);
  if (typeof value === 'string') {
    const length = target.write(value, at + 2, 'utf8');
    if (length > 31) {
      target[at] = 0xd9;
      target[at + 1] = length;
      return at + 2 + length;
    }
    target.copyWithin(at + 1, at + 2, at + 2 + length);
    target[at] = 0xa0 + length;
    return at + 1 + length;
  }
  if (Buffer.isBuffer(value)) {
    target[at] = 0xc4;
    target[at + 1] = value.length;
    return at + 2 + value.copy(target, at + 2);
  }
  let to = at;
  if (value.length < 16) {
    target[to++] = 0x90 + value.length;
  } else {
    target[to] = 0xdc;
    to = target.writeUInt16BE(value.length, to + 1);
  }
  for (const item of value) to = writeValue(target, to, item);
  return to;
}

/** @param {Buffer} target @param {number} at @param {number} value */
function writeUint(target, at, value) {
  if (value < 0x80) {
    target[at] = value;
    return at + 1;
  }
  if (value < 0x100) {
    target[at] = 0xcc;
    target[at + 1] = value;
    return at + 2;
  }
  target[at] = value < 0x10000 ? 0xcd : 0xce;
  return value < 0x10000
    ? target.writeUInt16BE(value, at + 1)
    : target.writeUInt32BE(value, at + 1);
}

const KEY = Buffer.alloc(16);

/** @type {Record<string, () => import('../definition.js').Encoder>} */
export const PLAIN_ENCODERS = {
  'batch-4096': () => {
    const rows = batchRows();
    return (target) => writeValue(target, 0, rows);
  },
  'requests-1000': () => selectEncoder((key) => KEY.subarray(0, writeValue(KEY, 0, key))),
};
