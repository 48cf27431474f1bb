/**
 * Replies of a closed loop waiting for verification; load.js explains why. The fields are in one
 * typed array, so that storing a reply touches two cache lines.
 */

/** Replies verified together, during which the worker pauses for some microseconds. */
const REPLIES_MAX = 64;
/** Bytes kept alive by a batch: less than a socket's own buffers. */
const BYTES_MAX = 256 * 1024;

/** Offsets in `times` of the fields of one reply. */
export const INDEX = 0;
export const START = 1;
export const END = 2;
/** Operations issued when the reply arrived; the number in flight follows from it. */
export const NEXT = 3;
export const FIELDS = 4;

export class ReplyBatch {
  /** @param {number} [replyBytes] size of a reply; without it no reply is deferred */
  constructor(replyBytes = Number.POSITIVE_INFINITY) {
    /** With 1 every reply is settled on arrival. */
    this.limit = Math.max(1, Math.min(REPLIES_MAX, Math.floor(BYTES_MAX / replyBytes)));
    this.count = 0;
    this.times = new Float64Array(FIELDS * this.limit);
    /** @type {any[]} */
    this.replies = new Array(this.limit).fill(undefined);
  }

  /**
   * @param {number} index
   * @param {number} startNs
   * @param {number} endNs
   * @param {number} next
   * @param {any} reply
   */
  add(index, startNs, endNs, next, reply) {
    const { times } = this;
    const at = this.count * FIELDS;
    times[at + INDEX] = index;
    times[at + START] = startNs;
    times[at + END] = endNs;
    times[at + NEXT] = next;
    this.replies[this.count] = reply;
    this.count += 1;
  }
}
