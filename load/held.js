/**
 * Replies of a closed loop that are there and wait to be verified and recorded: load.js says why.
 * Plain fields in one array, so that keeping one touches two lines of the processor's cache.
 */

/** So many are judged together; a lane then stands still for some microseconds. */
const REPLIES_MAX = 64;
/** What they may keep alive: less than a socket's own buffers. */
const BYTES_MAX = 256 * 1024;

/** Places in `times` of what is known of one reply. */
export const INDEX = 0;
export const START = 1;
export const END = 2;
/** How many operations had been issued when it came: what was in flight until then follows. */
export const NEXT = 3;
export const FIELDS = 4;

export class HeldReplies {
  /** @param {number} [replyBytes] of a reply; absent: none is to be held */
  constructor(replyBytes = Number.POSITIVE_INFINITY) {
    /** At 1 each is settled as it comes. */
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
