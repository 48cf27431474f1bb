/**
 * Requests written to the socket at once: their bytes and number. A batch is kept until its last
 * reply, so that finds can be sent again after a lost connection; then its memory is reused.
 */

/** A batch is closed at this size, large enough to amortise the cost of a write. */
export const BATCH_BYTES = 65536;
const SPARE_BATCHES = 16;
const LINE_FEED = 10;

export class Batch {
  /** @param {number} size */
  constructor(size) {
    this.bytes = Buffer.allocUnsafeSlow(size);
    this.length = 0;
    /** requests in it */
    this.count = 0;
    /** replies received, while it is the oldest one in flight */
    this.answered = 0;
    /** estimated bytes of the replies */
    this.weight = 0;
    /** tick of the connection's timer when it was sent, or queued */
    this.tick = 0;
    /** number of previous attempts */
    this.attempts = 0;
  }

  /** @returns {Generator<[number, number]>} start and end of each outstanding request */
  *lines() {
    let start = 0;
    for (let i = 0; i < this.count; i += 1) {
      // Raw line feeds never occur inside a request: they would be escaped.
      const end = this.bytes.indexOf(LINE_FEED, start) + 1;
      if (i >= this.answered) yield [start, end];
      start = end;
    }
  }
}

/** Batches of the usual size, for reuse. */
export class BatchPool {
  constructor() {
    /** @type {Batch[]} */
    this.spare = [];
  }

  /**
   * @param {number} [bytesMin]
   * @returns {Batch} an empty batch with at least this capacity
   */
  take(bytesMin = 0) {
    const spare = bytesMin <= BATCH_BYTES ? this.spare.pop() : undefined;
    return spare ?? new Batch(Math.max(BATCH_BYTES, bytesMin));
  }

  /** @param {Batch} batch */
  give(batch) {
    if (batch.bytes.length !== BATCH_BYTES || this.spare.length >= SPARE_BATCHES) return;
    batch.length = 0;
    batch.count = 0;
    batch.answered = 0;
    batch.weight = 0;
    batch.attempts = 0;
    this.spare.push(batch);
  }
}
