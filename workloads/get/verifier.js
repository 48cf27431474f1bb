/**
 * Whether a reply is the row of its key. Each is compared in its length, its tag and one window of
 * its value; the window moves on with every reply, so that any 32 in a row are compared in every
 * position. Only the check before a benchmark compares whole values.
 */

import { TAG_LENGTH } from '../../lib/dataset.js';
import { MISMATCH, MISS, OK } from '../../lib/outcome.js';
import { WINDOWS } from '../../lib/value-windows.js';

/** @typedef {import('../../lib/types.js').Dataset} Dataset */
/** @typedef {import('../../lib/types.js').Compared} Compared */
/** @typedef {(id: number, text: unknown, whole: boolean, keep?: boolean) => number} VerifyValue OK,
 *   MISS or MISMATCH; keep: the window does not move on, since more values of this reply follow */

/** @returns {Compared} nothing yet */
export function nothingCompared() {
  return { replies: 0, bytes: 0 };
}

/**
 * @param {Dataset} dataset
 * @param {Compared} compared counted up
 * @returns {VerifyValue}
 */
export function createVerifier(dataset, compared) {
  const { valueSize } = dataset;
  const letters = Array.from({ length: WINDOWS }, (_, turn) => dataset.comparedLetters(turn));
  let turn = 0;
  return (id, text, whole, keep = false) => {
    if (text === undefined) return MISS;
    if (typeof text !== 'string') return MISMATCH;
    compared.replies += 1;
    if (whole) {
      compared.bytes += valueSize;
      return dataset.value(id) === text ? OK : MISMATCH;
    }
    const at = turn;
    if (!keep) turn = (turn + 1) & (WINDOWS - 1);
    if (!dataset.matches(id, text, at)) {
      compared.bytes += TAG_LENGTH;
      return MISMATCH;
    }
    compared.bytes += letters[at];
    return OK;
  };
}
