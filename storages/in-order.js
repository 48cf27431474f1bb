/**
 * Rows of a list of keys, put in the order of the keys: SQL gives those that are there, in an order
 * of its own. Pure.
 */

/**
 * @param {readonly { id: number, str: string }[]} rows
 * @param {readonly number[]} ids
 * @returns {(string | undefined)[]} undefined where there is no row
 */
export function inOrder(rows, ids) {
  /** @type {Map<number, string>} */
  const byId = new Map();
  for (const { id, str } of rows) byId.set(id, str);
  return ids.map((id) => byId.get(id));
}
