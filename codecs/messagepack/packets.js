/**
 * Extracts Tarantool's packets from chunks, for codecs that implement MessagePack but not
 * Tarantool: a length of five bytes, a map that is the header, a map that is the body. Deliberately
 * separate from protocols/iproto/, since each codec decodes the maps itself.
 */

import { frameCutter } from '../frames.js';

/** @type {import('../frames.js').FrameForm} */
const FORM = Object.freeze({ headBytes: 5, bodyBytes: (bytes, at) => bytes.readUInt32BE(at + 1) });
/** Keys of the header and of the body. */
const CODE = 0;
const DATA = 0x30;

/**
 * @typedef {(packet: Buffer) => { header: any, body: any }} Unpack decodes both maps, as objects or
 *   as Maps
 */

/**
 * @param {Unpack} unpack
 * @returns {NonNullable<import('../definition.js').Codec['createDecoder']>} decoder that emits the
 *   tuples of each reply
 */
export function packetDecoder(unpack) {
  return (_shape, emit) =>
    frameCutter(FORM, (bytes, at, end) => emit(tuplesOf(unpack(bytes.subarray(at, end)))));
}

/** @param {{ header: any, body: any }} packet */
function tuplesOf({ header, body }) {
  const isMap = header instanceof Map;
  const code = isMap ? header.get(CODE) : header[CODE];
  if (code !== 0) throw new Error(`the fixture holds an error reply: ${code}`);
  return isMap ? body.get(DATA) : body[DATA];
}
