/**
 * The callbacks of requests in flight on one connection, first-in first-out. For drivers that
 * report replies without their requests.
 */

import { Queue } from '../packages/mutex/queue.js';

/** @typedef {(error: any, reply?: any) => void} Done */

/** @extends {Queue<Done>} */
export class PendingQueue extends Queue {
  /** @type {Error | null} once set, every request fails with it */
  lost = null;

  /**
   * Fails all outstanding requests, and later ones by `lost`, so that requests issued by a callback
   * are not mixed with old ones.
   * @param {Error} error with a code
   */
  fail(error) {
    this.lost ??= error;
    for (const done of this.takeAll()) done(error);
  }
}
