/** The keys and members that the commands use, all of them in their namespace. */

import { PREFIX } from './namespace.js';

/** Keys in one DEL or EXISTS. */
const KEYS_PER_COMMAND = 500;

/** @typedef {(words: readonly string[]) => Promise<any>} Send */

/** @param {number} n @returns {string} in twelve digits, as redis-benchmark writes it */
function digits(n) {
  return String(n).padStart(12, '0');
}

export const keyOf = (/** @type {number} */ n) => `${PREFIX}key:${digits(n)}`;
export const counterOf = (/** @type {number} */ n) => `${PREFIX}counter:${digits(n)}`;
export const memberOf = (/** @type {number} */ n) => `element:${digits(n)}`;
export const LIST = `${PREFIX}list`;
export const RANGE = `${PREFIX}range`;
export const SET = `${PREFIX}set`;

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
