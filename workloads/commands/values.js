/** Values of the keys and elements of the commands: a function of their number and size. */

import { mix32 } from '../../lib/random.js';

const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';

/**
 * @param {number} n
 * @param {number} size
 * @returns {string} the value of key or element `n`: unlikely to equal another one
 */
export function valueText(n, size) {
  let text = '';
  for (let i = 0; i < size; i += 1) text += LETTERS[mix32(n, 0x76 + i) % LETTERS.length];
  return text;
}

/** Elements by size, cached for segments in blocks. @type {string[][]} */
const elements = [];

/**
 * @param {number} count
 * @param {number} size
 */
export function elementsOf(count, size) {
  const made = elements[size] ?? [];
  for (let n = made.length; n < count; n += 1) made.push(valueText(n, size));
  elements[size] = made;
  return made.slice(0, count);
}
