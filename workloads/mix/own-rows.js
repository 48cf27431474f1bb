/**
 * The rows that a process inserts and deletes: ids that no other process of the run uses, so their
 * existence is always known. An operation reserves a row when it is issued and releases it when its
 * reply is verified, so a row has at most one operation in flight. A row whose operation failed is
 * not released, because its state is unknown.
 */

import { usageError } from '../../lib/errors.js';

/** Ids per process, above those of the dataset, which is smaller in this workload. */
const IDS = 2 ** 19;
export const FIRST_ID = 2 ** 29;
/** Concurrent contenders, doubled for A/A copies. */
const CONTENDERS = 64;
/** Processes of a contender. */
const SHARES = 24;
/** A round removes its rows; only rows of a killed round must be avoided. */
const ROUNDS = 2;
/** Maximum size of a process's rows, in characters. */
const CHARS_MAX = 32 * 2 ** 20;

/**
 * @param {{ round?: number, place?: number, share?: number }} where place: index among the
 *   concurrent contenders; share: index of the process in the contender
 * @returns {number} the first of its ids, below 2 ** 31
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE for too many processes
 */
export function firstIdOf({ round = 0, place = 0, share = 0 }) {
  if (share >= SHARES) {
    throw usageError(
      `inserts and deletions take at most ${SHARES} processes`,
      `write for example --processes ${SHARES}`,
    );
  }
  const ofRound = (round % ROUNDS) * SHARES + share;
  return FIRST_ID + (ofRound * CONTENDERS + (place % CONTENDERS)) * IDS;
}

/**
 * @param {number} valueSize on average
 * @returns {number} maximum number of rows of a process
 */
export function rowsMax(valueSize) {
  return Math.max(1, Math.min(IDS >> 1, Math.floor(CHARS_MAX / valueSize)));
}

/** First-in first-out queue of at most `size` numbers. */
class Ring {
  /** @param {number} size */
  constructor(size) {
    this.items = new Int32Array(size);
    this.head = 0;
    this.length = 0;
  }

  /** @param {number} item */
  push(item) {
    this.items[(this.head + this.length) % this.items.length] = item;
    this.length += 1;
  }

  /** @returns {number} the first one; the queue must not be empty */
  peek() {
    return this.items[this.head];
  }

  /** @returns {number} the first one; the queue must not be empty */
  shift() {
    const item = this.items[this.head];
    this.head = (this.head + 1) % this.items.length;
    this.length -= 1;
    return item;
  }

  /** @param {number} size @returns {number[]} the last ones, at most `size` */
  last(size) {
    const count = Math.min(size, this.length);
    const from = this.head + this.length - count;
    return Array.from({ length: count }, (_, i) => this.items[(from + i) % this.items.length]);
  }
}

export class OwnRows {
  /** @param {number} size */
  constructor(size) {
    this.size = size;
    /** First row that was never inserted. */
    this.fresh = 0;
    this.absent = new Ring(size);
    this.present = new Ring(size);
    /** Send times and states of rows that expire. */
    this.sentNs = new Float64Array(size);
    this.storedNs = new Float64Array(size);
  }

  /** @returns {number} an absent row; -1: all rows exist or are in flight */
  takeAbsent() {
    if (this.fresh < this.size) {
      this.fresh += 1;
      return this.fresh - 1;
    }
    return this.absent.length > 0 ? this.absent.shift() : -1;
  }

  /** @returns {number} the oldest row; -1: no row exists */
  takePresent() {
    return this.present.length > 0 ? this.present.shift() : -1;
  }

  /** @param {number} row row of an acknowledged insert */
  inserted(row) {
    this.present.push(row);
  }

  /** @param {number} row row of an acknowledged deletion */
  deleted(row) {
    this.absent.push(row);
  }

  /**
   * Marks rows that have certainly expired as absent.
   * @param {number} beforeNs rows stored before this time have expired
   */
  expire(beforeNs) {
    const { present } = this;
    while (present.length > 0 && this.storedNs[present.peek()] < beforeNs) {
      this.absent.push(present.shift());
    }
  }
}
