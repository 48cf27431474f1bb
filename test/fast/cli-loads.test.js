/** From options of the command line to loads, rates and ramps. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LOAD_OPTIONS } from '../../engine/load-options.js';
import { loadLabel, loadLabels, trialLoad } from '../../engine/loads.js';
import { planRun } from '../../engine/plan.js';
import { parseRamp, parseRate } from '../../engine/rates.js';
import { takeOption } from '../../lib/options.js';
import { workload as get } from '../../workloads/get/index.js';
import { loadWorkload } from '../../workloads/index.js';

/** @type {Record<string, import('../../lib/types.js').WorkloadDefinition>} */
const COMMANDS = {
  race: await loadWorkload('race'),
  async: await loadWorkload('async'),
  sync: await loadWorkload('sync'),
};

/**
 * @param {Record<string, any>} given whole loads: with one round
 * @param {string} [command]
 */
function plan(given, command = 'race') {
  const rounds = given['search'] || command !== 'race' ? {} : { rounds: 1 };
  return planRun({ command, workload: command, ...rounds, ...given }, COMMANDS[command]);
}

/** @param {Record<string, any>} given */
function kinds(given, command = 'race') {
  return plan(given, command).loads.map(loadLabel);
}

test('a race has the same loads for any amount; both runners have those of the original program', () => {
  for (const amount of [
    ...[{}, { rounds: 4 }, { ops: [5000] }, { duration: 10_000 }, { warmupOperations: 5000 }],
    ...[{ precision: 0.1, rounds: 4 }, { budget: 9e5, rounds: 4 }, { pin: true }],
  ]) {
    assert.deepEqual(kinds(amount), ['sync', 'window-100'], JSON.stringify(amount));
  }
  const { loads } = plan({ duration: 10_000 });
  assert.ok(loads.every(({ operations, durationNs }) => !operations && durationNs === 10e9));
  assert.deepEqual(kinds({ inFlight: [64] }), ['sync', 'window-64']);
  assert.deepEqual(kinds({}, 'async'), ['burst']);
  assert.deepEqual(kinds({ inFlight: [8, 9] }, 'async'), ['window-8', 'window-9']);
  assert.deepEqual(kinds({}, 'sync'), ['sync']);
});

test('--load names one of the four', () => {
  assert.deepEqual(kinds({ load: 'sync' }), ['sync']);
  assert.deepEqual(kinds({ load: 'window' }), ['window-100']);
  assert.deepEqual(kinds({ load: 'window', inFlight: 7 }), ['window-7']);
  assert.deepEqual(kinds({ load: 'burst', ops: 10 }), ['burst']);
  assert.deepEqual(kinds({ load: 'rate', rate: 2000 }), ['rate-2000']);
});

test('several numbers of operations are separate loads with different names', () => {
  const { loads } = plan({ ops: [50_000, 500_000] }, 'async');
  assert.deepEqual(
    loads.map(({ operations }) => operations),
    [50_000, 500_000],
  );
  assert.deepEqual(loads.map(loadLabels(loads)), ['burst-of-50000', 'burst-of-500000']);
  const once = plan({ ops: 50_000 }, 'async').loads;
  assert.deepEqual(once.map(loadLabels(once)), ['burst'], 'one alone is called what it was');
  const raced = plan({ ops: [10, 20], inFlight: [8] }).loads;
  assert.deepEqual(raced.map(loadLabels(raced)), [
    ...['sync-of-10', 'window-8-of-10', 'sync-of-20', 'window-8-of-20'],
  ]);
  const { loads: rates } = plan({ ramp: [1000, 2000], ops: [100, 200] });
  assert.equal(rates.length, 4);
});

test('--rate alone is an open loop of ten seconds with constant arrivals', () => {
  assert.deepEqual(plan({ rate: 2000 }).loads, [
    {
      kind: 'rate',
      inFlight: null,
      operations: null,
      durationNs: 10e9,
      rate: 2000,
      arrivals: 'constant',
      maxInFlight: 10_000,
    },
  ]);
  const [load] = plan({ rate: 5, arrivals: 'poisson', ops: 7, maxInFlight: 3 }).loads;
  assert.deepEqual(load, {
    kind: 'rate',
    inFlight: null,
    operations: 7,
    durationNs: null,
    rate: 5,
    arrivals: 'poisson',
    maxInFlight: 3,
  });
});

test('a ramp is an open loop at each rate', () => {
  assert.deepEqual(kinds({ ramp: [1000, 2000] }), ['rate-1000', 'rate-2000']);
  assert.deepEqual(parseRamp('1k:5k:2k', '--ramp'), [1000, 3000, 5000]);
  assert.deepEqual(parseRamp('0.1:0.5:0.1', '--ramp'), [0.1, 0.2, 0.3, 0.4, 0.5]);
  assert.deepEqual(parseRamp('2k,500,2k', '--ramp'), [500, 2000]);
  for (const text of ['1k:2k', '2k:1k:100', '1:2:0', 'x', '1:1000:1', '', '1:2:3:4']) {
    assert.throws(() => parseRamp(text, '--ramp'), { code: 'E_USAGE' }, text);
  }
});

test('--on-outage continue is stored in the load, and needs a workload that reads rows', async () => {
  const [kept] = plan({ rate: 5, onOutage: 'continue' }).loads;
  assert.equal(kept.onOutage, 'continue');
  const [usual] = plan({ rate: 5, onOutage: 'stop' }).loads;
  assert.equal(Object.hasOwn(usual, 'onOutage'), false);
  const workload = { ...COMMANDS['sync'], needs: /** @type {any} */ (['lock']) };
  const options = {
    command: 'own',
    workload: './own.js',
    rounds: 1,
    rate: 5,
    onOutage: 'continue',
  };
  assert.throws(() => planRun(/** @type {any} */ (options), workload), {
    code: 'E_USAGE',
    message: /reads no rows/,
  });
});

test('--find-max is a search that starts with its first rate', () => {
  const { findMax, loads } = plan({ search: true, p99: 5, rate: 12_345 });
  assert.equal(findMax?.limitNs, 5e6);
  assert.equal(findMax?.percentile, 0.99);
  assert.deepEqual(loads.map(loadLabel), ['rate-12350']);
  // A trial has the requested duration, and has what its percentile needs at least.
  assert.ok(findMax !== null);
  assert.equal(trialLoad(findMax, 10_000).operations, 30_000);
  assert.equal(trialLoad(findMax, 10).operations, 1500);
});

test('rates and times are read with their units', () => {
  assert.equal(parseRate('10k', '--rate'), 10_000);
  assert.equal(parseRate('2.5k', '--rate'), 2500);
  assert.equal(parseRate('1M', '--rate'), 1e6);
  assert.equal(parseRate('0.5', '--rate'), 0.5);
  for (const text of ['', '0', '-1', '1e3', '11M', '1kk', 'fast']) {
    assert.throws(
      () => parseRate(text, '--rate'),
      { code: 'E_USAGE', message: /not a rate/ },
      text,
    );
  }
  const p99 = (/** @type {string} */ text) =>
    takeOption('p99', LOAD_OPTIONS['p99'], text, { asText: true });
  assert.equal(p99('500us'), 0.5);
  assert.equal(p99('5ms'), 5);
});

test('key distributions and mixes are passed to the workload, and a mix selects the workload mix', () => {
  const read = plan({ keys: 'zipf:1.2' });
  assert.deepEqual([read.workload, read.workloadOptions], ['get', { keys: 'zipf:1.2' }]);
  const mix = plan({ mix: 'get:9,set:1' });
  assert.deepEqual([mix.workload, mix.workloadOptions], ['mix', { mix: 'get:9,set:1' }]);
  assert.throws(() => plan({ keys: 'pareto' }), { code: 'E_USAGE', message: /key distribution/ });
  const more = plan({ mix: 'get:9,del:1' });
  assert.deepEqual([more.workload, more.workloadOptions], ['crud', { mix: 'get:9,del:1' }]);
  assert.throws(() => plan({ mix: 'get:9,drop:1' }), { code: 'E_USAGE', message: /mix/ });
  const named = () => planRun({ workload: 'get', mix: 'get:1' }, get);
  assert.throws(named, { code: 'E_USAGE' });
});

describe('incompatible options are refused in one line', () => {
  for (const [options, message] of /** @type {[Record<string, any>, RegExp][]} */ ([
    [{ load: 'rate' }, /--load rate needs --rate/],
    [{ rate: 5, load: 'window' }, /open loop/],
    [{ rate: 5, inFlight: 3 }, /--in-flight/],
    [{ arrivals: 'poisson' }, /--arrivals/],
    [{ onOutage: 'continue' }, /--on-outage/],
    [{ search: true, p99: 5, onOutage: 'continue' }, /--find-max and --on-outage/],
    [{ maxInFlight: 5, load: 'window' }, /--max-in-flight/],
    [{ load: 'sync', inFlight: 5 }, /window/],
    [{ load: 'burst', duration: 1000 }, /no duration/],
    [{ load: 'burst', ops: 1e8 }, /the maximum/],
    [{ search: true }, /requires a limit/],
    [{ p99: 5 }, /--p99 requires/],
    [{ search: true, p99: 5, ramp: [1] }, /--ramp/],
    [{ search: true, p99: 5, rounds: 3 }, /--rounds/],
    [{ search: true, p99: 5, ops: 3 }, /--duration|--ops/],
    [{ search: true, p99: 5, load: 'burst' }, /open loop/],
    [{ ramp: [1, 2], rate: 3 }, /--rate/],
    [{ ramp: [1, 2], load: 'sync' }, /open loop/],
  ])) {
    test(JSON.stringify(options), () => {
      assert.throws(
        () => plan(options),
        (error) => {
          const { code, message: text } = /** @type {any} */ (error);
          assert.equal(code, 'E_USAGE');
          assert.match(text, message);
          assert.doesNotMatch(text, /\n/);
          return true;
        },
      );
    });
  }
});
