/**
 * What is inserted, and by which strategy: rows `(a int primary key, b int)`, and how requests are
 * cut from them.
 */

import { mix32 } from '../../lib/random.js';

export const WORKERS = 10;

/**
 * @typedef {object} Strategy
 * @property {string} summary
 * @property {'single' | 'batch' | 'atomic' | 'rows' | 'bulk'} way of the storage that it takes,
 *   where the storage has none of the strategy's own name
 * @property {'one' | 'two' | 'batch' | 'all'} rows of a request
 * @property {boolean} prebuilt rows are put together before the clock starts
 * @property {number} workers connections that share the rows, one range each
 * @property {'one' | 'singles' | 'pairs' | 'workers' | 'batches'} inFlight requests
 */

/**
 * @param {string} summary
 * @param {Strategy['way']} way
 * @param {Partial<Strategy>} [more]
 * @returns {Strategy}
 */
function strategy(summary, way, more) {
  const usual = { rows: /** @type {const} */ ('batch'), prebuilt: false, workers: 1 };
  return { summary, way, ...usual, inFlight: 'batches', ...more };
}

/** In the order of tables; first the names of the original program. */
export const STRATEGIES = /** @type {Readonly<Record<string, Strategy>>} */ (
  Object.freeze({
    one: strategy('row by row, each acknowledged before the next', 'single', {
      rows: 'one',
      inFlight: 'one',
    }),
    async: strategy('row by row, many not acknowledged yet', 'single', {
      rows: 'one',
      inFlight: 'singles',
    }),
    workers: strategy(`${WORKERS} connections, each row by row`, 'single', {
      rows: 'one',
      workers: WORKERS,
      inFlight: 'workers',
    }),
    pairs: strategy('batches of two rows, many not acknowledged yet', 'batch', {
      rows: 'two',
      inFlight: 'pairs',
    }),
    batch_pure: strategy('batches, rows put together before the clock', 'batch', {
      prebuilt: true,
    }),
    batch_pure2: strategy('the same by two connections, half of the rows each', 'batch', {
      prebuilt: true,
      workers: 2,
    }),
    unlogged_batch: strategy('batches, rows put together inside the clock', 'batch'),
    logged_batch: strategy('batches that are stored whole or not at all', 'atomic'),
    multi_row: strategy('one statement of many rows', 'rows'),
    bulk_load: strategy('all rows in one bulk load', 'bulk', { rows: 'all', inFlight: 'one' }),
  })
);

export const STRATEGY_NAMES = Object.freeze(Object.keys(STRATEGIES));

/**
 * @param {Strategy} one
 * @param {{ rows: number, batch: number }} sizes
 * @returns {number} rows of a request, the last ones of a worker apart
 */
export function rowsOfRequest({ rows: kind }, { rows, batch }) {
  return { one: 1, two: 2, batch, all: rows }[kind];
}

/**
 * @param {Strategy} one
 * @param {{ batches: number, window: number }} limits batches: requests of many rows, in flight;
 *   window: rows that are not acknowledged yet, of strategies without such requests
 * @returns {number} requests in flight
 */
export function requestsInFlight({ inFlight }, { batches, window }) {
  const pairs = Math.max(1, Math.floor(window / 2));
  return { one: 1, singles: window, pairs, workers: WORKERS, batches }[inFlight];
}

/**
 * The number that belongs to a key: any 31-bit number, the same everywhere.
 * @param {number} seed
 * @param {number} a key, 1 and on
 * @returns {number} 0 to 2^31 - 1
 */
export function numberOf(seed, a) {
  return mix32(seed ^ 0x696e73, a) >>> 1;
}

/**
 * @typedef {object} Slices which rows each request inserts: keys from[i] to to[i] - 1, by worker[i]
 * @property {Int32Array} from
 * @property {Int32Array} to
 * @property {Uint8Array} worker
 * @property {number} length
 */

/**
 * Each worker has a range of its own, all as long as can be; requests take turns among the workers.
 * @param {{ rows: number, size: number, workers: number, first?: number }} plan first: key of the
 *   first row, 1 unless given
 * @returns {Slices}
 */
export function planSlices({ rows, size, workers, first = 1 }) {
  const bounds = Array.from(
    { length: workers + 1 },
    (_, i) => first + Math.floor((rows * i) / workers),
  );
  const counts = bounds.slice(0, -1).map((from, i) => Math.ceil((bounds[i + 1] - from) / size));
  const length = counts.reduce((sum, count) => sum + count, 0);
  const slices = {
    from: new Int32Array(length),
    to: new Int32Array(length),
    worker: new Uint8Array(length),
    length,
  };
  let at = 0;
  for (let turn = 0; at < length; turn += 1) {
    for (let worker = 0; worker < workers; worker += 1) {
      if (turn >= counts[worker]) continue;
      const from = bounds[worker] + turn * size;
      slices.from[at] = from;
      slices.to[at] = Math.min(from + size, bounds[worker + 1]);
      slices.worker[at] = worker;
      at += 1;
    }
  }
  return slices;
}
