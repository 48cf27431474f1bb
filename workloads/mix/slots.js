/** Places of the values that a run writes: made before the clock starts, so many; then again. */

const VALUES_CHARS_MAX = 64 * 2 ** 20;

/**
 * A write whose value has no place any more takes the key of an earlier one: keys are changed by
 * it, as those of a run longer than its keys are.
 * @param {Uint32Array} keys
 * @param {number} valueSize on average
 * @param {(i: number) => boolean} isWrite asked once for each operation, in order
 * @returns {Int32Array} -1 for what does not write, else the place of the value to write
 */
export function placeWrites(keys, valueSize, isWrite) {
  const places = Math.max(1, Math.floor(VALUES_CHARS_MAX / valueSize));
  const slots = new Int32Array(keys.length);
  /** @type {number[]} ids by place */
  const ids = [];
  let written = 0;
  for (let i = 0; i < slots.length; i += 1) {
    const writes = isWrite(i);
    slots[i] = writes ? written++ % places : -1;
    if (!writes) continue;
    if (ids.length < places) ids.push(keys[i]);
    else keys[i] = ids[slots[i]];
  }
  return slots;
}
