/**
 * A first-in first-out queue: constant time at any depth, whereas `Array.shift` moves all elements.
 */

/** Removed elements are freed if they are more than this and more than half of the array. */
const HEAD_MAX = 1024;

/** @template T */
export class Queue {
  /** @type {(T | undefined)[]} */
  #items = [];
  #head = 0;

  /** @returns {number} number of elements */
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

  /** @returns {T | undefined} the oldest, removed; undefined if the queue is empty */
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
