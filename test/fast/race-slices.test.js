/** A run by slices from options to result: its conditions, refusals and stored fields. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { planRun } from '../../engine/plan.js';
import { run } from '../../index.js';
import { resultSchema } from '../../lib/result.js';
import { loadReport } from '../../report/index.js';
import { workload } from '../../workloads/get/index.js';
import { loadWorkload } from '../../workloads/index.js';

const LOADS = [
  { kind: /** @type {const} */ ('sync') },
  { kind: /** @type {const} */ ('window'), inFlight: 20 },
];

/**
 * @param {string} command
 * @param {Record<string, any>} given
 */
async function slicesOf(command, given) {
  return planRun({ workload: command, ...given }, await loadWorkload(command)).slices;
}

describe('the command line', () => {
  test('races by slices until precise enough, or in rounds of the specified amount', async () => {
    const all = { precision: 0.03, budgetNs: 75e9, placement: 'auto' };
    const usual = { ...all, rounds: null, isFixed: false };
    const waits = { ...usual, waitNs: 60e9 };
    assert.deepEqual(await slicesOf('race', {}), waits);
    assert.deepEqual(await slicesOf('race', { anyway: true }), usual);
    const gated = await slicesOf('race', { failIf: ['p99>5ms'] });
    assert.equal(gated?.budgetNs, 120e9);
    const warm = { ...waits, warmupOperations: 9 };
    assert.deepEqual(await slicesOf('race', { warmupOperations: 9 }), warm);
    const options = { rounds: 4, precision: 0.1 };
    assert.deepEqual(await slicesOf('race', options), { ...usual, rounds: 4, precision: 0.1 });
    assert.deepEqual(await slicesOf('race', { rounds: 1 }), { ...usual, rounds: 1 });
    const amounts = [{ duration: 5, inFlight: [3] }, { processes: [2] }, { ops: 50, agents: 2 }];
    for (const own of [{ ops: 50 }, ...amounts]) {
      const fixed = { ...all, rounds: 5, isFixed: true };
      assert.deepEqual(await slicesOf('race', own), fixed, JSON.stringify(own));
    }
    for (const own of [{ load: 'burst' }, { rate: 5 }, { mix: 'get:1' }, { processes: [1, 2] }]) {
      assert.equal(await slicesOf('race', own), undefined, JSON.stringify(own));
    }
  });

  test('both runners do so with more than one round, never for a burst', async () => {
    assert.equal(await slicesOf('sync', {}), undefined);
    assert.equal((await slicesOf('sync', { rounds: 3 }))?.rounds, 3);
    assert.equal(await slicesOf('async', { rounds: 3 }), undefined);
    assert.equal((await slicesOf('async', { rounds: 3, inFlight: [10] }))?.rounds, 3);
    assert.equal(await slicesOf('get', { rounds: 3 }), undefined);
  });

  test('refuses a precision beside a fixed amount, and names the option', async () => {
    const refused = async (/** @type {object} */ given, /** @type {RegExp} */ message) =>
      assert.rejects(slicesOf('race', given), { code: 'E_USAGE', message });
    await refused({ ops: 50, precision: 0.1 }, /--ops fixes the amount/);
    await refused({ rate: 50, budget: 9 }, /an open loop/);
    await refused({ load: 'burst', budget: 9 }, /a burst/);
    await refused({ load: 'burst', placement: 'free' }, /--placement needs a window/);
    await refused({ rounds: 1, precision: 0.1 }, /two rounds/);
  });
});

describe('a plan', () => {
  test('accepts precision and budget as texts and as values', () => {
    const options = { loads: LOADS, precision: '2.5%', budget: 30_000 };
    const { slices, loads } = planRun(options, workload);
    const usual = { rounds: null, isFixed: false, placement: 'auto' };
    assert.deepEqual(slices, {
      precision: 0.025,
      budgetNs: 30e9,
      hasBudget: true,
      ...usual,
      waitNs: 60e9,
    });
    assert.ok(loads.every(({ operations, durationNs }) => operations === null && !durationNs));
    assert.equal(planRun({ loads: LOADS }, workload).slices, undefined);
  });

  test('refuses unsliceable loads', () => {
    const burst = [{ kind: /** @type {const} */ ('burst') }];
    assert.throws(() => planRun({ loads: burst, precision: 0.1 }, workload), /a burst runs whole/);
    const fixed = [{ kind: /** @type {const} */ ('sync'), operations: 5 }];
    assert.throws(() => planRun({ loads: fixed, precision: 0.1 }, workload), /fixed by hand/);
    assert.throws(() => planRun({ loads: LOADS, precision: 'a' }, workload), /not a percentage/);
  });
});

test('a run stores rounds, slices and accounting, and its report begins with a verdict', async () => {
  /** @type {string[]} */
  const events = [];
  const result = await run(
    {
      storages: ['lmdb', 'memory'],
      loads: [...LOADS, { kind: 'window', inFlight: 5 }],
      rows: 200,
      rounds: 2,
      precision: 0.03,
      budget: 4000,
      placement: 'free',
    },
    { onEvent: ({ type }) => events.push(type) },
  );
  resultSchema.parse(JSON.parse(JSON.stringify(result)));
  assert.equal(result.state, 'complete');
  assert.ok(events.includes('comparison') && events.filter((x) => x === 'round-end').length === 2);
  for (const { id, rounds, state } of result.benchmarks) {
    assert.equal(state, 'measured', id);
    assert.equal(rounds.length, 2);
    for (const { scheduled, outcomes, latency, compared, client } of rounds) {
      assert.ok(Number(client?.allocatedBytes) > 0 && Number(client?.gcNs) >= 0, id);
      const sum = Object.values(outcomes).reduce((all, n) => all + n, 0);
      assert.equal(sum, scheduled);
      assert.equal(latency?.count, outcomes.ok);
      assert.equal(compared?.replies, outcomes.ok);
    }
  }
  const { comparison } = result;
  assert.ok(comparison !== undefined && comparison.stopped === 'rounds');
  assert.equal(comparison.blocks.length, 2);
  assert.equal(comparison.unfinished, undefined);
  for (const { contenders, garbage } of comparison.loads) {
    assert.equal(garbage, 'own');
    for (const { name, rounds } of contenders) {
      assert.deepEqual(
        rounds.map(({ charged }) => charged),
        [true, true],
        name,
      );
    }
  }
  assert.equal(comparison.loadAverages?.length, 2);
  const groups = comparison.loads[0].contenders.map(({ group }) => group);
  assert.deepEqual(groups.sort(), ['again', 'embedded', 'overhead']);
  assert.deepEqual(
    result.harnessOverhead.map(({ load, inFlight }) => [load, inFlight]),
    [
      ['sync', undefined],
      ['window', 20],
      ['window', 5],
    ],
  );
  const { render } = await loadReport('console');
  const text = render(result);
  assert.match(text, /\n\nlmdb, 1 in flight: [\d,]+ ops\/s (± [\d.>]+ %|\(.*\))\./);
  assert.match(text, /A\/A: lmdb twice +[\d.]+ (± .* %|\(.*\))/);
  assert.match(text, /time in segments that count +[\d.]+ % of [\d.]+ s +[\d.]+ % of/);
  assert.doesNotMatch(text, /ratios are of/);
  const lmdb = comparison.loads[0].contenders.find(({ name }) => name === 'lmdb');
  Object.assign(lmdb?.rounds[1] ?? {}, { charged: false });
  assert.match(
    render(result, { width: 300 }),
    /ratios are of +trimmed means: garbage of lmdb unknown/,
  );
});

test('a budget too short for a race is refused before the start', async () => {
  const given = { storages: ['lmdb', 'memory'], loads: LOADS, rows: 200, precision: 0.1 };
  await assert.rejects(run({ ...given, budget: 500 }), {
    code: 'E_USAGE',
    message: /^--budget 0.5s: 4 benchmarks take at least 3 s/,
  });
});

test('a stopped run keeps its complete rounds', async () => {
  const stop = new AbortController();
  const result = await run(
    {
      storages: ['lmdb'],
      loads: LOADS.slice(0, 1),
      rows: 200,
      precision: 0.001,
      budget: 60_000,
      anyway: true,
    },
    {
      signal: stop.signal,
      onEvent: ({ type }) => type === 'round-end' && stop.abort(),
    },
  );
  assert.equal(result.state, 'aborted');
  assert.equal(result.benchmarks[0].rounds.length, 1);
  assert.equal(result.benchmarks[0].state, 'measured');
  assert.equal(result.comparison?.stopped, 'aborted');
});
