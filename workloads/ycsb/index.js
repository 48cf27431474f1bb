/**
 * The core workloads of YCSB by letter, as mixes on the rows of the race. Proportions and
 * distributions after workloads/workloada to workloadf of brianfrankcooper/YCSB. Rows are fixed, so
 * D and E update where YCSB inserts; not every storage scans, so a scan is one multi-get of
 * adjacent keys.
 */

import { defineWorkload } from '../../lib/define.js';
import { choices } from '../../lib/options.js';
import { createRandom } from '../../lib/random.js';
import { createZipf } from '../../lib/zipf.js';
import { workload as get } from '../get/index.js';
import { drawKeys, KEYS_MAX } from '../get/keys.js';
import { prepareMix } from '../mix/operations.js';

/** @typedef {{ summary: string, share: Record<string, number>, rows?: 'latest' }} Core */

/** @type {Readonly<Record<string, Core>>} */
export const CORES = Object.freeze({
  a: { summary: '50 % reads, 50 % updates', share: { get: 0.5, set: 0.5 } },
  b: { summary: '95 % reads, 5 % updates', share: { get: 0.95, set: 0.05 } },
  c: { summary: 'reads only', share: { get: 1 } },
  d: {
    summary: '95 % reads of the latest rows, 5 % updates of them (YCSB inserts)',
    share: { get: 0.95, set: 0.05 },
    rows: 'latest',
  },
  e: {
    summary: '95 % scans as one multi-get of adjacent keys, 5 % updates (YCSB inserts)',
    share: { fetch: 0.95, set: 0.05 },
  },
  f: { summary: '50 % reads, 50 % read-modify-writes', share: { get: 0.5, modify: 0.5 } },
});
/** Kinds of a mix with the names of YCSB. */
const NAMES = Object.freeze({ get: 'read', set: 'update', fetch: 'scan', modify: 'modify' });
const EXPONENT = 0.99;
const LATEST_STREAM = 0x796c; // apart from the streams of keys and orders

const LETTERS = Object.freeze(Object.keys(CORES));
const summaryOf = (/** @type {string} */ letter) => `${letter}: ${CORES[letter].summary}`;
const CORE = choices(LETTERS, LETTERS, {
  help: `core workloads; ${LETTERS.map(summaryOf).join('; ')}`,
});
const OPERATIONS = 20_000;
const IN_FLIGHT = Object.freeze([1, 64]);

/** @type {import('../../lib/types.js').Prepare} */
const prepare = (context) => {
  const { dataset, seed, ops, options } = context;
  const { core } = /** @type {any} */ (options['parameters']);
  const { share, rows } = CORES[core];
  const keys =
    rows === 'latest'
      ? drawLatest(dataset.rows, seed, ops)
      : drawKeys(dataset.rows, seed, ops, { keys: `zipf:${EXPONENT}`, spread: dataset.seed });
  const weights = Object.entries(share).map(([kind, weight]) => ({ kind, weight }));
  return prepareMix(context, { weights, keys, names: NAMES });
};

/**
 * The last row counts as the latest, which is the most popular one.
 * @param {number} rows
 * @param {number} seed
 * @param {number} ops
 */
function drawLatest(rows, seed, ops) {
  const rank = createZipf(rows, EXPONENT, createRandom(seed, LATEST_STREAM));
  return Uint32Array.from({ length: Math.max(1, Math.min(ops, KEYS_MAX)) }, () => rows - rank());
}

export const workload = defineWorkload({
  name: 'ycsb',
  needs: ['get', 'set'],
  options: { core: CORE },
  shared: {
    rounds: 3,
    warmupOperations: 2000,
    against: null,
    ops: { shown: `${OPERATIONS}; open loops: 10s` },
    inFlight: { shown: IN_FLIGHT.join() },
  },
  loads: ({ inFlight = IN_FLIGHT }) =>
    inFlight.map((/** @type {number} */ k) =>
      k === 1
        ? { kind: 'sync', operations: OPERATIONS }
        : { kind: 'window', inFlight: k, operations: OPERATIONS },
    ),
  plan: ({ core }) => ({
    variants: core.map((/** @type {string} */ letter) => ({ parameters: { core: letter } })),
  }),
  presets: Object.fromEntries(
    LETTERS.map((letter) => [
      `ycsb-${letter}`,
      { summary: summaryOf(letter), options: { core: { ...CORE, default: [letter] } } },
    ]),
  ),
  offers: ({ rows }, { core }) =>
    core !== 'e' || rows?.includes('mget') || { reason: 'no multi-get', hint: 'leave out core e' },
  slices: 'default',
  serverOperations: 1,
  check: get.prepare,
  prepare,
});
