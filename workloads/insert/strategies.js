/**
 * Rows and strategies of inserts: rows `(a int primary key, b int)`, and their partition into
 * requests.
 */

import { mix32 } from '../../lib/random.js';

export const WORKERS = 10;

/**
 * @typedef {object} Strategy
 * @property {string} summary
 * @property {'single' | 'batch' | 'atomic' | 'rows' | 'bulk'} way the storage's method to use if it
 *   has none with the strategy's name
 * @property {'one' | 'two' | 'batch' | 'all'} rows rows of a request
 * @property {boolean} prebuilt requests are built before the clock starts
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

/** In the order of tables, beginning with the names of the original program. */
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
    batch_pure: strategy('batches, assembled before the measured time', 'batch', {
      prebuilt: true,
    }),
    batch_pure2: strategy('the same by two connections, half of the rows each', 'batch', {
      prebuilt: true,
      workers: 2,
    }),
    unlogged_batch: strategy('batches, assembled within the measured time', 'batch'),
    logged_batch: strategy('batches that are stored whole or not at all', 'atomic'),
    multi_row: strategy('one statement of many rows', 'rows'),
    bulk_load: strategy('all rows in one bulk load', 'bulk', { rows: 'all', inFlight: 'one' }),
  })
);

export const STRATEGY_NAMES = Object.freeze(Object.keys(STRATEGIES));

/** Names of the methods, for storages without one. */
const LACKS = Object.freeze({
  single: 'inserts of single rows',
  batch: 'batches',
  atomic: 'atomic batches',
  rows: 'statement of many rows',
  bulk: 'bulk load',
});

/**
 * @param {import('../../lib/types.js').StorageDefinition} storage
 * @param {string} strategy
 * @returns {boolean | import('../../lib/types.js').Unavailable} false: it does not insert
 */
export function offersStrategy({ name, inserts }, strategy) {
  if (inserts === undefined) return false;
  if (Object.hasOwn(inserts, strategy)) return true;
  return {
    reason: `${name} has no ${LACKS[STRATEGIES[strategy].way]}`,
    hint: `it has ${Object.keys(inserts).join(', ')}`,
  };
}

/**
 * @param {Strategy} one
 * @param {{ rows: number, batch: number }} sizes
 * @returns {number} rows per request, except the last one of a worker
 */
export function rowsOfRequest({ rows: kind }, { rows, batch }) {
  return { one: 1, two: 2, batch, all: rows }[kind];
}

/**
 * @param {Strategy} one
 * @param {{ batches: number, window: number }} limits batches: multi-row requests in flight;
 *   window: unacknowledged rows of strategies with single-row requests
 * @returns {number} requests in flight
 */
export function requestsInFlight({ inFlight }, { batches, window }) {
  const pairs = Math.max(1, Math.floor(window / 2));
  return { one: 1, singles: window, pairs, workers: WORKERS, batches }[inFlight];
}

/**
 * The number of a key: a deterministic 31-bit number.
 * @param {number} seed
 * @param {number} a key, from 1
 * @returns {number} 0 to 2^31 - 1
 */
export function numberOf(seed, a) {
  return mix32(seed ^ 0x696e73, a) >>> 1;
}

/**
 * @typedef {object} Slices rows of each request: keys from[i] to to[i] - 1, by worker[i]
 * @property {Int32Array} from
 * @property {Int32Array} to
 * @property {Uint8Array} worker
 * @property {number} length
 */

/**
 * Each worker has a separate range of nearly equal length; requests alternate between the workers.
 * @param {{ rows: number, size: number, workers: number, first?: number }} plan first: key of the
 *   first row, by default 1
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
