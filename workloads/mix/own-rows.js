/**
 * The rows that a process inserts and deletes: ids that no other process of the run uses, so that
 * it is known at every moment which of them are there. An operation takes a row when it is issued
 * and gives it back when its reply is verified: no two are ever in flight for one row. A row whose
 * operation has failed is given back to nobody, for nobody knows whether it is there.
 */

import { usageError } from '../../lib/errors.js';

/** Ids of a process; they are above those of the dataset, which has fewer in this workload. */
const IDS = 2 ** 19;
export const FIRST_ID = 2 ** 29;
/** Contenders side by side, twice: each may have an A/A copy. */
const CONTENDERS = 64;
/** Processes of a contender that share its load. */
const SHARES = 24;
/** A round removes its rows, so that only what a killed one left has to be elsewhere. */
const ROUNDS = 2;
/** Rows that a process may have at once, in characters. */
const CHARS_MAX = 32 * 2 ** 20;

/**
 * @param {{ round?: number, place?: number, share?: number }} where place: among the contenders
 *   side by side; share: which process of the contender
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
 * @returns {number} rows that a process may have at once
 */
export function rowsMax(valueSize) {
  return Math.max(1, Math.min(IDS >> 1, Math.floor(CHARS_MAX / valueSize)));
}

/** First in, first out, of at most `size` numbers. */
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

  /** @returns {number} the first one, which is there */
  peek() {
    return this.items[this.head];
  }

  /** @returns {number} the first one, which is there */
  shift() {
    const item = this.items[this.head];
    this.head = (this.head + 1) % this.items.length;
    this.length -= 1;
    return item;
  }

  /** @param {number} size @returns {number[]} the last ones, at most so many */
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
    /** Never inserted: from this one on. */
    this.fresh = 0;
    this.absent = new Ring(size);
    this.present = new Ring(size);
    /** Of rows that expire. */
    this.sentNs = new Float64Array(size);
    this.storedNs = new Float64Array(size);
  }

  /** @returns {number} a row that is not there; -1: all are there, or in flight */
  takeAbsent() {
    if (this.fresh < this.size) {
      this.fresh += 1;
      return this.fresh - 1;
    }
    return this.absent.length > 0 ? this.absent.shift() : -1;
  }

  /** @returns {number} the row that has been there longest; -1: none is */
  takePresent() {
    return this.present.length > 0 ? this.present.shift() : -1;
  }

  /** @param {number} row that an acknowledged insert has written */
  inserted(row) {
    this.present.push(row);
  }

  /** @param {number} row that an acknowledged deletion has removed */
  deleted(row) {
    this.absent.push(row);
  }

  /**
   * Rows that expired for certain are absent again.
   * @param {number} beforeNs what was stored until then is gone
   */
  expire(beforeNs) {
    const { present } = this;
    while (present.length > 0 && this.storedNs[present.peek()] < beforeNs) {
      this.absent.push(present.shift());
    }
  }
}
