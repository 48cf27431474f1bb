/** Items in groups, and sums over them. Pure. */

/**
 * Map.groupBy, which Node 20 lacks.
 * @template T, K
 * @param {readonly T[]} items
 * @param {(item: T) => K} keyOf
 * @returns {Map<K, T[]>} in order of first occurrence
 */
export function groupBy(items, keyOf) {
  /** @type {Map<K, T[]>} */
  const groups = new Map();
  for (const item of items) {
    const key = keyOf(item);
    const own = groups.get(key);
    if (own === undefined) groups.set(key, [item]);
    else own.push(item);
  }
  return groups;
}

/**
 * @template T
 * @param {readonly T[]} items
 * @param {(item: T) => number | null} valueIn
 * @returns {number | null} null if one is unknown
 */
export function sumOf(items, valueIn) {
  let sum = 0;
  for (const item of items) {
    const value = valueIn(item);
    if (value === null) return null;
    sum += value;
  }
  return sum;
}
