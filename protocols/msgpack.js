/**
 * As much MessagePack as the loader's talk with Tarantool needs: integers, strings, booleans, nil,
 * arrays and maps; https://github.com/msgpack/msgpack/blob/master/spec.md. Not a general codec.
 */

/**
 * @param {any} value a string, an unsigned integer below 2^32, or an array of them
 * @returns {Buffer}
 */
export function encode(value) {
  const head = Buffer.allocUnsafe(5);
  if (typeof value === 'number') return head.subarray(0, writeUint(head, 0, value));
  if (typeof value === 'string') {
    const bytes = Buffer.from(value, 'utf8');
    return Buffer.concat([head.subarray(0, writeStringHead(head, 0, bytes.length)), bytes]);
  }
  return Buffer.concat([
    head.subarray(0, writeArrayHead(head, 0, value.length)),
    ...value.map(encode),
  ]);
}

/**
 * @param {readonly (readonly [number, any])[]} entries at most 15
 * @returns {Buffer} a map of them; a value that is a Buffer is taken as encoded already
 */
export function encodeMap(entries) {
  const parts = entries.flatMap(([key, value]) => [
    encode(key),
    Buffer.isBuffer(value) ? value : encode(value),
  ]);
  return Buffer.concat([Buffer.of(0x80 + entries.length), ...parts]);
}

/**
 * In the shortest form: Tarantool's hash index hashes the bytes of a key as they come, so that 128
 * in five bytes is not found where 128 in two was stored.
 * @param {Buffer} target
 * @param {number} at
 * @param {number} value below 2^32
 * @returns {number} the offset behind it
 */
export function writeUint(target, at, value) {
  if (value < 0x80) return target.writeUInt8(value, at);
  const width = value < 0x100 ? 1 : value < 0x10000 ? 2 : 4;
  target[at] = 0xcc + (width >>> 1);
  return target.writeUIntBE(value, at + 1, width);
}

/** @param {Buffer} target @param {number} at @param {number} length @returns {number} */
export function writeStringHead(target, at, length) {
  if (length < 0x10000) {
    target[at] = 0xda;
    return target.writeUInt16BE(length, at + 1);
  }
  target[at] = 0xdb;
  return target.writeUInt32BE(length, at + 1);
}

/**
 * @param {Buffer} target
 * @param {number} at
 * @param {number} length always five bytes
 * @returns {number}
 */
export function writeArrayHead(target, at, length) {
  target[at] = 0xdd;
  return target.writeUInt32BE(length, at + 1);
}

/** Reads values one after another; strings as latin1, maps as Map. */
export class Decoder {
  /** @param {Buffer} bytes @param {number} [at] */
  constructor(bytes, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  /**
   * @returns {any}
   * @throws {RangeError} where the bytes end too soon, or hold a type that is not read here
   */
  next() {
    const code = this.bytes.readUInt8(this.at);
    this.at += 1;
    if (code < 0x80) return code;
    if (code < 0x90) return this.map(code & 15);
    if (code < 0xa0) return this.array(code & 15);
    if (code < 0xc0) return this.string(code & 31);
    if (code >= 0xe0) return code - 256;
    switch (code) {
      case 0xc0:
        return null;
      case 0xc2:
        return false;
      case 0xc3:
        return true;
      case 0xcc:
        return this.uint(1);
      case 0xcd:
        return this.uint(2);
      case 0xce:
        return this.uint(4);
      case 0xcf:
        return this.uint(4) * 2 ** 32 + this.uint(4);
      case 0xd0:
        return (this.uint(1) << 24) >> 24;
      case 0xd1:
        return (this.uint(2) << 16) >> 16;
      case 0xd2:
        return this.uint(4) | 0;
      case 0xd9:
        return this.string(this.uint(1));
      case 0xda:
        return this.string(this.uint(2));
      case 0xdb:
        return this.string(this.uint(4));
      case 0xdc:
        return this.array(this.uint(2));
      case 0xdd:
        return this.array(this.uint(4));
      case 0xde:
        return this.map(this.uint(2));
      case 0xdf:
        return this.map(this.uint(4));
      default:
        throw new RangeError(`type 0x${code.toString(16)} is not read here`);
    }
  }

  /** @param {number} width */
  uint(width) {
    const value = this.bytes.readUIntBE(this.at, width);
    this.at += width;
    return value;
  }

  /** @param {number} length */
  string(length) {
    const end = this.at + length;
    if (end > this.bytes.length) throw new RangeError('a string ends too soon');
    const text = this.bytes.toString('latin1', this.at, end);
    this.at = end;
    return text;
  }

  /** @param {number} length @returns {any[]} */
  array(length) {
    const items = [];
    for (let i = 0; i < length; i += 1) items.push(this.next());
    return items;
  }

  /** @param {number} length @returns {Map<any, any>} */
  map(length) {
    const entries = new Map();
    for (let i = 0; i < length; i += 1) {
      const key = this.next();
      entries.set(key, this.next());
    }
    return entries;
  }
}
