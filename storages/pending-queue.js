/**
 * The callbacks of requests in flight on one connection, first in first out. For drivers that only
 * say that a reply came, and not to which request.
 */

import { Queue } from '../packages/mutex/queue.js';

/** @typedef {(error: any, reply?: any) => void} Done */

/** @extends {Queue<Done>} */
export class PendingQueue extends Queue {
  /** @type {Error | null} once set, every request fails with it */
  lost = null;

  /**
   * Fails all outstanding requests, and by `lost` later ones: a request made by a callback must
   * not be taken for one of the old ones.
   * @param {Error} error with a code
   */
  fail(error) {
    this.lost ??= error;
    for (const done of this.takeAll()) done(error);
  }
}
