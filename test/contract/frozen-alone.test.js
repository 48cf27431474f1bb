/**
 * Runs without a server whose results were frozen: counts, identifiers, states, failures, roles,
 * columns and metrics stay as they are, whatever measures. Those that need servers are in
 * frozen.test.js; the normal form is that of test/helpers/frozen.js.
 */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { run } from '../../index.js';
import { parseResult } from '../../lib/parse-result.js';
import { callIn, eventually, startCommand } from '../helpers/command-line.js';
import { withFolder } from '../helpers/folder.js';
import { assertFrozen } from '../helpers/frozen.js';
import { writeTurning } from '../helpers/turning-driver.js';

const PLANNED = fileURLToPath(new URL('../helpers/planned-answers.js', import.meta.url));
const folder = withFolder();

/** @param {Record<string, unknown>} options */
const runWith = (options) =>
  run(
    /** @type {any} */ ({ rows: 300, valueSize: 64, seed: 7, home: `${folder}/state`, ...options }),
  );
const planned = (/** @type {string[]} */ ...profiles) =>
  profiles.map((profile) => `${PLANNED}:${profile}`);

const FETCHES = { workload: 'mget', storages: ['memory', 'memory:sync'], rounds: 2 };

/**
 * @typedef {Parameters<typeof assertFrozen>[2] & Record<string, unknown>} Frozen options of a run,
 *   and what of it is exact
 * @type {Record<string, Frozen>} by name and title
 */
const RUNS = {
  'burst: outcomes of every kind, a process that dies, a reply without a promise': {
    storages: ['memory', 'memory:sync', ...planned('wrong', 'dies')],
    loads: [
      { kind: 'burst', operations: 500 },
      { kind: 'window', inFlight: 8, operations: 500 },
    ],
    rounds: 2,
    warmupOperations: 400,
  },
  'rate: constant and Poisson arrivals, dropped ones and timeouts': {
    storages: ['memory', ...planned('slow', 'silent')],
    loads: [
      { kind: 'rate', rate: 2000, operations: 600 },
      { kind: 'rate', rate: 1000, operations: 500, arrivals: 'poisson', maxInFlight: 300 },
    ],
    warmupOperations: 100,
    timeoutMs: 1000,
    isExact: ({ profile }) => profile === 'default',
  },
  'continue: a connection that is lost and opened again': {
    storages: ['memory', ...planned('lost')],
    loads: [{ kind: 'rate', rate: 500, durationMs: 2000, onOutage: 'continue' }],
    warmupOperations: 100,
    isExact: ({ storage }) => storage === 'memory',
  },
  'codec: contenders that are no storages, by slices': {
    workload: 'codec',
    test: 'decoding',
    protocols: ['messagepack'],
    fixtures: ['select-16'],
    rounds: 2,
    precision: 0.03,
    budget: 3000,
    rows: undefined,
    valueSize: undefined,
  },
  'mget: series of each number of keys by slices, with the pipelined way': {
    ...FETCHES,
    test: 'concurrency',
    counts: [1, 20],
    inFlight: 8,
    pipelined: true,
    budget: 2000,
  },
  'scatter: each fetch with its own number of keys, whole': {
    ...FETCHES,
    test: 'scatter',
    minKeys: 1,
    maxKeys: 40,
    cycles: 2,
    warmupOperations: 20,
  },
  'crud: inserts, deletions and what is read back, over two processes': {
    workload: 'crud',
    mix: 'get:50,set:10,scan:10,insert:10,del:8,hget:7,hset:5',
    storages: ['memory'],
    loads: [
      { kind: 'window', inFlight: 8, operations: 2000, processes: 2 },
      { kind: 'sync', operations: 1000 },
    ],
    rounds: 2,
    warmupOperations: 100,
  },
};

for (const [title, { isExact, ...options }] of Object.entries(RUNS)) {
  test(title, async () =>
    assertFrozen(title.slice(0, title.indexOf(':')), await runWith(options), { isExact }),
  );
}

test('--against: another version of a driver in the same rounds, and gates on it', async () => {
  writeTurning(folder, {
    'node_modules/turning-driver': ['2.0.0', 1],
    old: ['1.4.2', 3000],
  });
  const runs = /** @type {[string, number, string[]][]} */ ([
    // A limit far from the ratio of about 0.01: one block a round decides on a busy machine, too.
    ['against', 6, ['--budget', '3s', '--rounds', '3', '--fail-if', 'throughput<4.9']],
    // A percentile needs operations: a busy machine has too few of them in a time.
    [
      'against-ops',
      0,
      ['--ops', '1000', '--warmup', '100', '--rounds', '3', '--fail-if', 'p50>1000s'],
    ],
  ]);
  for (const [name, expected, amount] of runs) {
    const { status, stderr } = await callIn(folder, [
      ...['bin/dragstrip.js', 'race', '--storages', './turning.mjs', '--in-flight', '10'],
      ...['--against', './old', '--rows', '50', '--json', `${name}.json`, '--quiet', ...amount],
      ...['--fail-if', 'throughput<0.001/s'],
    ]);
    assert.equal(status, expected, stderr);
    await assertFrozen(name, stored(`${name}.json`));
  }
});

/** @param {string} file */
const stored = (file) => parseResult(readFileSync(path.join(folder, file), 'utf8'), file);

/**
 * @param {string} name
 * @param {string[]} words words of the command
 * @param {(result: import('../../lib/result.js').Result) => boolean} isDue
 */
async function runKilled(name, words, isDue) {
  const file = `${name}.json`;
  const { child, ended } = startCommand(folder, ['bin/dragstrip.js', ...words, '--json', file]);
  const isKept = () => {
    try {
      return isDue(stored(file));
    } catch {
      return false; // reserved, and empty until the first second
    }
  };
  try {
    await eventually(isKept, 'a part that is stored', 60_000);
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
  await assertFrozen(name, stored(file));
}

test('killed: a load keeps its figures until its last second', async () => {
  const load = ['--rate', '500', '--duration', '60s', '--rows', '100'];
  const storages = ['--storages', `memory,${PLANNED}:slow`, '--warmup', '50'];
  const isDue = (/** @type {import('../../lib/result.js').Result} */ { benchmarks: [first] }) =>
    (first.rounds[0]?.outcomes.ok ?? 0) > 0;
  await runKilled('killed', ['run', ...storages, ...load], isDue);
});

test('killed by slices: the current round is aborted', async () => {
  const storages = ['--storages', planned('default', 'slow').join(), '--rows', '100'];
  const load = ['--budget', '10m', '--in-flight', '1', '--anyway'];
  await runKilled('killed-slices', ['race', ...storages, ...load], ({ benchmarks }) =>
    benchmarks.some(({ rounds }) => rounds.some(({ state }) => state === 'aborted')),
  );
});
