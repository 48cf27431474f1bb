/**
 * The recorder's histogram of latencies: HdrHistogram's buckets in one typed array, with unit 1 ns
 * and 3 significant digits, for every safe integer: nothing is clamped and nothing wraps.
 *
 * It is made for the hot path and for merging. It is not for exchange: lib/measure/hdr.js writes
 * and reads the HdrHistogram V2 form that other tools know.
 *
 * Bucketing (HdrHistogram by Gil Tene, AbstractHistogram.java, subBucketCount 2048): the first 2048
 * counts hold 0 to 2047 singly, each further 1024 hold one power of two in 1024 steps, so a step is
 * never wider than a thousandth of its value.
 */

import { DragstripError } from '../errors.js';

const HALF_BITS = 10;
const HALF = 1 << HALF_BITS;
const FULL_MASK = 2 * HALF - 1;
/** A safe integer has 53 bits, 11 are kept: 42 doublings above the first 2048 counts. */
const LENGTH = (53 - (HALF_BITS + 1) + 2) * HALF;
const INT32_END = 2 ** 31;

const COUNT = 0;
const SUM = 1;
const MIN = 2;
const MAX = 3;

/** A percentile is worth printing where at least this many values lie above it. */
const PRINTABLE_ABOVE = 10;

/**
 * @param {number} value an integer from 0 to Number.MAX_SAFE_INTEGER
 * @returns {number} index of the count it belongs to
 */
export function indexOf(value) {
  if (value < INT32_END) {
    const shift = 21 - Math.clz32(value | FULL_MASK);
    return (shift << HALF_BITS) + (value >> shift);
  }
  // Above 31 bits the integer operators do not reach; a division by 2^20 brings the leading bits
  // back into 31 (a power of two, so exact, and the bits cut off are not among the 11 kept).
  const high = Math.floor(value / 2 ** 22);
  const bits = 32 - Math.clz32(high) + 22;
  const shift = bits - (HALF_BITS + 1);
  return (shift << HALF_BITS) + Math.floor(value / 2 ** shift);
}

/**
 * @param {number} index
 * @returns {number} the lowest value that belongs to this count
 */
export function lowestAt(index) {
  if (index <= FULL_MASK) return index;
  const shift = (index >> HALF_BITS) - 1;
  return (index - (shift << HALF_BITS)) * 2 ** shift;
}

/**
 * @param {number} index
 * @returns {number} the highest value that belongs to this count: one below the next count's lowest
 */
export function highestAt(index) {
  return lowestAt(index + 1) - 1;
}

/** @param {number} index @param {number} count */
function isPair(index, count) {
  return Number.isInteger(index) && index >= 0 && index < LENGTH && Number.isSafeInteger(count);
}

/** @param {string} message */
function misuse(message) {
  return new DragstripError('E_INTERNAL', `histogram: ${message}`);
}

export class Histogram {
  /** Counts by index; a double counts exactly to 2^53. */
  #counts = new Float64Array(LENGTH);
  // In a typed array and not in fields: a field that outgrows 31 bits changes its representation
  // and throws away the compiled code of the hot path in mid-measurement.
  #totals = new Float64Array([0, 0, Number.MAX_SAFE_INTEGER, 0]);

  get count() {
    return this.#totals[COUNT];
  }

  /** Exact sum of the recorded (whole) nanoseconds, up to 2^53. */
  get sum() {
    return this.#totals[SUM];
  }

  /** Exact; 0 where nothing was recorded. */
  get min() {
    return this.#totals[COUNT] === 0 ? 0 : this.#totals[MIN];
  }

  /** Exact; 0 where nothing was recorded. */
  get max() {
    return this.#totals[MAX];
  }

  /** 0 where nothing was recorded. */
  get mean() {
    return this.#totals[COUNT] === 0 ? 0 : this.#totals[SUM] / this.#totals[COUNT];
  }

  /**
   * The hot path: some 3 ns. Fractions of a nanosecond are cut off. The clock is monotonic, so a
   * value below 0 is its rounding, and counts as 0.
   *
   * @param {number} ns to Number.MAX_SAFE_INTEGER (104 days); NaN throws, by way of the slow branch
   */
  record(ns) {
    if (ns < INT32_END) {
      const value = ns > 0 ? ns | 0 : 0;
      const shift = 21 - Math.clz32(value | FULL_MASK);
      this.#counts[(shift << HALF_BITS) + (value >> shift)]++;
      const totals = this.#totals;
      totals[COUNT]++;
      totals[SUM] += value;
      if (value < totals[MIN]) totals[MIN] = value;
      if (value > totals[MAX]) totals[MAX] = value;
    } else {
      this.recordCount(ns, 1);
    }
  }

  /**
   * @param {number} ns as for record
   * @param {number} n how often; 0 records nothing
   * @throws {DragstripError} E_INTERNAL: not a number, or a count that is not a whole number
   */
  recordCount(ns, n) {
    const value = Math.max(0, Math.floor(ns));
    if (!Number.isSafeInteger(value)) throw misuse(`${ns} is not a time in ns`);
    if (!Number.isSafeInteger(n) || n < 0) throw misuse(`${n} is not a count`);
    if (n === 0) return;
    this.#counts[indexOf(value)] += n;
    this.#addTotals(n, value * n, value, value);
  }

  /** @param {number} count @param {number} sum @param {number} min @param {number} max */
  #addTotals(count, sum, min, max) {
    const totals = this.#totals;
    totals[COUNT] += count;
    totals[SUM] += sum;
    totals[MIN] = Math.min(totals[MIN], min);
    totals[MAX] = Math.max(totals[MAX], max);
  }

  /**
   * Adds what the other has; the result is the same as if all had been recorded here.
   *
   * @param {Histogram} other left as it is
   * @returns {this}
   * @throws {DragstripError} E_INTERNAL where the other one has another configuration: there is one
   *   configuration in this class, so whatever is not of this class is refused
   */
  merge(other) {
    if (!(other instanceof Histogram)) throw misuse('cannot merge another configuration');
    const from = other.#counts;
    const to = this.#counts;
    for (let i = 0; i < LENGTH; i++) to[i] += from[i];
    const [count, sum, min, max] = other.#totals;
    this.#addTotals(count, sum, min, max);
    return this;
  }

  /**
   * The highest value that is equivalent, within the buckets, to the value at rank ⌈q·N⌉: HDR's own
   * rule (getValueAtPercentile), also with its care for a product that is a rounding above a whole
   * number. So at most 0.1 % above the true value, never below it, and it may pass max by as much.
   *
   * @param {number} q 0 to 1; 0 gives the lowest equivalent value of the least
   * @returns {number} ns; 0 where nothing was recorded
   * @throws {DragstripError} E_INTERNAL where q is outside
   */
  percentile(q) {
    if (!(q >= 0 && q <= 1)) throw misuse(`${q} is not a quantile`);
    const total = this.#totals[COUNT];
    if (total === 0) return 0;
    const exact = q * total;
    const rank = Math.max(Math.ceil(exact - exact * 2 ** -50), 1);
    let seen = 0;
    for (let i = 0; i < LENGTH; i++) {
      seen += this.#counts[i];
      if (seen >= rank) return q === 0 ? lowestAt(i) : highestAt(i);
    }
    return this.max;
  }

  /**
   * @param {number} q
   * @returns {boolean} whether enough values, N·(1−q) ≥ 10, lie above the percentile to print it
   */
  printable(q) {
    // 100·(1 − 0.9) is a rounding below 10 in doubles.
    return this.count * (1 - q) >= PRINTABLE_ABOVE - 1e-6;
  }

  /**
   * @param {number} q
   * @returns {number | null} ns, or null where too few values lie above to print it
   */
  printablePercentile(q) {
    return this.printable(q) ? this.percentile(q) : null;
  }

  /** @returns {number[]} index, count, index, count … of the counts above 0: small enough for IPC */
  toSparse() {
    const sparse = [];
    for (let i = 0; i < LENGTH; i++) if (this.#counts[i] > 0) sparse.push(i, this.#counts[i]);
    return sparse;
  }

  /** @returns {SparseHistogram} all that fromSparse needs */
  toMessage() {
    return {
      sparse: this.toSparse(),
      count: this.count,
      min: this.min,
      max: this.max,
      sum: this.sum,
    };
  }

  /**
   * @typedef {object} SparseHistogram
   * @property {readonly number[]} sparse see toSparse
   * @property {number} count
   * @property {number} min
   * @property {number} max
   * @property {number} sum
   */

  /**
   * @param {SparseHistogram} message
   * @returns {Histogram}
   * @throws {DragstripError} E_INTERNAL where the pairs are not counts or do not add up to count
   */
  static fromSparse({ sparse, count, min, max, sum }) {
    const histogram = new Histogram();
    if (sparse.length % 2 !== 0) throw misuse('a sparse form has pairs of index and count');
    let seen = 0;
    for (let i = 0; i < sparse.length; i += 2) {
      const n = sparse[i + 1];
      if (!isPair(sparse[i], n) || n < 0) throw misuse(`${sparse[i]}, ${n} is not a count`);
      histogram.#counts[sparse[i]] += n;
      seen += n;
    }
    if (seen !== count) throw misuse(`counts add up to ${seen}, not to ${count}`);
    if (count > 0) histogram.#addTotals(count, sum, min, max);
    return histogram;
  }
}
