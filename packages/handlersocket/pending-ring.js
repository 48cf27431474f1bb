/**
 * Outstanding requests, first in first out, in a ring buffer whose size is a power of two: constant
 * time at any depth, where array.shift() costs microseconds beyond 16,384 elements. Two parallel
 * arrays instead of one of objects, so that an outstanding request allocates no memory here.
 */

const CAPACITY_MIN = 1024;
/** The memory of a queue that was larger than this is released when it is empty. */
const CAPACITY_KEPT = 65536;

/** @template Type, Callback */
export class PendingRing {
  constructor() {
    /** @type {(Type | undefined)[]} */
    this.types = new Array(CAPACITY_MIN).fill(undefined);
    /** @type {(Callback | undefined)[]} */
    this.callbacks = new Array(CAPACITY_MIN).fill(undefined);
    this.mask = CAPACITY_MIN - 1;
    this.head = 0;
    this.size = 0;
  }

  /**
   * @param {Type} type decoder of the reply
   * @param {Callback} callback callback of the reply
   */
  push(type, callback) {
    if (this.size > this.mask) this.grow();
    const at = (this.head + this.size) & this.mask;
    this.types[at] = type;
    this.callbacks[at] = callback;
    this.size += 1;
  }

  /** Drops the oldest entry; read type and callback at `head` before. */
  drop() {
    this.types[this.head] = undefined;
    this.callbacks[this.head] = undefined;
    this.head = (this.head + 1) & this.mask;
    this.size -= 1;
    if (this.size === 0 && this.mask >= CAPACITY_KEPT) this.shrink();
  }

  /**
   * @param {number} offset 0: the oldest
   * @returns {{ type: Type, callback: Callback }}
   */
  at(offset) {
    const at = (this.head + offset) & this.mask;
    return {
      type: /** @type {Type} */ (this.types[at]),
      callback: /** @type {Callback} */ (this.callbacks[at]),
    };
  }

  /**
   * @returns {{ type: Type, callback: Callback }[]} all, oldest first; the queue is empty
   *   afterwards
   */
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
    this.types = unrolled(this.types, this.head, capacity);
    this.callbacks = unrolled(this.callbacks, this.head, capacity);
    this.mask = capacity - 1;
    this.head = 0;
  }

  shrink() {
    this.types = new Array(CAPACITY_MIN).fill(undefined);
    this.callbacks = new Array(CAPACITY_MIN).fill(undefined);
    this.mask = CAPACITY_MIN - 1;
    this.head = 0;
  }
}

/**
 * @template T
 * @param {T[]} from a full queue
 * @param {number} head
 * @param {number} capacity
 * @returns {T[]} the same entries from index 0
 */
function unrolled(from, head, capacity) {
  const to = from.slice(head);
  for (let i = 0; i < head; i += 1) to.push(from[i]);
  // Grown by pushes, because `new Array` of a large length is a slow dictionary.
  while (to.length < capacity) to.push(/** @type {any} */ (undefined));
  return to;
}
