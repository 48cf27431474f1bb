/**
 * MessagePack by @msgpack/msgpack, with bounded lengths; and a few writers that copy rows from the
 * dataset directly into a buffer, since a library takes values, and would create a string of each
 * row first. https://github.com/msgpack/msgpack/blob/master/spec.md
 */

import { Decoder, Encoder } from '@msgpack/msgpack';

/**
 * Maximum length of arrays and maps; an array is allocated by its announced length, and Dragstrip's
 * are short.
 */
const ITEMS_MAX = 1024;

const encoder = new Encoder({ ignoreUndefined: true });
const decoder = new Decoder({ maxArrayLength: ITEMS_MAX, maxMapLength: ITEMS_MAX });

/**
 * @param {any} value integers are written in their shortest form: Tarantool's hash index hashes the
 *   bytes of a key as received, so 128 stored in two bytes is not found by 128 in five
 * @returns {Buffer}
 */
export function encode(value) {
  const bytes = encoder.encode(value);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * @param {readonly (readonly [number, any])[]} entries at most 15; a library's maps of JavaScript
 *   objects have no numbers as keys
 * @returns {Buffer} a map of them; a value that is a Buffer is already encoded
 */
export function encodeMap(entries) {
  const parts = entries.flatMap(([key, value]) => [
    encode(key),
    Buffer.isBuffer(value) ? value : encode(value),
  ]);
  return Buffer.concat([Buffer.of(0x80 + entries.length), ...parts]);
}

/**
 * @param {Buffer} bytes
 * @returns {any[]} the values in them, in order; maps as objects
 * @throws {Error} the last value is incomplete, or an array or a map has more than 1024 items
 */
export function decodeAll(bytes) {
  return [...decoder.decodeMulti(bytes)];
}

/**
 * Same as encode: in the shortest form.
 * @param {Buffer} target
 * @param {number} at
 * @param {number} value below 2^32
 * @returns {number} offset after it
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
