/**
 * The slot of a key in a Redis Cluster. Pure.
 * https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/
 */

/** Fixed number of slots of a cluster. */
export const SLOTS = 16_384;

/** CRC16 of XMODEM: polynomial 0x1021, initial value 0 (cluster specification, appendix A). */
const TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc & 0xffff;
});

/**
 * @param {string} key a binary string: one character per byte
 * @returns {number} 0 to 16383. Only a non-empty part in braces is hashed: `{user1}.name` and
 *   `{user1}.mail` are in one slot
 */
export function slotOf(key) {
  const open = key.indexOf('{');
  const close = open === -1 ? -1 : key.indexOf('}', open + 1);
  const [from, to] = close > open + 1 ? [open + 1, close] : [0, key.length];
  let crc = 0;
  for (let at = from; at < to; at += 1) {
    crc = ((crc << 8) & 0xffff) ^ TABLE[(crc >>> 8) ^ (key.charCodeAt(at) & 0xff)];
  }
  return crc & (SLOTS - 1);
}
