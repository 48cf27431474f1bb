/**
 * Values of a replay: of any size, each belonging to its key. A value is a tag of its key and a
 * piece of one long text at an offset of the key, so that it is neither generated nor stored.
 */

import { createDataset, TAG_LENGTH } from '../../lib/dataset.js';
import { MISMATCH, MISS, OK } from '../../lib/outcome.js';
import { mix32 } from '../../lib/random.js';

/** Number of possible offsets of a piece. */
const PLACES = 65_536;
const TEXT_ID = 1;

export class ReplayValues {
  /**
   * @param {number} seed
   * @param {number} sizeMax maximum over all values
   */
  constructor(seed, sizeMax) {
    const valueSize = PLACES + sizeMax;
    this.text = createDataset({ rows: 1, valueSize, seed }).value(TEXT_ID);
    this.tags = createDataset({ valueSize: TAG_LENGTH, seed });
    this.seed = seed;
  }

  /**
   * @param {number} key
   * @param {number} size
   * @returns {string}
   */
  make(key, size) {
    const tag = this.tags.value(key);
    if (size <= TAG_LENGTH) return tag.slice(0, size);
    return tag + this.piece(key, size - TAG_LENGTH);
  }

  /**
   * @param {number} key
   * @param {number} length
   */
  piece(key, length) {
    const at = mix32(key, this.seed) % PLACES;
    return this.text.slice(at, at + length);
  }

  /**
   * @param {number} key
   * @param {ReadonlySet<number>} sizes possible sizes of the key; -1: it may be missing
   * @param {string | null | undefined} text
   * @param {boolean} whole
   * @param {import('../get/verifier.js').Compared} compared counted up
   * @returns {number} OK, MISS or MISMATCH
   */
  verify(key, sizes, text, whole, compared) {
    if (text === undefined || text === null) return sizes.has(-1) ? OK : MISS;
    if (typeof text !== 'string' || !sizes.has(text.length)) return MISMATCH;
    compared.replies += 1;
    compared.length += text.length;
    const inFull = whole || text.length < TAG_LENGTH;
    compared.bytes += inFull ? text.length : TAG_LENGTH;
    compared.whole += inFull ? 1 : 0;
    if (inFull) return text === this.make(key, text.length) ? OK : MISMATCH;
    return this.tags.belongs(key, text.slice(0, TAG_LENGTH)) ? OK : MISMATCH;
  }
}
