/**
 * Selects the replies, or batches of replies, that are compared in full: a share at random
 * distances, and all after the first mismatch. At fixed distances, damage that recurs at a multiple
 * of them would be met by chance once, or never. One instance per process, so that its segments do
 * not all select the same replies.
 */

export class FullComparisons {
  /** Replies or batches until the next one in full; the first of a process is. */
  left = 0;
  /** Set by the first mismatch: compare all, whatever next() returns. */
  all = false;

  /** @param {number} seed */
  constructor(seed) {
    this.word = seed | 1;
  }

  /**
   * @param {number} every mean distance: one in this many is compared in full
   * @returns {boolean} whether to compare the next reply or batch in full
   */
  next(every) {
    if (this.left > 0) {
      this.left -= 1;
      return false;
    }
    // Marsaglia 2003, "Xorshift RNGs": 13, 17, 5. Distances from 1 to 2 · every - 1.
    let { word } = this;
    word ^= word << 13;
    word ^= word >>> 17;
    word ^= word << 5;
    this.word = word;
    this.left = Math.floor(((word >>> 0) / 2 ** 32) * (2 * every - 1));
    return true;
  }
}
