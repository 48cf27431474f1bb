/**
 * A select of Tarantool with a key encoded by some codec: its numbers have the widths of
 * tarantool-driver, so that all produce the same bytes. Not encodeSelect of protocols/, which uses
 * shorter forms and encodes the key itself.
 */

import { requestKeys } from '../rows.js';

export const SPACE_ID = 512;

/** Bytes of a select before its key. */
const HEAD = Buffer.from([
  ...[0xce, 0, 0, 0, 0],
  ...[0x82, 0x00, 0x01, 0x01, 0xce, 0, 0, 0, 0],
  ...[0x86, 0x10, 0xcd, SPACE_ID >>> 8, SPACE_ID & 0xff, 0x11, 0],
  ...[0x12, 0xce, 0, 0, 0, 1, 0x13, 0xce, 0, 0, 0, 0, 0x14, 0, 0x20],
]);
const PREFIX_BYTES = 5;
const SYNC_AT = 10;

/**
 * @param {(key: number[]) => Uint8Array} encode
 * @returns {import('../definition.js').Encoder} 1000 selects with keys encoded by that codec
 */
export function selectEncoder(encode) {
  const keys = requestKeys().map((key) => [key]);
  return (target) => {
    let at = 0;
    for (let i = 0; i < keys.length; i += 1) {
      const key = encode(keys[i]);
      target.set(HEAD, at);
      target.writeUInt32BE(HEAD.length - PREFIX_BYTES + key.length, at + 1);
      target.writeUInt32BE(i + 1, at + SYNC_AT);
      target.set(key, at + HEAD.length);
      at += HEAD.length + key.length;
    }
    return at;
  };
}
