/**
 * Detects reads of a value older than the last acknowledged write of its key. Writes carry versions
 * (lib/row-version.js). A reply counts as stale only if this is certain: concurrent writes of a key
 * may be executed in either order, a failed one may still be executed, and writes of other
 * processes are unknown here.
 */

import { randomInt } from 'node:crypto';
import { TAG_LENGTH } from '../../lib/dataset.js';
import {
  formatVersion,
  parseVersion,
  VERSION_LETTERS,
  VERSION_MAX,
} from '../../lib/row-version.js';

/** @typedef {import('../../lib/types.js').Dataset} Dataset */

/** Neither a write nor a read of a written row. */
const NONE = -1;

/**
 * @param {Dataset} dataset
 * @returns {boolean} whether some of its values are long enough for a version
 */
export function holdsVersions({ valueSize }) {
  return valueSize >= TAG_LENGTH + VERSION_LETTERS;
}

/** @param {string} value */
function hasPlace({ length }) {
  return length >= TAG_LENGTH + VERSION_LETTERS;
}

/**
 * @param {Dataset} dataset
 * @param {number} id
 * @param {import('../../lib/row-version.js').RowVersion} version
 * @returns {string} the row's value, with the version if long enough
 */
export function versioned(dataset, id, version) {
  const own = dataset.value(id);
  if (!hasPlace(own)) return own;
  const body = own.slice(0, own.length - VERSION_LETTERS);
  // A flat string; otherwise the driver would flatten it while sending.
  return Buffer.from(body + formatVersion(id, version), 'latin1').toString('latin1');
}

export class Freshness {
  /**
   * @param {Dataset} dataset
   * @param {{ keys: Uint32Array, slots: Int32Array }} drawn slots: by operation, -1 for a read
   */
  constructor(dataset, { keys, slots }) {
    this.keys = keys;
    this.slots = slots;
    /** Distinct per process and load, since the order is known only for its own versions. */
    this.writer = randomInt(VERSION_MAX + 1);
    /** @type {string[]} by slot */
    this.values = [];
    /** Dense numbers of the written rows. @type {Map<number, number>} */
    const written = new Map();
    for (let i = 0; i < slots.length; i += 1) {
      if (slots[i] !== this.values.length) continue;
      this.values.push(versioned(dataset, keys[i], { writer: this.writer, slot: slots[i] }));
      if (!written.has(keys[i])) written.set(keys[i], written.size);
    }
    /** By operation: the dense number of its row. */
    this.rows = Int32Array.from(keys, (id) => written.get(id) ?? NONE);
    /** By operation: the minimum version of a read, at the time of sending. */
    this.leastOf = new Float64Array(keys.length);
    /** By row: number of the write that is the minimum for later replies. */
    this.least = new Float64Array(written.size);
    /** By row: number of its unacknowledged writes, and the first of those sent together. */
    this.pending = new Uint32Array(written.size);
    this.firstPending = new Float64Array(written.size);
    /** By slot: number of its last write. */
    this.writeOf = new Float64Array(this.values.length);
    this.writes = 0;
  }

  /** @param {number} i operation that reads */
  beforeRead(i) {
    const row = this.rows[i];
    if (row !== NONE) this.leastOf[i] = this.least[row];
  }

  /** @param {number} i operation that writes */
  beforeWrite(i) {
    const row = this.rows[i];
    this.writes += 1;
    this.writeOf[this.slots[i]] = this.writes;
    if (this.pending[row] === 0) this.firstPending[row] = this.writes;
    this.pending[row] += 1;
  }

  /**
   * A failed write is never acknowledged, so the minimum of its row is unchanged.
   * @param {number} i operation that wrote
   */
  afterWrite(i) {
    const row = this.rows[i];
    this.pending[row] -= 1;
    if (this.pending[row] === 0) this.least[row] = this.firstPending[row];
  }

  /**
   * @param {number} i operation that read the value of its row
   * @param {string} text
   * @returns {boolean}
   */
  isStale(i, text) {
    if (this.rows[i] === NONE) return false;
    return this.isOlder(this.keys[i], text, this.leastOf[i]);
  }

  /**
   * @param {number} id
   * @param {string} text
   * @param {number} least number of a write
   */
  isOlder(id, text, least) {
    if (least === 0 || !hasPlace(text)) return false;
    const version = parseVersion(id, text);
    if (version === null) return true; // the value before all writes
    return version.writer === this.writer && this.writeOf[version.slot] < least;
  }

  /**
   * Rows with an acknowledged write of this process, latest operations first, to be read back when
   * nothing is in flight.
   * @param {number} size maximum number
   * @returns {{ id: number, isStale: (text: string) => boolean }[]}
   */
  acknowledged(size) {
    /** @type {Map<number, { id: number, isStale: (text: string) => boolean }>} by row */
    const found = new Map();
    for (let i = this.keys.length - 1; i >= 0 && found.size < size; i -= 1) {
      const row = this.rows[i];
      const id = this.keys[i];
      if (row === NONE || found.has(row) || this.least[row] === 0) continue;
      const least = this.least[row];
      found.set(row, { id, isStale: (text) => this.isOlder(id, text, least) });
    }
    return [...found.values()];
  }
}
