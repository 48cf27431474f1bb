/** One load shared by several processes: the same operations, counted once, merged exactly. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { createChildExecutor, inThisProcess } from '../../../engine/executor.js';
import { loadLabel, planRun } from '../../../engine/plan.js';
import { emptyRecord } from '../../../engine/record.js';
import { mergeRecords, shareLoad, shareWorkload } from '../../../engine/share.js';
import { OUTCOMES } from '../../../lib/outcome.js';
import { createRandom, drawBelow } from '../../../lib/random.js';
import { Arrivals, countArrivals } from '../../../load/arrivals.js';
import { createFakeClock, systemClock } from '../../../measure/clock.js';
import { encode } from '../../../measure/hdr.js';
import { Histogram } from '../../../measure/histogram.js';
import { systemInstruments } from '../../../measure/usage.js';
import { ROOT } from '../../helpers/command-line.js';

const folder = mkdtempSync(path.join(tmpdir(), 'dragstrip-share-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** @typedef {import('../../../lib/result.js').Load} Load */

/** @type {Load} */
const WINDOW = { kind: 'window', inFlight: 10, operations: 1000, durationNs: null };

/**
 * @param {Partial<Load>} load
 * @param {Partial<import('../../../engine/benchmark.js').BenchmarkSpec>} [fields]
 * @returns {import('../../../engine/benchmark.js').BenchmarkSpec}
 */
function spec(load, fields = {}) {
  return {
    storage: 'memory',
    profile: 'default',
    workload: 'get',
    workloadOptions: {},
    load: { ...WINDOW, processes: 3, ...load },
    address: {},
    credentialVariables: null,
    serverPids: [],
    dataset: { rows: 100, valueSize: 32, seed: 1 },
    folder,
    seed: 7,
    warmupOperations: 20,
    stallNs: 5e9,
    ...fields,
  };
}

/** @param {import('../../../engine/record.js').BenchmarkRecord | null} record */
function assertAccounting(record) {
  assert.ok(record);
  const sum = record.outcomes.reduce((a, b) => a + b, 0);
  assert.equal(sum, record.scheduled, 'scheduled = the sum of the outcomes');
  assert.equal(record.latency?.count ?? 0, record.outcomes[0]);
  return record;
}

describe('what belongs to which process', () => {
  for (const count of [1, 2, 3, 7]) {
    test(`${count} processes issue every operation once, and have the whole window`, () => {
      /** @type {number[]} */
      const issued = [];
      let inFlight = 0;
      for (let index = 0; index < count; index += 1) {
        const share = { index, count };
        const load = shareLoad(WINDOW, share);
        const { op } = shareWorkload({ op: (i) => issued.push(i), verify: () => 0 }, share);
        for (let i = 0; i < (load.operations ?? 0); i += 1) op(i);
        inFlight += load.inFlight ?? 0;
      }
      assert.deepEqual(
        issued.sort((a, b) => a - b),
        Array.from({ length: 1000 }, (_, i) => i),
      );
      assert.equal(inFlight, 10);
    });
  }

  test('verify and kinds see the operation of all, too', () => {
    const { verify, kinds } = shareWorkload(
      { op() {}, verify: (i) => i, kinds: { names: ['a', 'b'], of: (i) => i % 2 } },
      { index: 1, count: 3 },
    );
    assert.equal(verify(4, null, false), 13);
    assert.equal(kinds?.of(4), 1);
  });

  test('one in flight is one for each process; a burst and a time stay what they are', () => {
    const share = { index: 0, count: 2 };
    assert.equal(shareLoad({ ...WINDOW, kind: 'sync', inFlight: 1 }, share).inFlight, 1);
    const timed = { ...WINDOW, operations: null, durationNs: 5e9 };
    assert.deepEqual([shareLoad(timed, share).operations, timed.durationNs], [null, 5e9]);
    assert.equal(shareLoad({ ...WINDOW, kind: 'burst', inFlight: null }, share).inFlight, null);
  });

  for (const arrivals of /** @type {const} */ (['constant', 'poisson'])) {
    test(`${arrivals} arrivals of all processes are those of one, to the bit`, () => {
      for (const [perSecond, count] of [
        [1000, 3],
        [999.7, 7],
        [100, 3],
      ]) {
        const rate = { perSecond, arrivals, seed: 5 };
        const bounds = { durationNs: 1e9, operations: Number.POSITIVE_INFINITY };
        const draw = (
          /** @type {import('../../../load/arrivals.js').ArrivalOptions} */ options,
        ) => {
          const own = new Arrivals(options);
          return Array.from({ length: countArrivals(options, bounds) }, () => own.next());
        };
        const expected = draw(rate);
        const parts = Array.from({ length: count }, (_, index) =>
          draw({ ...rate, share: { index, count } }),
        );
        for (const [k, at] of expected.entries()) {
          assert.equal(parts[k % count][Math.floor(k / count)], at, `operation ${k}`);
        }
        assert.equal(parts.flat().length, expected.length);
      }
    });
  }

  test('a load that cannot be shared is refused', () => {
    const plan = (/** @type {any} */ load) => () => planRun({ loads: [load] });
    assert.throws(plan({ kind: 'window', inFlight: 2, processes: 3 }), /each needs one/);
    assert.throws(plan({ kind: 'burst', operations: 2, processes: 3 }), /fewer operations/);
    assert.throws(plan({ kind: 'sync', processes: 0 }), { code: 'E_USAGE' });
    const [one] = planRun({ loads: [{ kind: 'window', processes: 1 }] }).loads;
    assert.equal('processes' in one, false, 'one process is the load that it always was');
    const [two] = planRun({ loads: [{ kind: 'window', processes: 2 }] }).loads;
    assert.equal(loadLabel(two), 'window-100-by-2');
  });
});

describe('records become one', () => {
  test('200 random splits of latencies merge to the histogram of the whole, byte for byte', async () => {
    const random = createRandom(11);
    for (let split = 0; split < 200; split += 1) {
      const count = 2 + drawBelow(random, 4);
      const parts = Array.from({ length: count }, () => new Histogram());
      const whole = new Histogram();
      for (let i = 0; i < 100; i += 1) {
        const value = drawBelow(random, 2 ** (4 + drawBelow(random, 40)));
        parts[drawBelow(random, count)].record(value);
        whole.record(value);
      }
      const records = parts.map((part) => ({
        ...emptyRecord(),
        latency: part.count === 0 ? null : part.toMessage(),
      }));
      const { latency } = mergeRecords(records);
      assert.ok(latency);
      assert.deepEqual(latency, whole.toMessage());
      assert.equal(await encode(Histogram.fromSparse(latency)), await encode(whole));
    }
  });

  test('outcomes are summed, samples have the index among all, time is first start to last end', () => {
    const outcomes = (/** @type {number} */ ok, /** @type {number} */ miss) =>
      OUTCOMES.map((name) => (name === 'ok' ? ok : name === 'miss' ? miss : 0));
    const sample = { outcome: 'miss', operation: 4, code: null, message: '' };
    const base = emptyRecord();
    const merged = mergeRecords([
      {
        ...base,
        ...{ state: 'measured', scheduled: 11, outcomes: outcomes(10, 1), samples: [sample] },
        ...{ startedNs: 100, endedNs: 1100, durationNs: 1000, inFlightMean: 4 },
        ...{ serverSpanNs: [50, 90], server: { cpuNs: 40, rssBytes: 7 } },
        timeline: { windowNs: 100, operations: [1, 2, 3] },
      },
      {
        ...base,
        ...{ state: 'measured', scheduled: 20, outcomes: outcomes(20, 0) },
        ...{ startedNs: 150, endedNs: 2100, durationNs: 1950, inFlightMean: 2 },
        ...{ serverSpanNs: [55, 120], server: { cpuNs: 65, rssBytes: 9 } },
        timeline: { windowNs: 200, operations: [10, 20] },
      },
    ]);
    assert.equal(merged.scheduled, 31);
    assert.equal(
      merged.outcomes.reduce((a, b) => a + b, 0),
      31,
    );
    assert.equal(merged.samples[0].operation, 8, 'operation 4 of process 0 of 2');
    assert.equal(merged.durationNs, 2000);
    assert.equal(merged.inFlightMean, (4 * 1000 + 2 * 1950) / 2000);
    assert.deepEqual(merged.server, { cpuNs: 70, rssBytes: 9, threadNsMax: null });
    assert.deepEqual(merged.timeline, { windowNs: 200, operations: [13, 23] });
  });

  test('a server that one process could not read is unknown, not half of it', () => {
    const one = { ...emptyRecord(), serverSpanNs: /** @type {[number, number]} */ ([1, 2]) };
    const records = [{ ...one, server: { cpuNs: 1, rssBytes: 1 } }, emptyRecord()];
    assert.equal(mergeRecords(records).server, null);
  });
});

/** @type {Partial<Load>[]} */
const LOADS = [
  { kind: 'sync', inFlight: 1 },
  { kind: 'window', inFlight: 10 },
  { kind: 'burst', inFlight: null },
  { kind: 'rate', inFlight: null, rate: 50_000, arrivals: 'constant', maxInFlight: 100 },
  { kind: 'rate', inFlight: null, rate: 50_000, arrivals: 'poisson', maxInFlight: 100 },
];

describe('whole benchmarks', () => {
  for (const load of LOADS) {
    test(`${load.kind} ${load.arrivals ?? ''} shared by three counts every operation once`, async () => {
      const execute = inThisProcess(systemInstruments(systemClock));
      const { record } = await execute(spec(load), {});
      const merged = assertAccounting(record);
      assert.equal(merged.state, 'measured', merged.failure?.message);
      assert.equal(merged.scheduled, 1000);
      assert.equal(merged.outcomes[0] + merged.outcomes[5], 1000);
    });
  }

  test('three in one process on a fake clock have the same result each time', async () => {
    const run = async () => {
      const instruments = { ...systemInstruments(createFakeClock()), client: () => CLIENT };
      const { record } = await inThisProcess(instruments)(spec({}), {});
      const { outcomes, latency, durationNs } = assertAccounting(record);
      return { outcomes, latency, durationNs };
    };
    assert.deepEqual(await run(), await run());
  });

  test('processes of their own begin together and end as one record', async () => {
    const { record, processNs } = await createChildExecutor()(spec({ processes: 2 }), {});
    const merged = assertAccounting(record);
    assert.equal(merged.state, 'measured', merged.failure?.message);
    assert.equal(merged.outcomes[0], 1000);
    assert.ok((processNs ?? 0) > merged.durationNs);
    assert.ok(Math.abs(Number(process.hrtime.bigint()) - (merged.endedNs ?? 0)) < 60e9);
  });

  test('when one process dies, the others are stopped and the benchmark fails', async () => {
    const storage = path.join(folder, 'one-dies.mjs');
    const define = pathToFileURL(path.join(ROOT, 'lib/define.js')).href;
    // The first process makes the file, and exits when it is its turn to answer.
    writeFileSync(
      storage,
      `import { closeSync, openSync } from 'node:fs';
      import { defineStorage } from ${JSON.stringify(define)};
      export default defineStorage({
        name: 'one-dies', summary: '', package: null, server: null,
        profiles: { default: { summary: '', options: {} } },
        async open({ dataset, folder }) {
          let first = true;
          try { closeSync(openSync(folder + '/first', 'wx')); } catch { first = false; }
          let calls = 0;
          return {
            async get(id) {
              calls += 1;
              if (first && calls > 200) process.exit(9);
              await new Promise((resolve) => setTimeout(resolve, 1));
              return dataset.value(id);
            },
            async close() {},
          };
        },
      });`,
    );
    const { record, failure } = await createChildExecutor()(
      spec({ processes: 2, operations: 1e6 }, { storage }),
      {},
    );
    assert.equal(record, null);
    assert.equal(failure?.code, 'E_BENCHMARK_PROCESS');
    assert.match(failure?.message ?? '', /status 9/);
  });

  test('an abort stops all of them, also those that wait for the start', async () => {
    const stop = new AbortController();
    const long = { processes: 2, operations: null, durationNs: 600e9 };
    const ended = createChildExecutor()(spec(long), {
      signal: stop.signal,
      onProgress: () => stop.abort(),
    });
    const merged = assertAccounting((await ended).record);
    assert.equal(merged.state, 'aborted');
  });
});

const CLIENT = Object.freeze({
  ...{ userNs: 1, systemNs: 1, rssBytes: 1, rssBytesMax: 1, heapBytes: 1 },
});
