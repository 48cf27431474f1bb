/**
 * Every strategy of a storage without separate processes: benchmarks of several storages run
 * concurrently in this process, to overlap their round trips.
 */

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { options } from '../../workloads/insert/plan.js';
import {
  numberOf,
  planSlices,
  requestsInFlight,
  rowsOfRequest,
  STRATEGIES,
} from '../../workloads/insert/strategies.js';
import { playHere, specOf, taskOf, valuesOf } from './contenders.js';

/** More than the requests in flight of any strategy. */
export const ROWS = 1200;
export const SEED = 7;

/** Sum of the numbers of all rows: the expected SUM(b). */
export function sumOfNumbers(rows = ROWS) {
  let sum = 0;
  for (let a = 1; a <= rows; a += 1) sum += numberOf(SEED, a);
  return sum;
}

/**
 * @param {string} storage name, or path of a file
 * @param {string} name name of the strategy
 * @param {{ address: import('../../lib/types.js').Address, folder: string, rows?: number, profile?:
 *   string, credentials?: Record<string, string> }} where credentials: paths of their files
 * @returns {Promise<import('../../engine/segment.js').Segment>}
 */
export function insertBy(storage, name, where) {
  const { address, folder, rows = ROWS, profile = 'default' } = where;
  const { credentials: credentialVariables = null } = where;
  const strategy = STRATEGIES[name];
  const batch = options['batch'].default[0];
  const size = rowsOfRequest(strategy, { rows, batch });
  const { length } = planSlices({ rows, size, workers: strategy.workers });
  const limits = { batches: options['inFlight'].default[0], window: options['window'].default };
  const inFlight = requestsInFlight(strategy, limits);
  const task = taskOf(
    { kind: 'window', inFlight, operations: length },
    {
      workload: 'insert',
      workloadOptions: { parameters: { strategy: name, batch } },
      warm: { kind: 'operations', operations: 2 },
      operations: length,
      stallNs: 20e9,
    },
  );
  const dataset = { rows, valueSize: 8, seed: SEED };
  const spec = specOf([task], { storage, profile, address, credentialVariables, dataset, folder });
  return playHere({ ...spec, isLong: true }, { operations: length, durationNs: null });
}

/**
 * @param {import('../../engine/segment.js').Segment} segment
 * @param {string} label
 * @param {number} [rows]
 */
export function assertAllRight(
  { state, failure, metrics, outcomes, scheduled },
  label,
  rows = ROWS,
) {
  assert.equal(failure, null, `${label}: ${failure?.message}`);
  assert.equal(state, 'measured', label);
  assert.equal(outcomes[0], scheduled, `${label}: every request was acknowledged`);
  const { right, lost, twice, wrong, acknowledged, refused, durability } = valuesOf(metrics);
  assert.deepEqual(
    { right, lost, twice, wrong, acknowledged, refused },
    { right: rows, lost: 0, twice: 0, wrong: 0, acknowledged: rows, refused: 0 },
    label,
  );
  assert.ok(String(durability).length > 5, `${label}: ${durability}`);
}

/**
 * Strategies with a fault, each in a separate storage file.
 * @typedef {Record<string, { strategy: string, change: string, message: RegExp }>} Broken by name
 */

/**
 * @param {string} base name of the real storage
 * @param {Broken} broken
 * @param {string} folder
 * @returns {string[]} files for --storages
 */
export function writeBroken(base, broken, folder) {
  return Object.entries(broken).map(([name, { strategy, change }]) => {
    writeFileSync(path.join(folder, `${name}.js`), brokenStorage(base, { name, strategy, change }));
    return `./${name}.js`;
  });
}

/**
 * @param {{ status: number | null, stdout: string }} ended outcome of the command with those files
 * @param {Broken} broken
 */
export function assertAllFailed({ status, stdout }, broken) {
  assert.equal(status, 5);
  for (const [name, { message }] of Object.entries(broken)) {
    const line = stdout.split('\n').find((text) => text.startsWith(`${name}_`));
    assert.match(line ?? '', message);
  }
}

/**
 * A storage file that wraps a real one, with a fault in its methods.
 * @param {string} base name of the real storage
 * @param {{ name: string, strategy: string, change: string }} broken change: code of a function
 *   from the real methods to the changed ones
 * @returns {string} text of the file
 */
function brokenStorage(base, { name, strategy, change }) {
  const root = new URL('../..', import.meta.url).href;
  return `
    import { defineStorage } from '${root}lib/define.js';
    import { storage as real } from '${root}storages/${base}.js';
    const change = ${change};
    export const storage = defineStorage({
      ...real,
      name: '${name}',
      inserts: { ${strategy}: 'broken' },
      open: {
        ...real.open,
        async insert(context) {
          const inserter = await real.open.insert(context);
          return { ...inserter, ways: change(inserter.ways) };
        },
      },
    });
  `;
}
