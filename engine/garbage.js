/**
 * Charges each brief segment with the garbage that it creates. The young generation fills once in
 * several segments, in phase with the blocks: of two alternating loads, one may pay for all
 * collections of a process by chance. The time of collections is therefore subtracted from the
 * segments in which they occurred, and distributed over all segments by allocated bytes.
 *
 * Only natural collections are charged: forcing one per segment would add its fixed cost many
 * times, and keep the allocated memory in the processor's cache.
 *
 * A process is not charged if the bytes per operation of a load are unknown, because each of its
 * segments has a collection, or if the runtime does not report collections: its slices then keep
 * the collections that occurred in them, and the result records this (`charged` of its rounds).
 */

import { mean, median } from 'simple-statistics';

/**
 * @typedef {object} Piece one brief segment on the clock of its process
 * @property {number} load
 * @property {number} startNs
 * @property {number} endNs
 * @property {{ fromNs: number, ns: number, operations: number }} span basis of its time per
 *   operation
 * @property {number} scheduled operations of the whole segment
 * @property {number} bytesBefore heap in use before it
 * @property {number} bytesAfter
 */

/** @typedef {import('../measure/usage.js').Collection} Collection */

/**
 * @typedef {object} LoadGarbage garbage of the brief segments of a load in a process
 * @property {number[]} shares ns to add to the span of each segment, in order: its share of the
 *   time of all collections, minus that of the collections within it
 * @property {number} count collections that began in its segments
 * @property {number} ns its share of the time of all collections
 * @property {number} bytes bytes allocated by its operations
 */

/** A heap that shrinks by this much was collected. */
const SHRUNK_BYTES = 2 ** 20;

/**
 * @param {import('./segment.js').Segment} segment a long segment, which keeps its own collections
 * @param {import('../measure/usage.js').Garbage} collected
 * @param {number} startNs
 */
export function addGarbage(segment, { count, ns, collections = [] }, startNs) {
  segment.client = { ...segment.client, gcCount: count, gcNs: ns };
  segment.collections = collections.map((one) => ({
    startNs: Math.max(0, one.startNs - startNs),
    ns: one.ns,
  }));
}

/** Observes a process from its first brief segment on. */
export class GarbageShares {
  /** @type {Piece[]} */
  #pieces = [];
  #bytesBefore = 0;

  /** @param {import('../measure/usage.js').Instruments} instruments */
  constructor({ observeGarbage, heapBytes }) {
    this.observed = observeGarbage(Number.POSITIVE_INFINITY);
    this.heapBytes = heapBytes;
  }

  begin() {
    this.#bytesBefore = this.heapBytes();
  }

  /** @param {Omit<Piece, 'bytesBefore' | 'bytesAfter'>} piece */
  end(piece) {
    const bytesAfter = this.heapBytes();
    this.#pieces.push({ ...piece, bytesBefore: this.#bytesBefore, bytesAfter });
  }

  /**
   * @param {number} loads
   * @returns {Promise<(LoadGarbage | null)[]>} by load; null: none ran, or it is not charged
   */
  async close(loads) {
    const { collections = null } = await this.observed.stop(Number.POSITIVE_INFINITY);
    const charges = chargesOf(this.#pieces, collections);
    return Array.from({ length: loads }, (_, load) => charges?.get(load) ?? null);
  }
}

/**
 * @param {readonly Piece[]} pieces brief segments, in order
 * @param {readonly Collection[] | null} collections collections of the process; null: the runtime
 *   reports none
 * @returns {Map<number, LoadGarbage> | null} by load; null: the process cannot be charged
 */
export function chargesOf(pieces, collections) {
  const [first, last] = [pieces[0], pieces.at(-1)];
  if (collections === null || first === undefined || last === undefined) return null;
  const during = collections.filter(
    ({ startNs }) => startNs >= first.startNs && startNs < last.endNs,
  );
  const perOperation = bytesPerOperation(pieces, during);
  if (perOperation === null || (during.length === 0 && hasShrunk(pieces))) return null;
  const between = pieces
    .slice(1)
    .map(({ bytesBefore }, i) => bytesBefore - pieces[i].bytesAfter)
    .filter((bytes) => bytes > 0);
  const ofGap = between.length === 0 ? 0 : median(between);
  const bytesOf = (/** @type {Piece} */ { load }, /** @type {number} */ operations) =>
    operations * Number(perOperation.get(load));
  const bytes = pieces.reduce((sum, one) => sum + bytesOf(one, one.scheduled) + ofGap, -ofGap);
  const nsPerByte = bytes > 0 ? during.reduce((sum, { ns }) => sum + ns, 0) / bytes : 0;
  /** @type {Map<number, LoadGarbage>} */
  const byLoad = new Map();
  for (const piece of pieces) {
    const own = byLoad.get(piece.load) ?? { shares: [], count: 0, ns: 0, bytes: 0 };
    byLoad.set(piece.load, own);
    const { fromNs, ns, operations } = piece.span;
    own.shares.push(nsPerByte * bytesOf(piece, operations) - nsWithin(during, fromNs, fromNs + ns));
    own.count += during.filter(
      ({ startNs }) => startNs >= piece.startNs && startNs < piece.endNs,
    ).length;
    own.bytes += bytesOf(piece, piece.scheduled);
    own.ns = nsPerByte * own.bytes;
  }
  return byLoad;
}

/**
 * A runtime may accept an observer and report nothing to it.
 * @param {readonly Piece[]} pieces
 */
function hasShrunk(pieces) {
  const sizes = pieces.flatMap(({ bytesBefore, bytesAfter }) => [bytesBefore, bytesAfter]);
  return sizes.some((bytes, i) => i > 0 && bytes < sizes[i - 1] - SHRUNK_BYTES);
}

/**
 * @param {readonly Piece[]} pieces
 * @param {readonly Collection[]} collections
 * @returns {Map<number, number> | null} bytes per operation by load, from its segments without a
 *   collection
 */
function bytesPerOperation(pieces, collections) {
  /** @type {Map<number, number[]>} */
  const byLoad = new Map();
  for (const { load, startNs, endNs, scheduled, bytesBefore, bytesAfter } of pieces) {
    const own = byLoad.get(load) ?? [];
    byLoad.set(load, own);
    const bytes = bytesAfter - bytesBefore;
    if (bytes >= 0 && nsWithin(collections, startNs, endNs) === 0) own.push(bytes / scheduled);
  }
  const known = [...byLoad].map(([load, values]) => ({ load, values }));
  if (known.some(({ values }) => values.length === 0)) return null;
  return new Map(known.map(({ load, values }) => [load, median(values)]));
}

/**
 * @param {readonly Collection[]} collections
 * @param {number} fromNs
 * @param {number} toNs
 * @returns {number} ns of collections in that time
 */
function nsWithin(collections, fromNs, toNs) {
  let sum = 0;
  for (const { startNs, ns } of collections) {
    sum += Math.max(0, Math.min(startNs + ns, toNs) - Math.max(startNs, fromNs));
  }
  return sum;
}

/**
 * @param {readonly (import('./segment.js').Segment)[]} segments segments of one load, in order;
 *   their spans are changed, and the last one gets the collections and allocated bytes of the load
 * @param {readonly (LoadGarbage | null | undefined)[]} garbage garbage of each process of the
 *   contender; shares of concurrent segments are averaged
 * @returns {boolean} whether they were charged: every process is, and has the same number of
 *   segments
 */
export function chargeGarbage(segments, garbage) {
  const known = garbage.flatMap((one) => one ?? []);
  const last = segments.at(-1);
  const isWhole = known.every(({ shares }) => shares.length === segments.length);
  if (last === undefined || known.length === 0 || known.length < garbage.length || !isWhole) {
    return false;
  }
  for (const [i, { figures }] of segments.entries()) {
    if (figures !== null) figures.spanNs += mean(known.map(({ shares }) => shares[i]));
  }
  const sum = (/** @type {'count' | 'ns' | 'bytes'} */ field) =>
    known.reduce((all, one) => all + one[field], 0);
  last.client = {
    ...last.client,
    gcCount: sum('count'),
    gcNs: sum('ns'),
    allocatedBytes: sum('bytes'),
  };
  return true;
}
