/** Contenders in processes of their own, alone and sharing a load; how they fail; placement. */

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { createProcesses, inThisProcess } from '../../../engine/contender-process.js';
import { placeFor } from '../../../engine/placement.js';
import { playRound } from '../../../engine/round.js';
import { blocks } from '../../../engine/schedule/index.js';
import { Seat } from '../../../engine/seat.js';
import { lengthOf } from '../../../engine/segment.js';
import { toRound } from '../../../engine/to-round.js';
import { OK, OUTCOMES } from '../../../lib/outcome.js';
import { createRandom } from '../../../lib/random.js';
import { Histogram } from '../../../measure/histogram.js';
import { brief, specOf, storageFile, taskOf } from '../../helpers/contenders.js';
import { withFolder } from '../../helpers/folder.js';
import { INSTRUMENTS } from '../../helpers/run-here.js';

const folder = withFolder();

/** @typedef {import('../../../lib/result.js').Load} Load */

const UNSENT = OUTCOMES.indexOf('unsent');
const DROPPED = OUTCOMES.indexOf('dropped');

/**
 * @param {Partial<Load>} load
 * @param {{ storage?: string, count?: number,
 *   task?: Partial<import('../../../engine/contender.js').Task>,
 *   processes?: import('../../../engine/contender-process.js').ProcessFactory }} [fields]
 */
function seatOf(load, { storage = 'memory', count = 1, task, processes } = {}) {
  const spec = specOf([taskOf(load, task)], { storage, folder }, { isLong: true });
  const shares = Array.from({ length: count }, (_, index) => ({ index, count }));
  const about = { name: storage, spec, ...(count > 1 && { shares }) };
  return new Seat(about, processes ?? createProcesses());
}

/** @param {Seat} seat @param {Partial<import('../../../engine/contender.js').Amount>} amount */
async function play(seat, amount) {
  await seat.open();
  await seat.warm(0);
  await seat.run(0, { amount: { operations: null, durationNs: null, ...amount }, lead: false });
  await seat.close();
  return seat.merged([0], { partial: true });
}

/** @param {import('../../../engine/segment.js').Segment | null} segment */
function requireAccounts(segment) {
  assert.ok(segment);
  const sum = segment.outcomes.reduce((a, b) => a + b, 0);
  assert.equal(sum, segment.scheduled, 'scheduled = the sum of the outcomes');
  assert.equal(segment.histograms['latency']?.count ?? 0, segment.outcomes[OK]);
  return segment;
}

/** @type {Partial<Load>[]} */
const LOADS = [
  { kind: 'sync', inFlight: 1 },
  { kind: 'window', inFlight: 10 },
  { kind: 'burst', inFlight: null },
  { kind: 'rate', inFlight: null, rate: 50_000, arrivals: 'constant', maxInFlight: 100 },
  { kind: 'rate', inFlight: null, rate: 50_000, arrivals: 'poisson', maxInFlight: 100 },
];

describe('a load shared by three', () => {
  for (const load of LOADS) {
    test(`${load.kind} ${load.arrivals ?? ''}: every operation is counted once`, async () => {
      const processes = inThisProcess(INSTRUMENTS);
      const seat = seatOf({ ...load, operations: 1000 }, { count: 3, processes });
      const merged = requireAccounts(await play(seat, { operations: 1000 }));
      assert.equal(seat.failure, null);
      assert.equal(merged.scheduled, 1000);
      assert.equal(merged.outcomes[OK] + merged.outcomes[DROPPED], 1000);
    });
  }

  test('samples have their index among all operations', async () => {
    const storage = storageFile(folder, 'wrong-once', {
      get: "return reads === 65 + 5 ? 'not the row' : dataset.value(id);",
    });
    const processes = inThisProcess(INSTRUMENTS);
    const seat = seatOf({ kind: 'sync', inFlight: 1 }, { storage, count: 3, processes });
    const merged = requireAccounts(await play(seat, { operations: 60 }));
    assert.deepEqual(
      merged.samples.map(({ operation }) => operation),
      [12, 13, 14],
    );
    assert.equal(seat.failureOf(0)?.code, 'E_INVALID');
  });

  test('metrics of a workload are merged by their rules', async () => {
    const processes = inThisProcess(INSTRUMENTS);
    const load = { kind: /** @type {const} */ ('window'), inFlight: 8 };
    const task = { workload: 'crud', operations: 400 };
    const metricsBy = async (/** @type {number} */ count) => {
      const merged = await play(seatOf(load, { count, processes, task }), { operations: 400 });
      return requireAccounts(merged).metrics;
    };
    const [alone, shared] = [await metricsBy(1), await metricsBy(2)];
    assert.deepEqual(Object.keys(shared), Object.keys(alone));
    const sums = Object.entries(shared).filter(([, { rule }]) => rule === 'sum');
    assert.ok(sums.length > 0);
    assert.ok(sums.some(([, { value }]) => Number(value) > 0));
  });
});

test('a metric without a merge rule is refused if processes share the load', async () => {
  const workload = path.join(folder, 'no-rule.js');
  const define = new URL('../../../index.js', import.meta.url).href;
  writeFileSync(
    workload,
    `import { defineWorkload } from '${define}';
    export const workload = defineWorkload({
      name: 'no-rule', summary: 'for a test', needs: ['get'],
      prepare: () => (handle) => ({
        op: (index) => handle.get(index + 1),
        verify: () => 0,
        after: async () => ({ median: 1 }),
      }),
    });`,
  );
  const processes = inThisProcess(INSTRUMENTS);
  const load = { kind: /** @type {const} */ ('window'), inFlight: 8 };
  const failureBy = async (/** @type {number} */ count) => {
    const seat = seatOf(load, { count, processes, task: { workload } });
    await play(seat, { operations: 40 });
    return seat.failureOf(0);
  };
  assert.equal(await failureBy(1), null);
  assert.match(String((await failureBy(2))?.message), /metricRules has no rule for "median"/);
});

describe('separate processes', () => {
  test('two begin together and end as one record, with their times', async () => {
    const seat = seatOf({ inFlight: 10 }, { count: 2 });
    // Long enough to overlap, however late one of them begins.
    const operations = 200_000;
    const merged = requireAccounts(await play(seat, { operations }));
    assert.equal(seat.failure, null);
    assert.equal(merged.outcomes[OK], operations);
    assert.equal(merged.wall.length, 1, 'side by side');
    const nowNs = Number(process.hrtime.bigint());
    assert.ok(Math.abs(nowNs - merged.wall[0][1]) < 60e9);
    const { processNs } = seat;
    assert.ok(processNs !== null && processNs > lengthOf(merged.wall));
    const { workNs, scheduled } = await toRound(merged, { round: 0, position: 0, processNs });
    assert.ok(workNs !== null && processNs > workNs);
    assert.equal(scheduled, operations);
  });

  test('when one dies, the others are stopped and the contender fails', async () => {
    // The first process makes the file, and exits when it is its turn to answer.
    const storage = storageFile(folder, 'one-dies', {
      open: `const { closeSync, openSync } = await import('node:fs');
        let first = true;
        try { closeSync(openSync(folder + '/first', 'wx')); } catch { first = false; }`,
      get: `if (first && reads > 200) process.exit(9);
        await new Promise((resolve) => setTimeout(resolve, 1));
        return dataset.value(id);`,
    });
    const seat = seatOf({}, { storage, count: 2 });
    assert.equal(await play(seat, { operations: 1e6 }), null);
    assert.equal(seat.failure?.code, 'E_BENCHMARK_PROCESS');
    assert.match(String(seat.failure?.message), /status 9/);
  });

  test('results of a process are kept when it dies later', async () => {
    const storage = storageFile(folder, 'dies-later', {
      get: 'if (reads > 65 + 250) process.exit(3); return dataset.value(id);',
    });
    const seat = seatOf({ kind: 'sync', inFlight: 1 }, { storage });
    await seat.open();
    for (let i = 0; i < 3; i += 1) await seat.run(0, { amount: brief(100), lead: false });
    assert.match(String(seat.failure?.message), /ended with status 3/);
    assert.ok(seat.isOut);
    assert.equal(seat.merged([0])?.outcomes[OK], 200);
    assert.equal(seat.failureOf(0), seat.failure);
  });

  test('an abort stops all of them; their operations so far count', async () => {
    const seat = seatOf({}, { count: 2 });
    seat.events = { onProgress: () => seat.abort() };
    const merged = requireAccounts(await play(seat, { durationNs: 600e9 }));
    assert.equal(merged.state, 'aborted');
    assert.ok(merged.outcomes[OK] > 0 && merged.outcomes[UNSENT] >= 0);
    assert.ok(seat.isOut);
  });

  test('after two segments with wrong replies a contender is excluded', async () => {
    const storage = storageFile(folder, 'wrong', {
      get: "return reads > 65 ? 'not the row' : dataset.value(id);",
    });
    const seat = seatOf({}, { storage });
    await seat.open();
    await seat.run(0, { amount: brief(20), lead: false });
    assert.equal(seat.isOut, false);
    await seat.run(0, { amount: brief(20), lead: false });
    assert.equal(seat.isOut, true);
    await seat.close();
    assert.equal(seat.failureOf(0)?.code, 'E_INVALID');
  });

  test('only the main thread is pinned, the helper threads are not', async () => {
    const remote = createProcesses()(specOf([taskOf({})], { folder }), {});
    const { pid } = /** @type {any} */ (remote).child;
    const listOf = (/** @type {string} */ where) =>
      /^Cpus_allowed_list:\s+(.*)$/m.exec(readFileSync(`/proc/${pid}/${where}`, 'latin1'))?.[1];
    const before = listOf('status');
    const [cpu] = String(before).split(/[-,]/);
    await remote.pin([Number(cpu)]);
    assert.equal(listOf(`task/${pid}/status`), cpu);
    remote.kill();
    await assert.rejects(remote.open(), /was killed by SIGKILL/);
  });

  test('a process with a blocked event loop is killed; a slow or idle one is not', async (t) => {
    // A process must start within that time, also on a busy machine.
    const silent = () => createProcesses({ silenceMs: 4000 });
    const opened = async (/** @type {string} */ name, /** @type {string} */ open) => {
      const storage = storageFile(folder, name, { open, get: '' });
      const task = { stallNs: 0.4e9 };
      const seat = seatOf({}, { storage, processes: silent(), task });
      await seat.open();
      seat.end();
      return seat.failure;
    };
    const idle = seatOf({}, { processes: silent(), task: { stallNs: 0.4e9 } });
    t.after(() => idle.end());
    await idle.open();
    // Without the use of a processor, which the slow one needs.
    const block = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);';
    const [blocked, slow] = await Promise.all([
      opened('blocking', block),
      opened('slow', 'await new Promise((done) => setTimeout(done, 5000));'),
    ]);
    assert.equal(blocked?.code, 'E_BENCHMARK_BLOCKED');
    assert.match(
      String(blocked?.message),
      /blocked the event loop for 4 s; its process was killed/,
    );
    // It gives no rows, which is found after all that time.
    assert.equal(slow?.code, 'E_DATA');
    // Without a request for longer than that: others of its round had their turns.
    await idle.run(0, { amount: brief(20), lead: false });
    await idle.close();
    assert.equal(idle.failure, null);
    assert.equal(idle.merged([0])?.outcomes[OK], 20);
  });
});

test('a round in blocks: one at a time; a failed one is excluded, the others continue', async () => {
  const dying = storageFile(folder, 'dying', {
    get: 'if (reads > 65 + 30) process.exit(3); return dataset.value(id);',
  });
  const wrong = storageFile(folder, 'no-row', { get: "return 'not the row';" });
  const loads = [taskOf({ kind: 'sync', inFlight: 1 }), taskOf({})];
  const contenders = ['memory', dying, wrong].map((storage) => ({
    name: storage,
    every: 1,
    spec: specOf(loads, { storage, folder }),
  }));
  const { seats } = await playRound({
    seats: contenders,
    schedule: (seen) =>
      blocks(
        {
          seats: contenders,
          loads: loads.map(({ load }) => ({ ...load, place: '' })),
          random: createRandom(1),
          segmentNs: 1e6,
          leadBlocks: 1,
          blocks: () => 6,
        },
        seen,
      ),
    processes: createProcesses(),
  });
  const [memory, died, other] = seats;
  assert.deepEqual([memory.failure, memory.failureOf(0)], [null, null]);
  for (const load of [0, 1]) {
    assert.equal(memory.segments[load].length, 6);
    const merged = requireAccounts(memory.merged([load]));
    assert.equal(merged.wall.length, 7, 'with the lead block');
  }
  assert.match(String(died.failure?.message), /ended with status 3/);
  assert.equal(other.failure?.code, 'E_DATA');
  const walls = seats
    .flatMap((seat) => [...seat.segments.flat(), ...seat.leads.flat()])
    .flatMap((one) => one?.wall ?? [])
    .sort((a, b) => a[0] - b[0]);
  for (const [i, [from]] of walls.entries()) {
    assert.ok(i === 0 || from >= walls[i - 1][1], 'two ran at the same time');
  }
});

describe('placement', () => {
  const loads = /** @type {const} */ ([
    { id: 'sync', placement: 'one-cpu', load: {} },
    { id: 'window', placement: 'two-cpus', load: {} },
    { id: 'rate', placement: 'free', load: {} },
  ]);
  const redis = { name: 'redis', source: 'dragstrip', pids: [process.pid] };

  test('belongs to the load: one processor, two, or anywhere', async () => {
    const allowed = [0, 1];
    const { of, clientOf } = await placeFor(loads, [redis], { allowed, taskset: 'true' });
    const [one, two, free] = loads.map((load) => of(load));
    assert.deepEqual([one.kind, one.server], ['one-cpu', one.client]);
    assert.equal(two.kind, 'two-cpus');
    assert.deepEqual(two.client, one.client);
    assert.ok(!two.server.includes(two.client[0]));
    assert.deepEqual([free.kind, free.client, free.server, free.reason], ['free', [], [], null]);
    assert.deepEqual(clientOf([null, loads[1]]), two.client);
    assert.deepEqual(clientOf([loads[2]]), []);
  });

  test('nothing is placed with one processor, or with a server that Dragstrip did not start', async () => {
    const why = async (/** @type {any} */ servers, /** @type {number[]} */ allowed) =>
      (await placeFor(loads, servers, { allowed, taskset: 'true' })).of(loads[0]);
    const alone = await why([redis], [0]);
    assert.deepEqual([alone.kind, alone.client], ['free', []]);
    assert.match(String(alone.reason), /only one processor/);
    const untrusted = await why([{ ...redis, source: 'flag' }], [0, 1]);
    assert.match(String(untrusted.reason), /did not start redis/);
  });

  test('--pin places every load', async () => {
    const { of } = await placeFor(loads, [redis], { pinned: [1], allowed: [0, 1] });
    assert.deepEqual(
      loads.map((load) => [of(load).kind, of(load).client]),
      loads.map(() => ['pinned', [1]]),
    );
  });
});

test('the resources of a segment are read before its histograms are packed, the thread last', async (t) => {
  /** @type {string[]} */
  const order = [];
  const client = () => {
    order.push('client');
    return INSTRUMENTS.client();
  };
  const read = () => {
    order.push('thread');
    return null;
  };
  const { toMessage } = Histogram.prototype;
  t.mock.method(
    Histogram.prototype,
    'toMessage',
    /** @this {Histogram} */ function () {
      order.push('packed');
      return toMessage.call(this);
    },
  );
  const threadClocks = () => ({ read, close() {} });
  const processes = inThisProcess({ ...INSTRUMENTS, client, threadClocks });
  await play(seatOf({}, { processes }), { operations: 100 });
  const reading = ['client', 'thread'];
  assert.deepEqual(order.slice(0, 5), [...reading, ...reading, 'packed']);
});
