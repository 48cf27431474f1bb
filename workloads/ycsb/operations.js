/**
 * Which operation of a YCSB core workload does what, on which row: drawn before the clock starts.
 * Proportions and distributions after workloads/workloada to workloadf of brianfrankcooper/YCSB.
 */

import { createRandom, drawBelow } from '../../lib/random.js';
import { createZipf } from '../../lib/zipf.js';
import { drawKeys, KEYS_MAX } from '../get/keys.js';

/** @typedef {import('../../lib/types.js').Dataset} Dataset */

export const KINDS = /** @type {const} */ (['read', 'update', 'scan', 'modify']);
const EXPONENT = 0.99;
export const SCAN_ROWS_MAX = 100;
const KIND_STREAM = 0x7963; // apart from the streams of keys and orders
const LATEST_STREAM = 0x796c;
const SCAN_STREAM = 0x7973;
/** Values to write are made before the clock starts, so many of them; then they come again. */
const VALUES_CHARS_MAX = 64 * 2 ** 20;

/**
 * @typedef {object} Core
 * @property {string} summary
 * @property {Partial<Record<typeof KINDS[number], number>>} share of its operations, 1 in all
 * @property {'zipfian' | 'latest'} rows
 */

/** @type {Readonly<Record<string, Core>>} */
export const CORES = Object.freeze({
  a: { summary: '50 % reads, 50 % updates', share: { read: 0.5, update: 0.5 }, rows: 'zipfian' },
  b: { summary: '95 % reads, 5 % updates', share: { read: 0.95, update: 0.05 }, rows: 'zipfian' },
  c: { summary: 'reads only', share: { read: 1 }, rows: 'zipfian' },
  d: {
    summary: '95 % reads of the latest rows, 5 % updates of them (YCSB inserts)',
    share: { read: 0.95, update: 0.05 },
    rows: 'latest',
  },
  e: {
    summary: '95 % scans as one multi-get of adjacent keys, 5 % updates (YCSB inserts)',
    share: { scan: 0.95, update: 0.05 },
    rows: 'zipfian',
  },
  f: {
    summary: '50 % reads, 50 % read-modify-writes',
    share: { read: 0.5, modify: 0.5 },
    rows: 'zipfian',
  },
});

/**
 * @typedef {object} Drawn
 * @property {number} length then it begins again
 * @property {Uint8Array} kinds by operation, an index of KINDS
 * @property {Uint32Array} keys row of each; of a scan, the first one
 * @property {number[][]} scans rows of each scan, by operation
 * @property {Map<number, string>} values of the rows that are written: their own
 */

/**
 * @param {Core} core
 * @param {{ dataset: Dataset, seed: number, ops: number }} context
 * @returns {Drawn}
 */
export function drawOperations({ share, rows: distribution }, { dataset, seed, ops }) {
  const { rows } = dataset;
  const keys =
    distribution === 'latest' ? drawLatest(rows, seed, ops) : drawZipfian(dataset, seed, ops);
  const random = createRandom(seed, KIND_STREAM);
  const kinds = Uint8Array.from(keys, () => drawKind(share, random() / 2 ** 32));
  const lengths = createRandom(seed, SCAN_STREAM);
  /** @type {number[][]} */
  const scans = [];
  /** @type {Map<number, string>} */
  const values = new Map();
  const most = Math.max(1, Math.floor(VALUES_CHARS_MAX / dataset.meanSize));
  /** @type {number[]} */
  const written = [];
  for (let i = 0; i < keys.length; i += 1) {
    const kind = KINDS[kinds[i]];
    if (kind === 'scan') {
      const length = Math.min(rows, 1 + drawBelow(lengths, SCAN_ROWS_MAX));
      const first = Math.min(keys[i], rows - length + 1);
      scans[i] = Array.from({ length }, (_, n) => first + n);
    }
    if (kind === 'read' || kind === 'scan') continue;
    if (written.length < most && !values.has(keys[i])) {
      values.set(keys[i], dataset.value(keys[i]));
      written.push(keys[i]);
    } else if (!values.has(keys[i])) keys[i] = written[i % written.length];
  }
  return { length: keys.length, kinds, keys, scans, values };
}

/**
 * @param {Dataset} dataset
 * @param {number} seed
 * @param {number} ops
 */
function drawZipfian({ rows, seed: spread }, seed, ops) {
  return drawKeys(rows, seed, ops, { keys: `zipf:${EXPONENT}`, spread });
}

/**
 * The last row is the latest and the most popular one.
 * @param {number} rows
 * @param {number} seed
 * @param {number} ops
 */
function drawLatest(rows, seed, ops) {
  const rank = createZipf(rows, EXPONENT, createRandom(seed, LATEST_STREAM));
  return Uint32Array.from({ length: Math.max(1, Math.min(ops, KEYS_MAX)) }, () => rows - rank());
}

/**
 * @param {Core['share']} share
 * @param {number} at 0 to 1
 * @returns {number} index of KINDS
 */
function drawKind(share, at) {
  let sum = 0;
  let last = 0;
  for (const [i, kind] of KINDS.entries()) {
    const { [kind]: own = 0 } = share;
    if (own === 0) continue;
    sum += own;
    last = i;
    if (at < sum) return i;
  }
  return last;
}
