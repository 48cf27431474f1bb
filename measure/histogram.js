/**
 * The recorder's latency histogram: HdrHistogram's buckets in a typed array, with unit 1 ns and 3
 * significant digits, for every safe integer, without clamping or wrapping.
 *
 * Designed for the hot path and for merging. measure/hdr.js reads and writes the HdrHistogram V2
 * format for exchange.
 *
 * Bucketing (HdrHistogram by Gil Tene, AbstractHistogram.java, subBucketCount 2048): the first 2048
 * counts hold 0 to 2047 individually, each further 1024 hold one power of two in 1024 steps, so a
 * step is never wider than a thousandth of its value.
 */

import { DragstripError } from '../lib/errors.js';

const HALF_BITS = 10;
const HALF = 1 << HALF_BITS;
const FULL_MASK = 2 * HALF - 1;
/** Safe integers have 53 bits, of which 11 are kept: 42 doublings above the first 2048 counts. */
export const LENGTH = (53 - (HALF_BITS + 1) + 2) * HALF;
const INT32_END = 2 ** 31;
/** Powers of two by exponent: `**` would call the math library. */
const POWERS = Float64Array.from({ length: LENGTH / HALF }, (_, exponent) => 2 ** exponent);

/** Percentiles of rounds and rows, by the name of their field. */
export const PERCENTILES = Object.freeze({ p50Ns: 0.5, p90Ns: 0.9, p99Ns: 0.99, p999Ns: 0.999 });
/** @typedef {keyof typeof PERCENTILES} Percentile */
/** Percentiles of secondary histograms: seconds, kinds of operations. */
export const BRIEF = Object.freeze(/** @type {const} */ (['p50Ns', 'p99Ns']));

/** Number of values above a percentile required to print it. */
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
  // Integer operators are limited to 31 bits; dividing by a power of two is exact, and the bits cut
  // off are not among the 11 kept.
  const high = Math.floor(value / 2 ** 22);
  const bits = 32 - Math.clz32(high) + 22;
  const shift = bits - (HALF_BITS + 1);
  return (shift << HALF_BITS) + Math.floor(value / POWERS[shift]);
}

/**
 * @param {number} index
 * @returns {number} the lowest value that belongs to this count
 */
export function lowestAt(index) {
  if (index <= FULL_MASK) return index;
  const shift = (index >> HALF_BITS) - 1;
  return (index - (shift << HALF_BITS)) * POWERS[shift];
}

/**
 * @param {number} index
 * @returns {number} the highest value that belongs to this count
 */
export function highestAt(index) {
  return lowestAt(index + 1) - 1;
}

/** @param {number} index @param {number} count */
function isPair(index, count) {
  return Number.isInteger(index) && index >= 0 && index < LENGTH && Number.isSafeInteger(count);
}

/**
 * @param {SparseHistogram} message
 * @returns {string | null} reason why it is no histogram
 */
export function flawOf({ sparse, count, min, max }) {
  if (sparse.length % 2 !== 0) return 'a sparse form has pairs of index and count';
  let seen = 0;
  let [first, last] = [LENGTH, -1];
  for (let i = 0; i < sparse.length; i += 2) {
    const index = sparse[i];
    const n = sparse[i + 1];
    if (!isPair(index, n) || n < 0) return `${index}, ${n} is not a count`;
    seen += n;
    if (n > 0 && index < first) first = index;
    if (n > 0 && index > last) last = index;
  }
  if (seen !== count) return `counts add up to ${seen}, not to ${count}`;
  if (count === 0) return null;
  const isAt = (/** @type {number} */ value, /** @type {number} */ index) =>
    Number.isSafeInteger(value) && indexOf(value) === index;
  if (isAt(min, first) && isAt(max, last)) return null;
  return `${min} and ${max} are not the extremes of the values`;
}

/** @param {string} message */
function misuse(message) {
  return new DragstripError('E_INTERNAL', `histogram: ${message}`);
}

export class Histogram {
  /** Counts by index; a double counts exactly to 2^53. */
  #counts = new Float64Array(LENGTH);
  // Hot-path fields keep one representation each; a change would deoptimise record() during a
  // measurement: -0 makes the sum a double from the start, and extremes below 2^31 are integers in
  // separate fields.
  #sum = -0;
  #min = INT32_END - 1;
  #max = 0;
  #largeMin = Number.MAX_SAFE_INTEGER;
  #largeMax = 0;

  /** Number of values; sums the counts (up to 30 µs), so that recording need not count. */
  get count() {
    const last = indexOf(this.max);
    let count = 0;
    for (let i = indexOf(this.min); i <= last; i++) count += this.#counts[i];
    return count;
  }

  /** Exact sum of the recorded (whole) nanoseconds, up to 2^53. */
  get sum() {
    return this.#sum + 0;
  }

  /** Exact; 0 if nothing was recorded. */
  get min() {
    if (this.#counts[indexOf(this.#min)] > 0) return this.#min;
    return this.#largeMax === 0 ? 0 : this.#largeMin;
  }

  /** Exact; 0 if nothing was recorded. */
  get max() {
    return Math.max(this.#max, this.#largeMax);
  }

  /** 0 if nothing was recorded. */
  get mean() {
    return this.sum / Math.max(1, this.count);
  }

  /**
   * The hot path. Truncates fractions of a nanosecond. The clock is monotonic, so a negative value
   * is a rounding error and counts as 0.
   *
   * @param {number} ns ns to Number.MAX_SAFE_INTEGER (104 days)
   * @throws {DragstripError} E_INTERNAL if it is not a number
   */
  record(ns) {
    if (ns >= 0 && ns < INT32_END) {
      const value = ns | 0;
      const shift = 21 - Math.clz32(value | FULL_MASK);
      this.#counts[(shift << HALF_BITS) + (value >> shift)]++;
      this.#sum += value;
      if (value < this.#min) this.#min = value;
      if (value > this.#max) this.#max = value;
    } else {
      this.recordCount(ns, 1);
    }
  }

  /**
   * @param {number} ns as for record
   * @param {number} n number of times; 0 records nothing
   * @throws {DragstripError} E_INTERNAL: not a number, or a count that is not an integer
   */
  recordCount(ns, n) {
    const value = Math.max(0, Math.floor(ns));
    if (!Number.isSafeInteger(value)) throw misuse(`${ns} is not a time in ns`);
    if (!Number.isSafeInteger(n) || n < 0) throw misuse(`${n} is not a count`);
    if (n === 0) return;
    this.#counts[indexOf(value)] += n;
    this.#extend(value * n, value, value);
  }

  /** @param {number} sum @param {number} min @param {number} max */
  #extend(sum, min, max) {
    this.#sum += sum;
    if (min < INT32_END) this.#min = Math.min(this.#min, min);
    else this.#largeMin = Math.min(this.#largeMin, min);
    if (max < INT32_END) this.#max = Math.max(this.#max, max);
    else this.#largeMax = Math.max(this.#largeMax, max);
  }

  /**
   * Adds another histogram; the result is the same as if all values had been recorded here.
   *
   * @param {Histogram} other not modified
   * @returns {this}
   * @throws {DragstripError} E_INTERNAL if it is not an instance of this class, which has one
   *   configuration
   */
  merge(other) {
    if (!(other instanceof Histogram)) throw misuse('cannot merge another configuration');
    if (other.count === 0) return this;
    const from = other.#counts;
    const to = this.#counts;
    const last = indexOf(other.max);
    for (let i = indexOf(other.min); i <= last; i++) to[i] += from[i];
    this.#extend(other.sum, other.min, other.max);
    return this;
  }

  /**
   * The highest value that is equivalent, within the buckets, to the value at rank ⌈q·N⌉: HDR's own
   * rule (getValueAtPercentile), including its tolerance for products that round to just above an
   * integer. At most 0.1 % above the true value, never below it; it may exceed max by as much.
   *
   * @param {number} q 0 to 1; 0 gives the lowest equivalent value of the minimum
   * @returns {number} ns; 0 if nothing was recorded
   * @throws {DragstripError} E_INTERNAL if q is out of range
   */
  percentile(q) {
    if (!(q >= 0 && q <= 1)) throw misuse(`${q} is not a quantile`);
    const total = this.count;
    if (total === 0) return 0;
    const exact = q * total;
    const rank = Math.max(Math.ceil(exact - exact * 2 ** -50), 1);
    let seen = 0;
    for (let i = indexOf(this.min); i < LENGTH; i++) {
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
   * @returns {number | null} ns, or null if too few values lie above to print it
   */
  printablePercentile(q) {
    return this.printable(q) ? this.percentile(q) : null;
  }

  /**
   * @template {Percentile} [T=Percentile]
   * @param {readonly T[]} [names] absent: all
   * @returns {Record<T, number | null>} ns; null if too few values lie above
   */
  percentiles(names = /** @type {T[]} */ (Object.keys(PERCENTILES))) {
    const values = names.map((name) => [name, this.printablePercentile(PERCENTILES[name])]);
    return Object.fromEntries(values);
  }

  /**
   * @returns {number[]} index, count, index, count … of the counts above 0: small enough for IPC
   */
  toSparse() {
    const sparse = [];
    const last = indexOf(this.max);
    for (let i = indexOf(this.min); i <= last; i++) {
      if (this.#counts[i] > 0) sparse.push(i, this.#counts[i]);
    }
    return sparse;
  }

  /** @returns {SparseHistogram} everything that fromSparse needs */
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
   * Adds a histogram in its sparse form, without unpacking it.
   * @param {SparseHistogram} message
   * @returns {this}
   * @throws {DragstripError} E_INTERNAL if the pairs are not counts, do not add up, or do not
   *   lie between min and max
   */
  mergeSparse(message) {
    const flaw = flawOf(message);
    if (flaw !== null) throw misuse(flaw);
    const { sparse, count, min, max, sum } = message;
    for (let i = 0; i < sparse.length; i += 2) this.#counts[sparse[i]] += sparse[i + 1];
    if (count > 0) this.#extend(sum, min, max);
    return this;
  }

  /**
   * @param {SparseHistogram} message
   * @returns {Histogram}
   * @throws {DragstripError} same as mergeSparse
   */
  static fromSparse(message) {
    return new Histogram().mergeSparse(message);
  }
}
