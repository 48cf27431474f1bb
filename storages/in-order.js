/** Orders rows by a list of keys, because SQL returns the existing ones in any order. Pure. */

/**
 * @param {readonly { id: number, str: string }[]} rows
 * @param {readonly number[]} ids
 * @returns {(string | undefined)[]} undefined for missing rows
 */
export function inOrder(rows, ids) {
  /** @type {Map<number, string>} */
  const byId = new Map();
  for (const { id, str } of rows) byId.set(id, str);
  return ids.map((id) => byId.get(id));
}
