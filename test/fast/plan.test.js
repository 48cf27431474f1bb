/**
 * From options to a run: benchmarks, the order of rounds, accounts, and the exit status.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { statusOf } from '../../cli/status.js';
import { createProcesses } from '../../engine/contender-process.js';
import { planRun } from '../../engine/plan.js';
import { requestRun } from '../../engine/request.js';
import { runRace as runWith } from '../../engine/runner.js';
import { OK, TIMEOUT } from '../../lib/outcome.js';
import { readEnvironment } from '../../measure/environment.js';
import { toGroups } from '../../report/analysis/rows.js';
import { NO_SERVERS } from '../helpers/command-line.js';
import { fakeProcesses, rightSegment } from '../helpers/contenders.js';
import { withFolder } from '../helpers/folder.js';

/** @typedef {import('../../engine/contender-process.js').ProcessFactory} ProcessFactory */
/** @typedef {import('../../engine/contender.js').ContenderSpec} ContenderSpec */
/** @typedef {import('../../engine/runner.js').RunContext} RunContext */

const home = withFolder();

// By the environment: an address that a flag names must be there.
Object.assign(process.env, NO_SERVERS);

const machine = readEnvironment();

/**
 * @param {import('../../engine/plan.js').RunOptions} options
 * @param {RunContext} context
 */
function runRace(options, context) {
  return runWith(options, { ...context, environment: () => machine });
}

test('omitted options have one meaning', () => {
  const plan = planRun({});
  assert.deepEqual(plan.dataset, { rows: 100_000, valueSize: 1024, seed: 1 });
  assert.deepEqual([plan.rounds, plan.storages, plan.loads.length], [1, null, 1]);
  assert.deepEqual(
    [plan.loads[0].kind, plan.loads[0].inFlight, plan.loads[0].operations],
    ['window', 100, 50_000],
  );
});

/**
 * @param {string[]} log the storages, in the order in which their benchmarks were executed
 * @param {(spec: ContenderSpec) => boolean} [fails] its process ends
 * @returns {ProcessFactory}
 */
function fakes(log, fails = () => false) {
  return fakeProcesses((spec, { operations }) => {
    const [task] = spec.tasks;
    const isOverhead = task?.id.startsWith('overhead');
    const { storage, profile } = spec.storage;
    if (!isOverhead) log.push(`${storage}:${profile}/${task?.load.kind}`);
    if (!isOverhead && fails(spec)) {
      throw Object.assign(new Error('gone'), { code: 'E_BENCHMARK_PROCESS' });
    }
    return rightSegment(operations ?? 0, 1e6);
  });
}

const TWO = {
  storages: ['memory', 'memory:sync'],
  loads: [
    { kind: /** @type {const} */ ('sync'), operations: 10 },
    { kind: /** @type {const} */ ('window'), inFlight: 8, operations: 10 },
  ],
  rows: 20,
};

test('each benchmark is executed once per round, in the drawn order', async () => {
  /** @type {string[]} */
  const log = [];
  const processes = fakes(log);
  const result = await runRace({ ...TWO, home, rounds: 4, seed: 3 }, { processes });
  assert.equal(log.length, 16);
  const rounds = [0, 4, 8, 12].map((from) => log.slice(from, from + 4));
  for (const round of rounds) assert.equal(new Set(round).size, 4);
  assert.deepEqual(rounds[1], rounds[0].toReversed());
  assert.deepEqual(rounds[3], rounds[2].toReversed());
  for (const { rounds: own } of result.benchmarks) {
    assert.deepEqual(
      own.map(({ round }) => round),
      [0, 1, 2, 3],
    );
    assert.equal(own[0].position + own[1].position, 3);
  }
});

test('a benchmark that failed once has failed, and the others continue', async () => {
  let calls = 0;
  const processes = fakes([], ({ storage: { profile }, tasks: [task] }) => {
    if (profile !== 'sync' || task?.load.kind !== 'sync') return false;
    calls += 1;
    return calls === 1;
  });
  const result = await runRace({ ...TWO, home, rounds: 2 }, { processes });
  const states = Object.fromEntries(result.benchmarks.map(({ id, state }) => [id, state]));
  assert.deepEqual(states, {
    'memory:default/get/sync': 'measured',
    'memory:sync/get/sync': 'failed',
    'memory:default/get/window-8': 'measured',
    'memory:sync/get/window-8': 'measured',
  });
  const failed = result.benchmarks.find(({ state }) => state === 'failed');
  assert.equal(failed?.reason, 'gone');
  assert.deepEqual(
    failed?.rounds.map(({ state }) => state),
    ['failed', 'measured'],
  );
  assert.equal(statusOf(result), 5);
});

test('a benchmark with less than 99 % correct replies has a reason, and no speed', async () => {
  const wrongOf = (/** @type {number} */ timeouts, /** @type {any} */ load) => {
    const processes = fakeProcesses((_spec, { operations }) => {
      const segment = rightSegment(operations ?? 0, 1e6);
      segment.outcomes[TIMEOUT] += timeouts;
      segment.outcomes[OK] -= timeouts;
      return segment;
    });
    const options = { storages: ['memory'], loads: [load], rows: 20, home };
    return runRace(options, { processes });
  };
  const burst = { kind: 'burst', operations: 1000 };
  const enough = await wrongOf(10, burst);
  assert.equal(enough.benchmarks[0].state, 'measured');
  const few = await wrongOf(11, burst);
  const [{ state, reason, rounds }] = few.benchmarks;
  assert.deepEqual(
    [state, rounds[0].state, rounds[0].failure?.code],
    [...['failed', 'failed', 'E_REPLIES']],
  );
  assert.equal(
    reason,
    'no speed: 989 of 1000 requests had a correct reply, less than 99 % (11 timeout)',
  );
  assert.equal(rounds[0].outcomes.ok, 989, 'they are counted');
  const [{ rows }] = toGroups(few);
  assert.equal(rows[0].throughput, null);
  assert.equal(statusOf(few), 5);
  const rate = await wrongOf(500, { kind: 'rate', rate: 1000, operations: 1000 });
  assert.equal(rate.benchmarks[0].state, 'measured', 'of an open loop it is what was achieved');
});

test('--like-original sets only options that are not specified', async () => {
  for (const workload of ['async', 'sync']) {
    const planOf = async (/** @type {Record<string, unknown>} */ more) => {
      const { plan } = await requestRun({ workload, likeOriginal: true, ...more });
      return [plan.storages, plan.dataset.rows, plan.loads.map(({ operations }) => operations)];
    };
    const order = ['redis', 'ioredis', 'node-handlersocket', 'manual-hs'];
    assert.deepEqual(await planOf({}), [order, 1_000_000, [500_000]]);
    const own = { storages: ['ioredis'], rows: 20, ops: [50] };
    assert.deepEqual(await planOf(own), [['ioredis'], 20, [50]]);
  }
});

test('storages that cannot run are skipped with the reason and never executed', async () => {
  /** @type {string[]} */
  const log = [];
  const processes = fakes(log);
  const options = { ...TWO, storages: undefined, loads: [TWO.loads[0]], home };
  const result = await runRace(options, { processes });
  for (const { storage, profile, state, reason, hint, rounds } of result.benchmarks) {
    const ran = log.includes(`${storage}:${profile}/sync`);
    assert.deepEqual([storage, state], [storage, ran ? 'measured' : 'skipped']);
    assert.equal(rounds.length, ran ? 1 : 0);
    assert.equal(reason === null, ran);
    assert.equal(hint === null, ran);
  }
  assert.ok(log.includes('memory:default/sync'));
  assert.equal(statusOf(result), 4, 'no server was there');
  const named = { ...options, addresses: { redis: '127.0.0.1:1' } };
  await assert.rejects(runRace(named, { processes }), {
    code: 'E_TARGET',
    message: /redis: Redis at 127\.0\.0\.1:1: connection refused/,
  });
});

test('an embedded store that cannot be filled is skipped, or refused if it was named', async () => {
  const processes = fakes([]);
  const options = { ...TWO, loads: [TWO.loads[0]], home: '/proc/nowhere' };
  const result = await runRace({ ...options, storages: undefined }, { processes });
  const lmdb = result.benchmarks.find(({ storage }) => storage === 'lmdb');
  assert.deepEqual([lmdb?.state, lmdb?.rounds], ['skipped', []]);
  assert.match(lmdb?.reason ?? '', /rows could not be written: .*\/proc\/nowhere/);
  await assert.rejects(runRace({ ...options, storages: ['lmdb'] }, { processes }), {
    code: 'E_TARGET',
    message: /storage lmdb: its rows could not be written/,
  });
});

test('every benchmark has a separate process, and its counts are consistent', async () => {
  let started = 0;
  const start = createProcesses();
  /** @type {ProcessFactory} */
  const processes = (spec, events) => {
    started += 1;
    return start(spec, events);
  };
  const result = await runRace({ ...TWO, home, warmupOperations: 0 }, { processes });
  const benchmarks = result.benchmarks.flatMap(({ rounds }) => rounds);
  assert.equal(benchmarks.length, 4);
  assert.equal(started, 4 + 2); // and one for each kind of harnessOverhead
  for (const { outcomes, scheduled, processNs: whole, workNs, latency } of benchmarks) {
    assert.equal(scheduled, 10);
    assert.equal(
      Object.values(outcomes).reduce((sum, n) => sum + n, 0),
      scheduled,
    );
    assert.equal(latency?.count, outcomes.ok);
    assert.ok(whole !== null && workNs !== null && whole > workNs);
  }
});

describe('the exit status of a result', () => {
  /**
   * @param {Partial<import('../../lib/result.js').Round['outcomes']>} outcomes
   * @param {Partial<import('../../lib/result.js').Benchmark>} [fields]
   * @param {'complete' | 'aborted'} [state]
   */
  async function status(outcomes, fields = {}, state = 'complete') {
    const processes = fakes([]);
    const result = await runRace({ ...TWO, home }, { processes });
    Object.assign(result.benchmarks[1].rounds[0].outcomes, outcomes);
    Object.assign(result.benchmarks[1], fields);
    return statusOf({ ...result, state });
  }

  test('is 0 if every reply was correct', async () => {
    assert.equal(await status({}), 0);
  });

  for (const outcome of ['miss', 'mismatch', 'error', 'timeout', 'dropped', 'unsent']) {
    test(`is 5 for one ${outcome}`, async () => {
      assert.equal(await status({ [outcome]: 1 }), 5);
    });
  }

  test('is 5 if a benchmark failed, 4 if nothing could run', async () => {
    assert.equal(await status({}, { state: 'failed' }), 5);
    const processes = fakes([]);
    const result = await runRace({ ...TWO, home }, { processes });
    for (const benchmark of result.benchmarks)
      Object.assign(benchmark, { state: 'skipped', rounds: [] });
    assert.equal(statusOf(result), 4);
  });

  test('is not 5 for operations unsent after an abort', async () => {
    assert.equal(await status({ unsent: 4 }, { state: 'aborted' }, 'aborted'), 0);
  });
});
