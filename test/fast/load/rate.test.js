/** The open loop: a schedule that is kept whatever the replies do. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DROPPED, ERROR, MISMATCH, OK, TIMEOUT, UNSENT } from '../../../lib/outcome.js';
import { runLoad } from '../../../load/load.js';
import { OPEN_FAILURES_S } from '../../../load/rate.js';
import { createFakeClock, systemClock } from '../../../measure/clock.js';

/** @typedef {import('../../../load/rate.js').RateOptions} RateOptions */
/** @typedef {import('../../../load/detailed-recorder.js').DetailedRecorder} DetailedRecorder */

const STYLES = /** @type {const} */ (['promise', 'callback', 'sync']);

/**
 * @param {Partial<Omit<import('../../../load/load.js').LoadOptions, 'rate'>>} options
 * @param {Partial<RateOptions>} [rate]
 * @param {import('../../../load/load.js').LoadWatch} [watch]
 */
async function runRate(options, rate, watch) {
  const ended = await runLoad(
    {
      op: async (index) => index,
      verify: (index, reply) => (reply === index ? OK : MISMATCH),
      calls: 'promise',
      kind: 'rate',
      inFlight: 1,
      operations: 1000,
      durationNs: Number.POSITIVE_INFINITY,
      stallNs: 5e9,
      clock: createFakeClock({ stepNs: 1000 }),
      rate: { perSecond: 100_000, arrivals: 'constant', seed: 1, maxInFlight: 10_000, ...rate },
      ...options,
    },
    watch,
  );
  const { outcomes, histogram } = ended.recorder;
  const open = ended.open;
  assert.ok(open !== null);
  const recorder = /** @type {DetailedRecorder} */ (ended.recorder);
  const sum = outcomes.reduce((a, b) => a + b, 0);
  assert.equal(sum, ended.scheduled, 'scheduled = the sum of the outcomes');
  assert.equal(open.offered, open.sent + open.dropped, 'offered = sent + dropped');
  assert.equal(open.offered + outcomes[UNSENT], ended.scheduled);
  assert.equal(open.dropped, outcomes[DROPPED]);
  assert.ok(open.completed <= open.sent);
  assert.equal(histogram.count, outcomes[OK], 'every right answer has a response time');
  assert.equal(recorder.service?.count, outcomes[OK], 'and a service time');
  return { ...ended, open, recorder, outcomes };
}

/** A reading costs 100 ns; `pass` is the time that an operation takes. */
function createSettableClock() {
  let nowNs = 0;
  return {
    clock: {
      now: () => {
        nowNs += 100;
        return nowNs;
      },
      date: () => '',
    },
    pass: (/** @type {number} */ ns) => {
      nowNs += ns;
    },
  };
}

/** A store that answers after `turns` turns of the event loop, in each style. */
const STORES = {
  promise: (/** @type {number} */ turns) => (/** @type {number} */ i) =>
    new Promise((resolve) => after(turns, () => resolve(i))),
  callback: (/** @type {number} */ turns) => (/** @type {number} */ i, /** @type {any} */ done) =>
    after(turns, () => done(null, i)),
  sync: () => (/** @type {number} */ i) => i,
};

/**
 * @param {number} turns
 * @param {() => void} then
 */
function after(turns, then) {
  setImmediate(() => (turns <= 1 ? then() : after(turns - 1, then)));
}

describe('every style of call', () => {
  for (const calls of STYLES) {
    test(`${calls}: every operation is sent once, in order, not before it is due`, async () => {
      const clock = createFakeClock({ stepNs: 700 });
      /** @type {number[]} */
      const sent = [];
      let nowNs = 0;
      const store = STORES[calls](2);
      const op = (/** @type {number} */ i, /** @type {any} */ done) => {
        assert.ok(nowNs >= i * 10_000, `operation ${i} at ${nowNs}`);
        sent.push(i);
        return store(i, done);
      };
      const now = () => {
        nowNs = clock.now();
        return nowNs;
      };
      const { outcomes, open } = await runRate({ calls, op, clock: { ...clock, now } });
      assert.equal(outcomes[OK], 1000);
      assert.deepEqual(
        sent,
        Array.from({ length: 1000 }, (_, i) => i),
      );
      assert.equal(open.late, 0);
    });

    test(`${calls}: errors and wrong replies are counted, and have no latencies`, async () => {
      const store = STORES[calls](1);
      const op = (/** @type {number} */ i, /** @type {any} */ done) => {
        if (i % 10 === 1) throw Object.assign(new Error('refused'), { code: 'OOM' });
        return store(i, done);
      };
      const verify = (/** @type {number} */ i) => (i % 10 === 2 ? MISMATCH : OK);
      const { outcomes, open } = await runRate({ calls, op, verify });
      assert.equal(outcomes[OK], 800);
      assert.equal(outcomes[ERROR], 100);
      assert.equal(outcomes[MISMATCH], 100);
      assert.equal(open.completed, 1000);
    });
  }
});

test('a duration schedules what is due in it, and Poisson arrivals are counted beforehand', async () => {
  const durationNs = 20e6;
  const constant = await runRate({ operations: Infinity, durationNs }, { perSecond: 50_000 });
  assert.equal(constant.scheduled, 1000);
  assert.equal(constant.outcomes[OK], 1000);
  const poisson = await runRate({ operations: Infinity, durationNs }, { arrivals: 'poisson' });
  assert.ok(Math.abs(poisson.scheduled - 2000) < 4 * Math.sqrt(2000), `${poisson.scheduled}`);
  assert.equal(poisson.outcomes[OK], poisson.scheduled);
});

test('response time counts from when an operation was due, service time from when it was sent', async () => {
  // A call that blocks for 1 ms once, at operation 100, while 10 µs lie between arrivals.
  const { clock, pass } = createSettableClock();
  const op = (/** @type {number} */ i) => {
    pass(i === 100 ? 1e6 : 1000);
    return i;
  };
  const { recorder, open } = await runRate({ calls: 'sync', op, clock });
  // The 111 waiting operations see the rest of it: each one reduces the delay by 8.9 µs.
  const waiting = 1e6 / (10_000 - 1100);
  const waited = 1000 - countBelow(recorder.histogram, 3000);
  assert.ok(Math.abs(waited - waiting) < 5, `${waited} responses of more than 3 µs`);
  const slow = 1000 - countBelow(/** @type {any} */ (recorder.service), 3000);
  assert.equal(slow, 1, 'only the call itself was slow');
  assert.equal(open.late, 0, 'none was sent more than 1 ms late');
  assert.ok(open.lateNsMax > 0.98e6 && open.lateNsMax < 1e6, `${open.lateNsMax}`);
});

/**
 * @param {import('../../../measure/histogram.js').Histogram} histogram
 * @param {number} ns
 */
function countBelow(histogram, ns) {
  let [low, high] = [0, histogram.count];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (histogram.percentile(middle / histogram.count) <= ns) low = middle;
    else high = middle - 1;
  }
  return low;
}

test('operations sent more than a millisecond late are counted', async () => {
  const { clock, pass } = createSettableClock();
  const op = (/** @type {number} */ i) => {
    if (i === 100) pass(3e6);
    return i;
  };
  const { open } = await runRate({ calls: 'sync', op, clock });
  // 3 ms stand still: those due in the first 2 ms of it are more than 1 ms late, and a few that
  // come due while the loop catches up (200 ns each).
  assert.ok(Math.abs(open.late - 204) <= 2, `${open.late} late`);
  assert.equal(open.dropped, 0);
});

for (const calls of /** @type {const} */ (['promise', 'callback'])) {
  test(`${calls}: no more than the limit is in flight; the rest is dropped and counted`, async () => {
    let inFlight = 0;
    let most = 0;
    const store = STORES[calls](40);
    const op = (/** @type {number} */ i, /** @type {any} */ done) => {
      inFlight += 1;
      most = Math.max(most, inFlight);
      const end = (/** @type {any} */ error, /** @type {any} */ reply) => {
        inFlight -= 1;
        return done?.(error, reply) ?? reply;
      };
      const reply = /** @type {any} */ (store(i, end));
      return calls === 'promise' ? reply.then((/** @type {any} */ value) => end(null, value)) : 0;
    };
    const { open, outcomes } = await runRate({ calls, op }, { maxInFlight: 3 });
    assert.equal(most, 3);
    assert.ok(open.dropped > 100, `${open.dropped} dropped`);
    assert.equal(outcomes[OK] + outcomes[DROPPED], 1000);
  });
}

test('a blocking call: no more than the limit waits, which bounds response times', async () => {
  const { clock, pass } = createSettableClock();
  // 20 µs an operation, one due every 10 µs: half of them must go.
  const op = (/** @type {number} */ i) => {
    pass(20_000);
    return i;
  };
  const { open, recorder } = await runRate({ calls: 'sync', op, clock }, { maxInFlight: 10 });
  assert.ok(Math.abs(open.dropped - 490) < 20, `${open.dropped} dropped`);
  // The last ones wait for ten calls, and nothing comes in any more that would drop them.
  assert.ok(recorder.histogram.max <= 11 * 20_300, `${recorder.histogram.max} ns`);
});

test('a blocking call lets exactly the limit wait', async () => {
  for (const [maxInFlight, dropped] of [
    [3, 0],
    [2, 1],
  ]) {
    const { clock, pass } = createSettableClock();
    // Three are due while the first one blocks.
    const op = (/** @type {number} */ i) => {
      if (i === 0) pass(35_000);
      return i;
    };
    const { open } = await runRate({ calls: 'sync', op, clock, operations: 4 }, { maxInFlight });
    assert.equal(open.dropped, dropped);
  }
});

test('a store that never replies: sent operations time out, later ones are dropped', async () => {
  const { outcomes, ended, open } = await runRate(
    { op: () => new Promise(() => {}), clock: systemClock, stallNs: 50e6, operations: 1e6 },
    { maxInFlight: 10, perSecond: 10_000 },
  );
  assert.equal(ended, 'stalled');
  assert.equal(outcomes[TIMEOUT], 10);
  assert.ok(outcomes[DROPPED] > 100 && outcomes[UNSENT] > 0);
  assert.equal(open.sent, 10);
});

test('a pause between two arrivals is not a stall', async () => {
  const { outcomes, ended } = await runRate(
    { clock: systemClock, stallNs: 50e6, operations: 3 },
    { perSecond: 5 },
  );
  assert.equal(ended, 'complete');
  assert.equal(outcomes[OK], 3);
});

test('a request after a pause has its full time limit', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  const { clock, pass } = createSettableClock();
  const step = () => {
    pass(100e6);
    t.mock.timers.tick(100);
    return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  };
  /** @type {(reply: number) => void} */
  let reply = () => {};
  const op = (/** @type {number} */ i) =>
    i === 0 ? Promise.resolve(0) : new Promise((resolve) => (reply = resolve));
  const running = runRate({ op, clock, stallNs: 250e6, operations: 2 }, { perSecond: 1 });
  for (let i = 0; i < 11; i += 1) await step();
  reply(1);
  const { outcomes, ended } = await running;
  assert.deepEqual([ended, outcomes[OK]], ['complete', 2]);
});

test('an abort stops sending, also between two distant arrivals', async () => {
  const stop = new AbortController();
  const { outcomes, ended } = await runRate(
    {
      clock: systemClock,
      op: async (i) => {
        setTimeout(() => stop.abort(), 10);
        return i;
      },
      operations: 100,
    },
    { perSecond: 0.01 },
    { signal: stop.signal },
  );
  assert.equal(ended, 'aborted');
  assert.equal(outcomes[OK], 1);
  assert.equal(outcomes[UNSENT], 99);
});

test('a driver that calls back twice is counted once', async () => {
  const op = (/** @type {number} */ i, /** @type {any} */ done) => {
    done(null, i);
    setImmediate(() => done(null, i));
  };
  const { outcomes } = await runRate({ op, calls: 'callback' });
  assert.equal(outcomes[OK], 1000);
});

test('a store that only fails is abandoned after the arrivals of five seconds', async () => {
  const op = async () => {
    throw Object.assign(new Error('full'), { code: 'OOM' });
  };
  const clock = createFakeClock({ stepNs: 10_000 }); // a tenth of an interval
  const { outcomes } = await runRate({ op, operations: 100_000, clock }, { perSecond: 10_000 });
  const most = OPEN_FAILURES_S * 10_000;
  assert.ok(outcomes[ERROR] >= most && outcomes[ERROR] <= most + 300, `${outcomes[ERROR]} errors`);
  assert.equal(outcomes[ERROR] + outcomes[UNSENT], 100_000);
});

test('kinds of operation have separate latencies, in an open and in a closed loop', async () => {
  const kinds = { names: ['get', 'set'], of: (/** @type {number} */ i) => (i % 4 === 3 ? 1 : 0) };
  const open = await runRate({ kinds });
  assert.deepEqual(
    open.recorder.byKind.map(({ count }) => count),
    [750, 250],
  );
  const closed = await runLoad({
    op: async (index) => index,
    verify: () => OK,
    calls: 'promise',
    kind: 'window',
    inFlight: 10,
    operations: 1000,
    durationNs: Number.POSITIVE_INFINITY,
    stallNs: 5e9,
    clock: createFakeClock(),
    kinds,
  });
  const recorder = /** @type {DetailedRecorder} */ (closed.recorder);
  assert.equal(recorder.service, null);
  assert.deepEqual(
    recorder.byKind.map(({ count }) => count),
    [750, 250],
  );
  assert.equal(recorder.histogram.count, 1000);
});
