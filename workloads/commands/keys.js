/** Keys and members of the commands, all in their namespace. */

import { PREFIX } from './namespace.js';

/** Keys in one DEL or EXISTS. */
const KEYS_PER_COMMAND = 500;

/** @typedef {(words: readonly string[]) => Promise<any>} Send */

/** @param {number} n @returns {string} twelve digits, like redis-benchmark */
function digits(n) {
  return String(n).padStart(12, '0');
}

export const memberOf = (/** @type {number} */ n) => `element:${digits(n)}`;

/**
 * @param {number} [slot] index of a variant among concurrent ones in one process, which have
 *   separate keys; absent: it is alone
 */
export function keysAt(slot) {
  const prefix = slot === undefined ? PREFIX : `${PREFIX}s${String(slot).padStart(6, '0')}:`;
  return {
    keyOf: (/** @type {number} */ n) => `${prefix}key:${digits(n)}`,
    counterOf: (/** @type {number} */ n) => `${prefix}counter:${digits(n)}`,
    list: `${prefix}list`,
    range: `${prefix}range`,
    set: `${prefix}set`,
  };
}

/**
 * @param {Send} send
 * @param {string} command DEL or EXISTS
 * @param {readonly string[]} names
 * @returns {Promise<number>} the sum of the replies
 */
export async function overNames(send, command, names) {
  let sum = 0;
  for (let from = 0; from < names.length; from += KEYS_PER_COMMAND) {
    sum += Number(await send([command, ...names.slice(from, from + KEYS_PER_COMMAND)]));
  }
  return sum;
}
