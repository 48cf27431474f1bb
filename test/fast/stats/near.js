/** Comparison of numbers with a stated tolerance. */

import assert from 'node:assert/strict';

/**
 * @param {number | null} actual
 * @param {number} expected
 * @param {number} tolerance relative to expected; absolute if expected is 0
 * @param {string} [what]
 */
export function assertNear(actual, expected, tolerance, what = '') {
  assert.notEqual(actual, null, `${what} is null`);
  const scale = expected === 0 ? 1 : Math.abs(expected);
  const error = Math.abs(/** @type {number} */ (actual) - expected) / scale;
  assert.ok(error <= tolerance, `${what} ${actual} is not ${expected}: off by ${error}`);
}
