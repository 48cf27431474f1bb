/** Outcomes of an operation: a closed set. Only ok counts as an operation. */

/** @type {readonly import('./types.js').Outcome[]} */
export const OUTCOMES = Object.freeze([
  'ok',
  'miss',
  'mismatch',
  'error',
  'timeout',
  'dropped',
  'unsent',
]);

export const OK = 0;
export const MISS = 1;
export const MISMATCH = 2;
export const ERROR = 3;
export const TIMEOUT = 4;
export const DROPPED = 5;
export const UNSENT = 6;

/**
 * @param {{ outcomes: Record<string, number> }} round
 * @returns {string} counts of outcomes other than ok; empty: none
 */
export function wrongOutcomes({ outcomes }) {
  return Object.entries(outcomes)
    .filter(([name, n]) => name !== 'ok' && n > 0)
    .map(([name, n]) => `${n} ${name}`)
    .join(', ');
}
