/**
 * Whether a reply is the row of its key. Every reply is compared in its length and its tag, and
 * those that the loop picks (one of WHOLE_EVERY, load/load.js) in full: a byte that is wrong in
 * every reply is found within so many.
 */

import { TAG_LENGTH } from '../../lib/dataset.js';
import { MISMATCH, MISS, OK } from '../../lib/outcome.js';

/** @typedef {import('../../lib/types.js').Dataset} Dataset */
/** @typedef {import('../../lib/types.js').Compared} Compared */
/** @typedef {(id: number, text: unknown, whole: boolean) => number} VerifyValue OK, MISS or
 *   MISMATCH */

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
  return (id, text, whole) => {
    if (text === undefined) return MISS;
    if (typeof text !== 'string') return MISMATCH;
    compared.replies += 1;
    if (whole) {
      compared.bytes += dataset.sizeOf(id);
      return dataset.matches(id, text) ? OK : MISMATCH;
    }
    compared.bytes += TAG_LENGTH;
    return dataset.belongs(id, text) ? OK : MISMATCH;
  };
}
