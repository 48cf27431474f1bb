/**
 * Verifies that a reply is the row of its key. Every reply is compared by length and tag, and those
 * chosen by the loop (load/full-comparisons.js) in full.
 */

import { TAG_LENGTH } from '../../lib/dataset.js';
import { MISMATCH, MISS, OK } from '../../lib/outcome.js';

/** @typedef {import('../../lib/types.js').Dataset} Dataset */
/** @typedef {import('../../lib/types.js').Compared & { length: number, whole: number }} Compared */
/** @typedef {(id: number, text: unknown, isFull: boolean) => number} VerifyValue OK, MISS or
 *   MISMATCH */

/** @returns {Compared} nothing yet */
export function nothingCompared() {
  return { replies: 0, bytes: 0, length: 0, whole: 0 };
}

/**
 * @param {Dataset} dataset
 * @param {Compared} compared counted up
 * @returns {VerifyValue}
 */
export function createVerifier(dataset, compared) {
  return (id, text, isFull) => {
    if (text === undefined) return MISS;
    if (typeof text !== 'string') return MISMATCH;
    compared.replies += 1;
    compared.length += text.length;
    let isRight = false;
    // The smallest values consist of the tag only.
    if (isFull || text.length <= TAG_LENGTH) {
      compared.bytes += dataset.sizeOf(id);
      compared.whole += 1;
      isRight = dataset.matches(id, text);
    } else {
      compared.bytes += TAG_LENGTH;
      isRight = dataset.belongs(id, text);
    }
    return isRight ? OK : MISMATCH;
  };
}
