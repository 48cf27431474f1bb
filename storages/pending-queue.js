/**
 * The callbacks of requests in flight on one connection, first in first out: constant time at any
 * depth. For drivers that only say that a reply came, and not to which request.
 */

/** @typedef {(error: any, reply?: any) => void} Done */

const CAPACITY_MIN = 1024; // a power of two, so that indexes wrap by a mask

export class PendingQueue {
  constructor() {
    /** @type {(Done | undefined)[]} */
    this.callbacks = new Array(CAPACITY_MIN).fill(undefined);
    this.mask = CAPACITY_MIN - 1;
    this.head = 0;
    this.size = 0;
    /** @type {Error | null} once set, every request fails with it */
    this.lost = null;
  }

  /** @param {Done} done */
  push(done) {
    if (this.size > this.mask) this.grow();
    this.callbacks[(this.head + this.size) & this.mask] = done;
    this.size += 1;
  }

  /** @returns {Done | undefined} the oldest, removed; undefined if empty */
  take() {
    if (this.size === 0) return undefined;
    const done = this.callbacks[this.head];
    this.callbacks[this.head] = undefined;
    this.head = (this.head + 1) & this.mask;
    this.size -= 1;
    return done;
  }

  /**
   * Fails all outstanding requests, and by `lost` later ones: a request made by a callback must
   * not be taken for one of the old ones.
   * @param {Error} error with a code
   */
  fail(error) {
    this.lost ??= error;
    for (let left = this.size; left > 0; left -= 1) this.take()?.(error);
  }

  grow() {
    const { callbacks, head } = this;
    const longer = callbacks.slice(head);
    for (let i = 0; i < head; i += 1) longer.push(callbacks[i]);
    const capacity = callbacks.length * 2;
    // Grown by pushes: a new Array of a large length would be a slow dictionary.
    while (longer.length < capacity) longer.push(undefined);
    this.callbacks = longer;
    this.mask = capacity - 1;
    this.head = 0;
  }
}
