/** The registry of workloads, one of a file, and YCSB on the memory storage. */

import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, test } from 'node:test';
import { run } from 'dragstrip';
import { toLimitOptions } from '../../cli/commands/limit.js';
import { COMMAND_OPTIONS } from '../../cli/options.js';
import { detailsOf } from '../../cli/run-details.js';
import { loadLabel } from '../../engine/loads.js';
import { optionsOf } from '../../engine/options.js';
import { planRun } from '../../engine/plan.js';
import { createDataset } from '../../lib/dataset.js';
import { defaultIn, takeOptions } from '../../lib/options.js';
import { loadReports, loadWorkload, WORKLOAD_NAMES, WORKLOADS } from '../../workloads/index.js';
import { CORES, workload as ycsb } from '../../workloads/ycsb/index.js';
import { withCommands } from '../helpers/command-folder.js';
import { assertFailure, callCommand, ROOT } from '../helpers/command-line.js';
import { assertAllOk, runHere } from '../helpers/run-here.js';

const { callHere, folder } = withCommands();

test('the list of commands has the summary of each workload, and every workload has a report', async () => {
  const { stdout } = await callCommand(['bin/dragstrip.js', '--help']);
  const text = stdout.replace(/\s+/g, ' ');
  const commands = Object.entries(WORKLOADS).filter(([, { isCommand }]) => isCommand);
  assert.ok(commands.length > 3);
  for (const [name, { summary }] of commands) {
    assert.equal((await loadWorkload(name)).summary, summary);
    assert.ok(text.includes(`${name} ${summary}`), name);
  }
  assert.deepEqual([...(await loadReports()).keys()], [...WORKLOAD_NAMES]);
});

test('the help of each command names every option once, with the default of a run', async () => {
  const names = Object.entries(WORKLOADS).flatMap(([name, { presets = {} }]) => [
    ...[name, ...Object.keys(presets)],
  ]);
  assert.ok(names.includes('race') && names.includes('ycsb-a'));
  for (const name of names) {
    const { options } = await detailsOf(name);
    const flags = options.map((row) => /--[a-z-]+/.exec(row.flags)?.[0]);
    assert.deepEqual(
      flags.filter((flag, i) => flags.indexOf(flag) !== i),
      [],
      name,
    );
  }
  const rounds = async (/** @type {string} */ name) =>
    (await detailsOf(name)).options.find(({ flags }) => flags.startsWith('--rounds'))?.shown;
  assert.match(String(await rounds('race')), / 5$/);
  assert.match(String(await rounds('sync')), /^1$/);
  assert.match(String(await rounds('ycsb-f')), /^3$/);
  for (const [name, rows] of Object.entries(COMMAND_OPTIONS)) {
    assert.equal(new Set(rows.map(({ flags }) => flags)).size, rows.length, name);
  }
});

test('loads are options of every workload that does not fix them: --rate on ycsb-a', async () => {
  const plan = async (/** @type {string} */ workload, /** @type {Record<string, any>} */ given) =>
    planRun({ workload, ...given }, await loadWorkload(workload));
  const labels = (/** @type {import('../../engine/plan.js').RunPlan} */ { loads }) =>
    loads.map(loadLabel);
  const core = await plan('ycsb-a', { rate: 5000 });
  assert.deepEqual([core.workload, labels(core)], ['ycsb', ['rate-5000']]);
  assert.deepEqual(
    core.variants?.map(({ parameters }) => parameters),
    [{ core: 'a' }],
  );
  assert.deepEqual(labels(await plan('ycsb', {})), ['sync', 'window-64']);
  assert.deepEqual(labels(await plan('ycsb', { inFlight: [1, 8] })), ['sync', 'window-8']);
  assert.deepEqual(labels(await plan('mix', { inFlight: [2, 4] })), ['window-2', 'window-4']);
  assert.deepEqual(labels(await plan('get', { ramp: [10, 20] })), ['rate-10', 'rate-20']);
  const both = plan('get', { rate: 10, loads: [{ kind: 'sync' }] });
  await assert.rejects(both, { code: 'E_USAGE', message: /rate cannot be combined with loads/ });
  await assert.rejects(plan('insert', { rate: 10 }), { message: /unknown option rate/ });
});

test('limit accepts several numbers in flight; all at once only by default', () => {
  const labels = (/** @type {Record<string, any>} */ given) =>
    planRun(toLimitOptions(given)).loads.map(loadLabel);
  assert.deepEqual(labels({}), ['sync', 'window-100', 'window-1000', 'burst']);
  assert.deepEqual(labels({ inFlight: [8, 16] }), ['sync', 'window-8', 'window-16']);
});

test('every default is valid for its option, and is in the help', async () => {
  for (const name of WORKLOAD_NAMES) {
    const table = optionsOf(await loadWorkload(name));
    for (const [option, { default: value, shown }] of Object.entries(table)) {
      if (value === undefined) continue;
      const taken = takeOptions(
        { [option]: { ...table[option], tests: undefined } },
        { [option]: value },
      );
      assert.ok(taken[option] !== undefined, `${name} ${option}`);
      assert.ok(defaultIn(table[option]), `${name} ${option} ${shown}`);
    }
  }
});

describe('YCSB', () => {
  const dataset = createDataset({ rows: 1000, valueSize: 16, seed: 1 });
  const ops = 20_000;

  /** @param {string} core @returns {any[][]} calls of 20,000 operations, in order */
  function callsOf(core) {
    /** @type {any[][]} */
    const calls = [];
    const call =
      (/** @type {string} */ kind) =>
      (/** @type {any[]} */ ...words) =>
        calls.push([kind, ...words]);
    const handle = {
      get: call('get'),
      set: call('set'),
      mget: call('fetch'),
      close: call('close'),
    };
    const options = { parameters: { core } };
    const bound = ycsb.prepare({ dataset, seed: 7, ops, options })(handle, 'sync');
    for (let i = 0; i < ops; i += 1) bound.op(i);
    return calls;
  }

  for (const [core, { share }] of Object.entries(CORES)) {
    test(`${core} has its shares of operations, the same for the same seed`, () => {
      const calls = callsOf(core);
      const { get = 0, set = 0, fetch = 0, modify = 0 } = share;
      for (const [kind, weight] of Object.entries({
        get: get + modify,
        set: set + modify,
        fetch,
      })) {
        const found = calls.filter(([one]) => one === kind).length / ops;
        assert.ok(Math.abs(found - weight) < 0.02, `${kind}: ${found}`);
      }
      assert.deepEqual(callsOf(core), calls);
      for (const [kind, id, text] of calls) {
        if (kind === 'set') assert.equal(text, dataset.value(id));
        if (kind !== 'fetch') continue;
        assert.ok(id.length <= 100 && id[0] >= 1 && id.at(-1) <= dataset.rows);
        assert.equal(id.at(-1) - id[0], id.length - 1, 'adjacent');
      }
    });
  }

  test('d reads the latest rows most, the others scatter their popular ones', () => {
    const newest = (/** @type {string} */ core) =>
      callsOf(core).filter(([, id]) => id > 990).length;
    assert.ok(newest('d') > ops * 0.3);
    assert.ok(newest('a') < ops * 0.3);
  });

  test('all six run on promises, calls and callbacks, and every reply is verified', async () => {
    const result = await runHere({
      workload: 'ycsb',
      storages: ['memory', 'memory:sync', 'lmdb'],
      ops: 400,
      inFlight: [8],
      rounds: 1,
      warmupOperations: 50,
      rows: 300,
      valueSize: 16,
      home: folder,
    });
    assert.equal(result.benchmarks.length, 3 * 6);
    assertAllOk(result);
    for (const { id, rounds } of result.benchmarks) assert.equal(rounds[0].outcomes.ok, 400, id);
  });

  test('is a command: core workloads by name, each with a table', async () => {
    const words = ['ycsb', '--storages', 'memory', '--core', 'd,a', '--in-flight', '4'];
    const few = ['--ops', '200', '--rows', '100', '--rounds', '1', '--warmup', '0'];
    const { status, stdout, stderr } = await callHere(...words, ...few);
    assert.equal(status, 0, stderr);
    assert.match(stdout, /YCSB A: [\s\S]*YCSB D: /);
    assertFailure(
      await callCommand(['bin/dragstrip.js', 'ycsb', '--core', 'g']),
      2,
      /unknown value "g"; available: a, b/,
    );
  });
});

describe('a workload of a file', () => {
  const file = path.join(ROOT, 'examples', 'my-workload.js');
  const few = ['--storages', 'memory', '--rows', '100', '--rounds', '1'];

  test('runs with its own options', async () => {
    const words = ['--workload', file, ...few, '--distance', '10', '--ops', '200'];
    const { status, stdout, stderr } = await callHere('run', ...words);
    assert.equal(status, 0, stderr);
    assert.match(stdout, /memory/);
  });

  test('also from a program, whose values are checked', async () => {
    const options = { workload: file, storages: ['memory'], rows: 100, rounds: 1, home: folder };
    const { benchmarks } = await run({ ...options, ops: 50, distance: 3 });
    assert.equal(benchmarks[0].id, 'memory:default/pairs[distance=3]/window-16');
    assert.equal(benchmarks[0].rounds[0].outcomes.ok, 50);
    await assert.rejects(run({ ...options, distance: 0 }), {
      code: 'E_USAGE',
      message: /--distance 0/,
    });
    await assert.rejects(run({ ...options, nothing: 1 }), { message: /nothing.*pairs/ });
  });

  for (const [words, message] of /** @type {[string[], RegExp][]} */ ([
    [['--workload', './none.js'], /none\.js: no such file/],
    [['--workload', 'nothing'], /unknown workload "nothing"/],
    [['--workload', './package.json.js'], /no such file/],
  ])) {
    test(`refuses ${words.join(' ')}`, async () => {
      assertFailure(await callCommand(['bin/dragstrip.js', 'run', ...words]), 2, message);
    });
  }
});
