/** The programming interface, by the name under which others import it. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import {
  createDataset,
  DragstripError,
  history,
  parseResult,
  report,
  resultJsonSchema,
  run,
  servers,
  summarize,
  version,
} from 'dragstrip';
import { NO_SERVERS, ROOT } from '../helpers/command-line.js';
import { withFolder } from '../helpers/folder.js';

/** @typedef {import('../../index.js').RunEvent} RunEvent */

const home = withFolder();

/** @returns {import('../../index.js').RunOptions} a run of a second */
function few() {
  return {
    storages: ['memory', 'memory:sync'],
    loads: [{ kind: 'window', inFlight: 4, operations: 300 }],
    rows: 20,
    warmupOperations: 0,
    home,
  };
}

test('run accepts options, reports events in order and returns a result', async () => {
  /** @type {RunEvent[]} */
  const events = [];
  const result = await run({ ...few(), rounds: 2 }, { onEvent: (event) => events.push(event) });
  const types = events.map(({ type }) => type).filter((type) => type !== 'progress');
  const benchmark = ['benchmark-start', 'benchmark-end'];
  assert.deepEqual(types, [
    'planned',
    ...benchmark,
    ...benchmark,
    ...benchmark,
    ...benchmark,
    'finished',
  ]);
  assert.equal(result.state, 'complete');
  assert.equal(result.dragstrip, version);
  const parsed = parseResult(JSON.stringify(result), 'result');
  assert.deepEqual(parsed, result);
  assert.deepEqual(
    result.benchmarks.map(({ id, state, rounds }) => [
      id,
      state,
      rounds.map((round) => round.outcomes.ok),
    ]),
    [
      ['memory:default/get/window-4', 'measured', [300, 300]],
      ['memory:sync/get/window-4', 'measured', [300, 300]],
    ],
  );
  for (const event of events) {
    if (event.type === 'benchmark-end')
      assert.equal(event.benchmark.rounds.at(event.round.round), event.round);
  }
});

test('an abort ends the run with a partial result', async () => {
  const controller = new AbortController();
  const options = {
    ...few(),
    loads: [{ kind: /** @type {const} */ ('sync'), durationMs: 60_000 }],
  };
  /** @type {string[]} */
  const types = [];
  const result = await run(options, {
    signal: controller.signal,
    onEvent(event) {
      types.push(event.type);
      if (event.type === 'progress' && event.phase === 'measure') controller.abort();
    },
  });
  assert.equal(result.state, 'aborted');
  assert.deepEqual(types.at(-1), 'finished');
  const [first, second] = result.benchmarks;
  assert.deepEqual([first.state, second.state, second.rounds], ['aborted', 'aborted', []]);
  assert.ok(first.rounds[0].outcomes.ok > 0);
  parseResult(JSON.stringify(result), 'result');
});

test('an abort before the start measures nothing', async () => {
  const result = await run(few(), { signal: AbortSignal.abort() });
  assert.equal(result.state, 'aborted');
  assert.deepEqual(
    result.benchmarks.map(({ rounds }) => rounds.length),
    [0, 0],
  );
});

test('wrong options reject with a code and a message before anything is done', async () => {
  /** @type {[any, RegExp][]} */
  const cases = [
    [{ storages: ['nothing'] }, /unknown storage "nothing"/],
    [{ storages: [] }, /storages/],
    [{ storages: 'memory' }, /storages/],
    [{ rounds: 0 }, /rounds/],
    [{ rounds: 1.5 }, /rounds/],
    [{ rows: -1 }, /rows/],
    [{ valueSize: 1 }, /value-size|valueSize/],
    [{ seed: Number.NaN }, /seed/],
    [{ loads: [{ kind: 'storm' }] }, /loads\.0\.kind/],
    [{ loads: [{ kind: 'burst', durationMs: 5 }] }, /no duration/],
    [{ loads: [{ kind: 'burst', operations: 1e8 }] }, /the maximum is 10000000/],
    [{ loads: [{ kind: 'sync', inFlight: 5 }] }, /needs a window/],
    [{ workload: 'nothing' }, /unknown workload "nothing"/],
    [{ addresses: { redis: 'nowhere' }, storages: ['redis'] }, /--redis "nowhere"/],
    [{ colour: 'red' }, /colour/],
    ['memory', /expected object/],
    [null, /expected object/],
  ];
  for (const [options, says] of cases) {
    await assert.rejects(run(options), (error) => {
      assert.ok(error instanceof DragstripError, `${error}`);
      assert.equal(error.code, 'E_USAGE');
      assert.match(error.message, says);
      return true;
    });
  }
});

test('a named storage that cannot run rejects with E_TARGET', async () => {
  const options = {
    ...few(),
    storages: ['redis'],
    addresses: { redis: NO_SERVERS.DRAGSTRIP_REDIS },
  };
  await assert.rejects(run(options), { code: 'E_TARGET' });
});

test('it prints nothing, and the process ends by itself', () => {
  const program = `
    import { run } from 'dragstrip';
    const result = await run(${JSON.stringify(few())});
    process.exitCode = result.benchmarks.every(({ state }) => state === 'measured') ? 3 : 4;`;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', program],
    { cwd: ROOT, encoding: 'utf8', timeout: 60_000 },
  );
  assert.deepEqual({ status, stdout, stderr }, { status: 3, stdout: '', stderr: '' });
});

test('docs/result.schema.json equals the schema in the code', async () => {
  const file = new URL('../../docs/result.schema.json', import.meta.url);
  const text = await readFile(file, 'utf8');
  assert.equal(text, `${JSON.stringify(resultJsonSchema(), null, 2)}\n`, 'npm run build:schema');
});

test('a program can create the rows of its benchmark', () => {
  const dataset = createDataset({ rows: 10, valueSize: 64, seed: 1 });
  assert.ok(dataset.belongs(10, dataset.value(10)));
});

test('a result as rows, as text and over time', async () => {
  const { warmupOperations, ...options } = few();
  const first = await run({ ...options, rounds: 2, warmup: 0 });
  assert.equal(first.options['warmupOperations'], warmupOperations);
  const rows = summarize(first);
  assert.deepEqual(rows.map(({ id }) => id).sort(), first.benchmarks.map(({ id }) => id).sort());
  for (const { throughput, wrong, n } of rows) {
    assert.ok((throughput?.value ?? 0) > 0);
    assert.deepEqual([wrong, n], [0, 2]);
  }
  assert.match(await report(first, 'markdown'), /^# Dragstrip/);
  assert.match(await report(first, 'pr'), /^<!-- dragstrip -->/);
  await assert.rejects(report(first, /** @type {any} */ ('morse')), { code: 'E_USAGE' });
  const second = { ...first, startedAt: '2031-01-01T00:00:00.000Z' };
  assert.deepEqual(
    history([first, second]).map(({ points }) => points.length),
    first.benchmarks.map(() => 2),
  );
  assert.equal((await servers.statusServers({ home })).length, servers.SERVER_NAMES.length);
});
