/**
 * The requests that wait for a reply, first in first out, in a ring whose size is a power of two:
 * constant time at any depth, where array.shift() costs microseconds beyond 16,384 elements. Two
 * arrays in step instead of one of objects, so that a request in flight allocates nothing here.
 */

const CAPACITY_MIN = 1024;
/** A ring that once was larger than this is given back when it runs empty. */
const CAPACITY_KEPT = 65536;

/** @template Plan, Sink */
export class Ring {
  constructor() {
    /** @type {(Plan | undefined)[]} */
    this.plans = new Array(CAPACITY_MIN).fill(undefined);
    /** @type {(Sink | undefined)[]} */
    this.sinks = new Array(CAPACITY_MIN).fill(undefined);
    this.mask = CAPACITY_MIN - 1;
    this.head = 0;
    this.size = 0;
  }

  /**
   * @param {Plan} plan how the reply is read
   * @param {Sink} sink where it goes
   */
  push(plan, sink) {
    if (this.size > this.mask) this.grow();
    const at = (this.head + this.size) & this.mask;
    this.plans[at] = plan;
    this.sinks[at] = sink;
    this.size += 1;
  }

  /** Drops the oldest entry; read plan and sink at `head` before. */
  drop() {
    this.plans[this.head] = undefined;
    this.sinks[this.head] = undefined;
    this.head = (this.head + 1) & this.mask;
    this.size -= 1;
    if (this.size === 0 && this.mask >= CAPACITY_KEPT) this.shrink();
  }

  /**
   * @param {number} offset 0 for the oldest
   * @returns {{ plan: Plan, sink: Sink }}
   */
  at(offset) {
    const at = (this.head + offset) & this.mask;
    return {
      plan: /** @type {Plan} */ (this.plans[at]),
      sink: /** @type {Sink} */ (this.sinks[at]),
    };
  }

  /** @returns {{ plan: Plan, sink: Sink }[]} all entries, oldest first; the ring is empty after */
  takeAll() {
    const all = [];
    while (this.size > 0) {
      all.push(this.at(0));
      this.drop();
    }
    return all;
  }

  grow() {
    const capacity = (this.mask + 1) * 2;
    this.plans = unrolled(this.plans, this.head, capacity);
    this.sinks = unrolled(this.sinks, this.head, capacity);
    this.mask = capacity - 1;
    this.head = 0;
  }

  shrink() {
    this.plans = new Array(CAPACITY_MIN).fill(undefined);
    this.sinks = new Array(CAPACITY_MIN).fill(undefined);
    this.mask = CAPACITY_MIN - 1;
    this.head = 0;
  }
}

/**
 * @template T
 * @param {T[]} from a full ring
 * @param {number} head
 * @param {number} capacity
 * @returns {T[]} the same entries from place 0
 */
function unrolled(from, head, capacity) {
  const to = from.slice(head);
  for (let i = 0; i < head; i += 1) to.push(from[i]);
  // Grown by pushes: a new Array of a large length would be a slow dictionary.
  while (to.length < capacity) to.push(/** @type {any} */ (undefined));
  return to;
}
