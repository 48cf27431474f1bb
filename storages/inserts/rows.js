/** The rows of one request, and the number stored according to the reply. Pure. */

/**
 * @template T
 * @param {number} from
 * @param {number} to
 * @param {(a: number) => T} make
 * @returns {T[]} rows of the numbers from `from` to `to` - 1
 */
export function rowsOf(from, to, make) {
  const rows = [];
  for (let a = from; a < to; a += 1) rows.push(make(a));
  return rows;
}

/**
 * @template T
 * @param {readonly T[]} replies one per row
 * @param {(reply: T) => boolean} isStored
 * @returns {number} number of stored rows; negative: number of refused ones
 */
export function storedOf(replies, isStored) {
  let refused = 0;
  for (const reply of replies) if (!isStored(reply)) refused += 1;
  return refused > 0 ? -refused : replies.length;
}
