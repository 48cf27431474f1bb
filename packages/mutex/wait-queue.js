/**
 * Waiters of this process by name: a queue per name, in the order of arrival. A waiter sends a
 * command only if it is new and first in its queues, if the name that blocked it was released, or
 * if that lock has expired. There is no polling.
 */

/** @typedef {import('./script-handler.js').Claim} Claim */
/** @typedef {import('./script-handler.js').Attempt} Attempt */

/** Timers fire up to a millisecond early, and the server's clock has whole milliseconds. */
const MARGIN_MS = 2;
const TIMER_MS_MAX = 2 ** 31 - 1;

/** An unfinished call of lock. */
export class Waiter {
  /**
   * @param {Claim} claim
   * @param {(error: Error | null, sentNs: number) => void} settle called once
   */
  constructor(claim, settle) {
    this.claim = claim;
    this.settle = settle;
    /** It has a command in flight. */
    this.attempting = false;
    /** Names were released meanwhile, so the reply may be outdated. */
    this.again = false;
    /** @type {Error | null} error, unless the attempt in flight succeeds */
    this.last = null;
    /** @type {string | null} the name known to be held; null: ready to try */
    this.blockedBy = null;
    this.done = false;
    /** @type {NodeJS.Timeout | undefined} timer for the expiry of the blocking lock */
    this.timer = undefined;
  }
}

export class WaitQueue {
  /** @type {Map<string, Set<Waiter>>} sets keep insertion order */
  #queues = new Map();

  /**
   * @param {object} hooks
   * @param {(claim: Claim) => Promise<Attempt>} hooks.attempt
   * @param {(name: string) => number | null} hooks.heldMs remaining time of a lock held by this
   *   process
   * @param {(claim: Claim) => void} hooks.disown releases a lock obtained for a waiter that has
   *   given up
   * @param {(claim: Claim, name: string) => Error} hooks.deadlock
   * @param {() => number} hooks.now ns
   */
  constructor(hooks) {
    this.hooks = hooks;
  }

  /** @returns {number} number of waiting calls */
  get size() {
    return this.all().size;
  }

  /** @returns {Set<Waiter>} */
  all() {
    return new Set([...this.#queues.values()].flatMap((queue) => [...queue]));
  }

  /**
   * @param {Claim} claim
   * @returns {string | null} a name for which the same owner already waits
   */
  conflict({ names, owner }) {
    for (const name of names) {
      for (const { claim } of this.#queues.get(name) ?? []) {
        if (claim.owner === owner) return name;
      }
    }
    return null;
  }

  /** @param {Waiter} waiter */
  add(waiter) {
    for (const name of waiter.claim.names) {
      const queue = this.#queues.get(name);
      if (queue === undefined) this.#queues.set(name, new Set([waiter]));
      else queue.add(waiter);
    }
    if (this.#mayTry(waiter)) this.#try(waiter);
  }

  /**
   * Stops waiting; a lock obtained by a command in flight is released.
   * @param {Waiter} waiter
   * @param {Error} error
   */
  abandon(waiter, error) {
    this.#leave(waiter, error, 0);
  }

  /**
   * Like `abandon`, but a command in flight is the last attempt, and counts.
   * @param {Waiter} waiter
   * @param {Error} error
   */
  abort(waiter, error) {
    if (waiter.attempting) waiter.last = error;
    else this.abandon(waiter, error);
  }

  /** @param {Waiter} waiter */
  #remove(waiter) {
    waiter.done = true;
    clearTimeout(waiter.timer);
    for (const name of waiter.claim.names) {
      const queue = this.#queues.get(name);
      queue?.delete(waiter);
      if (queue?.size === 0) this.#queues.delete(name);
    }
  }

  /**
   * The names are probably free now, so the first waiter of each tries.
   * @param {readonly string[]} names
   * @returns {number} number of sent commands
   */
  pump(names) {
    let sent = 0;
    for (const name of names) {
      for (const waiter of this.#queues.get(name) ?? []) {
        if (waiter.attempting) {
          waiter.again = true;
          break;
        }
        if (waiter.blockedBy !== null && names.includes(waiter.blockedBy)) waiter.blockedBy = null;
        if (waiter.blockedBy === null && this.#mayTry(waiter)) {
          this.#try(waiter);
          sent += 1;
        }
        // A waiter queued after another one for this name must wait.
        if (waiter.attempting || waiter.blockedBy === null || waiter.blockedBy === name) break;
      }
    }
    return sent;
  }

  /** Messages may have been lost, so the first waiter of each queue tries. */
  pumpAll() {
    this.pump([...this.#queues.keys()]);
  }

  /**
   * Not while this process holds one of its names, and not before an earlier waiter that may lock
   * one of them; it may overtake a waiter blocked by a different name.
   * @param {Waiter} waiter
   */
  #mayTry(waiter) {
    const { names } = waiter.claim;
    for (const name of names) {
      const leftMs = this.hooks.heldMs(name);
      if (leftMs !== null) {
        this.#block(waiter, name, leftMs);
        return false;
      }
    }
    for (const name of names) {
      for (const earlier of this.#queues.get(name) ?? []) {
        if (earlier === waiter) break;
        if (earlier.attempting || earlier.blockedBy === null) return false;
        if (names.includes(earlier.blockedBy)) return false;
      }
    }
    return true;
  }

  /** @param {Waiter} waiter */
  async #try(waiter) {
    const { claim } = waiter;
    clearTimeout(waiter.timer);
    waiter.attempting = true;
    waiter.again = false;
    const sentNs = this.hooks.now();
    /** @type {Attempt} */
    let outcome;
    try {
      outcome = await this.hooks.attempt(claim);
    } catch (error) {
      waiter.attempting = false;
      this.#leave(waiter, error, sentNs);
      return;
    }
    waiter.attempting = false;
    if (outcome.state === 'acquired') {
      if (waiter.done) this.hooks.disown(claim);
      else this.#leave(waiter, null, sentNs);
      return;
    }
    if (waiter.done) return;
    if (outcome.state === 'deadlock') {
      this.#leave(waiter, this.hooks.deadlock(claim, outcome.name), sentNs);
    } else if (waiter.last !== null) {
      this.#leave(waiter, waiter.last, sentNs);
    } else if (waiter.again) {
      this.#try(waiter);
    } else {
      this.#block(waiter, outcome.name, outcome.waitMs);
      this.pump(claim.names.filter((name) => name !== waiter.blockedBy));
    }
  }

  /**
   * @param {Waiter} waiter
   * @param {Error | null} error
   * @param {number} sentNs
   */
  #leave(waiter, error, sentNs) {
    if (waiter.done) return;
    this.#remove(waiter);
    waiter.settle(error, sentNs);
    if (error !== null) this.pump(waiter.claim.names);
  }

  /**
   * @param {Waiter} waiter
   * @param {string} name
   * @param {number} leftMs time to the expiry of its lock
   */
  #block(waiter, name, leftMs) {
    waiter.blockedBy = name;
    clearTimeout(waiter.timer);
    if (leftMs === Number.POSITIVE_INFINITY) return;
    const delayMs = Math.min(TIMER_MS_MAX, Math.max(0, Math.ceil(leftMs)) + MARGIN_MS);
    waiter.timer = setTimeout(() => {
      waiter.blockedBy = null;
      this.pump(waiter.claim.names);
    }, delayMs);
  }
}
