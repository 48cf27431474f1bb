/**
 * A whole run with the memory storage and a fake clock, in this process: the result and every
 * report of it are the same, byte for byte, each time. Files are rewritten only if the
 * environment has DRAGSTRIP_UPDATE_GOLDEN=1.
 */

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { inThisProcess } from '../../engine/contender-process.js';
import { runRace } from '../../engine/runner.js';
import { parseResult } from '../../lib/parse-result.js';
import { createFakeClock } from '../../measure/clock.js';
import { decode } from '../../measure/hdr.js';
import { loadReport, REPORT_NAMES } from '../../report/index.js';
import { withFolder } from '../helpers/folder.js';

const FILES = new URL('files/', import.meta.url);
const ENVIRONMENT = Object.freeze({
  node: 'v20.20.2',
  v8: '11.3.244.8-node.38',
  platform: 'linux',
  arch: 'x64',
  os: 'Debian GNU/Linux 12',
  cpu: 'A processor of the test',
  cores: 4,
  memoryBytes: 8 * 2 ** 30,
  governor: 'performance',
  virtual: false,
  loadAverage: [0.5, 0.25, 0.125],
});

const home = withFolder();

/**
 * Every reading moves on by a fixed step, so that all differences are known beforehand.
 * @param {import('../../measure/clock.js').Clock} clock
 * @returns {import('../../measure/usage.js').Instruments}
 */
function fakeInstruments(clock) {
  let readings = 0;
  let collections = 0;
  let looks = 0;
  const cpu = () => {
    readings += 1;
    return {
      userNs: readings * 4e6,
      systemNs: readings * 1e6,
      voluntarySwitches: readings * 3,
      involuntarySwitches: readings,
    };
  };
  return {
    clock,
    cpu: () => cpu(),
    client() {
      return {
        ...cpu(),
        rssBytes: (60 + readings) * 2 ** 20,
        rssBytesMax: (64 + readings) * 2 ** 20,
        heapBytes: 10 * 2 ** 20 + readings * 50_000,
      };
    },
    threadClocks: () => ({ read: () => null, close() {} }),
    transferClock() {
      let transfers = 0;
      const read = () => {
        transfers += 1;
        const [reads, writes] = [transfers * 5000, transfers * 2500];
        return { reads, writes, readBytes: reads * 100, writtenBytes: writes * 30 };
      };
      return { read, close() {} };
    },
    servers: () => null,
    collectGarbage() {
      collections += 1;
      return 10 * 2 ** 20 + collections * 4000;
    },
    canaryNs: () => 1_234_500,
    conditions() {
      looks += 1;
      return {
        totalTicks: looks * 1000,
        idleTicks: looks * 750,
        stealTicks: looks,
        throttledCount: 0,
        throttledNs: 0,
        loadAverage: 0.5,
      };
    },
    observeGarbage: () => ({ stop: () => ({ count: 3, ns: 1_500_000 }) }),
    heapBytes: () => 0,
  };
}

/** Longer loads let the event loop turn, and with it timers that read the clock when they like. */
const OPERATIONS_MAX = 2000;

/** @param {import('../../engine/contender.js').Task | null} task */
function shortWarmUp(task) {
  if (task?.warm.kind !== 'operations') return task;
  const operations = Math.min(task.warm.operations, OPERATIONS_MAX);
  return { ...task, warm: { kind: /** @type {const} */ ('operations'), operations } };
}

function runGolden() {
  const date = '2026-11-21T10:00:00.000Z';
  const clock = createFakeClock({ stepNs: 500, date });
  const inside = inThisProcess(fakeInstruments(clock));
  /** @type {import('../../engine/contender-process.js').ProcessFactory} overhead loads are long */
  const processes = (spec, events) => {
    const own = inside({ ...spec, tasks: spec.tasks.map(shortWarmUp) }, events);
    return {
      ...own,
      run(load, start, amount) {
        const operations = Math.min(amount?.operations ?? OPERATIONS_MAX, OPERATIONS_MAX);
        return own.run(load, start, { operations, durationNs: null });
      },
    };
  };
  return runRace(
    {
      command: 'race',
      storages: ['memory', 'memory:sync'],
      loads: [
        { kind: 'sync', operations: 2000 },
        { kind: 'window', inFlight: 16, operations: 2000 },
        { kind: 'burst', operations: 1000 },
      ],
      rounds: 3,
      rows: 100,
      valueSize: 64,
      seed: 7,
      warmupOperations: 100,
      home,
    },
    {
      clock,
      processes,
      environment: async () => structuredClone(ENVIRONMENT),
    },
  );
}

/**
 * @param {string} name
 * @param {string} text
 */
function assertGolden(name, text) {
  const file = new URL(name, FILES);
  if (process.env.DRAGSTRIP_UPDATE_GOLDEN === '1') writeFileSync(file, text);
  assert.equal(text, readFileSync(file, 'utf8'), `${name}: see test/golden/run.test.js`);
}

/**
 * Compressed bytes differ from one zlib to the next; their contents do not.
 * @param {import('../../lib/result.js').Result} result
 */
async function withOpenHistograms(result) {
  const open = structuredClone(result);
  for (const { rounds } of open.benchmarks) {
    for (const { latency } of rounds) {
      if (latency === null) continue;
      const { histogram } = latency;
      /** @type {any} */ (latency).histogram = (await decode(histogram)).toSparse().join(' ');
    }
  }
  return open;
}

test('a run is a function of its options, its clock and its instruments', async () => {
  const first = await runGolden();
  const second = await runGolden();
  assert.deepEqual(second, first);
  assert.deepEqual(parseResult(JSON.stringify(first), 'result'), first);
  const open = await withOpenHistograms(first);
  assertGolden('run.json', `${JSON.stringify(open, null, 1)}\n`);
  for (const name of REPORT_NAMES) {
    const { render } = await loadReport(name);
    const text = render(first, { width: 120 });
    assert.equal(render(first, { width: 120 }), text, name);
    // The page holds the whole result, a style sheet and a script; page.test.js looks at its parts.
    if (name !== 'html') assertGolden(`run.${name}.txt`, text);
  }
});
