/**
 * A queue, first in first out: constant time at any depth, where `Array.shift` moves all elements.
 */

/** Dropped elements are cut off when they are more than this, and more than half of the array. */
const HEAD_MAX = 1024;

/** @template T */
export class Queue {
  /** @type {(T | undefined)[]} */
  #items = [];
  #head = 0;

  /** @returns {number} how many wait */
  get size() {
    return this.#items.length - this.#head;
  }

  /** @param {T} item */
  push(item) {
    this.#items.push(item);
  }

  /** @returns {T | undefined} the oldest, which stays */
  peek() {
    return this.#items[this.#head];
  }

  /** @returns {T | undefined} the oldest, removed; undefined where the queue is empty */
  take() {
    if (this.size === 0) return undefined;
    const item = this.#items[this.#head];
    this.#items[this.#head] = undefined;
    this.#head += 1;
    if (this.#head > HEAD_MAX && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  /** @returns {T[]} all, oldest first; the queue is empty afterwards */
  takeAll() {
    const all = /** @type {T[]} */ (this.#items.slice(this.#head));
    this.#items = [];
    this.#head = 0;
    return all;
  }
}
