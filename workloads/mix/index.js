/**
 * Weighted mixes of operations on single rows, `get:95,set:5`, each operation's kind drawn from the
 * seed. `mix` reads and writes the rows of the race; `crud` has temporary rows, removed after the
 * run, and therefore also scans, inserts, deletes and reads back.
 */

import { defineWorkload, metricRules } from '../../lib/define.js';
import { workload as get } from '../get/index.js';
import { drawKeys } from '../get/keys.js';
import { options, planOf } from '../get/plan.js';
import { rowsNamespace } from '../rows-namespace.js';
import { prepareMix } from './operations.js';
import { CRUD_DEFAULT, kindsOf, MIX_DEFAULT, parseMix } from './weights.js';

/** @typedef {import('../../lib/types.js').RowOperation} RowOperation */

/** Row operations that each kind needs. @type {Readonly<Record<string, RowOperation[]>>} */
const NEEDED = Object.freeze({
  scan: ['scan'],
  insert: ['add', 'del'],
  del: ['add', 'del'],
  hget: ['hash'],
  hset: ['hash'],
});
/** @type {Readonly<Record<string, string>>} */
const WORDS = Object.freeze({
  scan: 'scans of adjacent rows',
  add: 'inserts of single rows',
  del: 'deletions',
  hash: 'hashes',
  expire: 'rows that expire',
});

/**
 * @param {string} usual weights
 * @param {boolean} owns whether its rows are temporary
 * @returns {import('../../lib/types.js').Prepare}
 */
function preparing(usual, owns) {
  return (context) => {
    const { dataset, seed, ops, options } = context;
    const { mix = usual, ttlMs, keys: distribution } = /** @type {any} */ (options);
    const keys = drawKeys(dataset.rows, seed, ops, { keys: distribution, spread: dataset.seed });
    return prepareMix(context, { weights: parseMix(mix), keys, ttlMs, owns });
  };
}

export const workload = defineWorkload({
  name: 'mix',
  needs: ['get', 'set'],
  loads: true,
  options,
  plan: planOf('mix'),
  slices: true,
  serverOperations: 1,
  check: get.prepare,
  prepare: preparing(MIX_DEFAULT, false),
});

export const crud = defineWorkload({
  ...workload,
  name: 'crud',
  plan: planOf('crud'),
  namespace: { ...rowsNamespace('crud'), grows: true },
  metricRules: metricRules({
    sum: [
      ...['readBackSets', 'readBackHashes', 'readBackInserts', 'readBackDeletions'],
      ...['readBackAlive', 'readBackExpired'],
    ],
  }),
  offers({ name, rows = [] }, { mix = CRUD_DEFAULT, ttlMs }) {
    const needed = kindsOf(parseMix(String(mix))).flatMap((kind) => NEEDED[kind] ?? []);
    const all = ttlMs === undefined ? needed : ['expire', ...needed];
    const lacking = all.find((one) => !rows.some((has) => has === one));
    if (lacking === undefined) return true;
    return {
      reason: `${name} has no ${WORDS[lacking]}`,
      hint: 'leave it out, or remove the operation from --mix',
    };
  },
  prepare: preparing(CRUD_DEFAULT, true),
});
