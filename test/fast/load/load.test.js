/** The loops, held to their accounting in every kind and style. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ERROR, MISMATCH, MISS, OK, TIMEOUT, UNSENT } from '../../../lib/outcome.js';
import { BufferedRecorder } from '../../../load/buffered-recorder.js';
import { runLoad } from '../../../load/load.js';
import { outcomeOfError, Recorder } from '../../../load/recorder.js';
import { createFakeClock, systemClock } from '../../../measure/clock.js';

const STYLES = /** @type {const} */ (['promise', 'callback', 'sync']);
const KINDS = /** @type {const} */ (['sync', 'window', 'burst']);

/**
 * @param {Partial<import('../../../load/load.js').LoadOptions>} options
 * @returns {import('../../../load/load.js').LoadOptions}
 */
function load(options) {
  return {
    op: async (index) => index,
    verify: (index, reply) => (reply === index ? OK : MISMATCH),
    calls: 'promise',
    kind: 'window',
    inFlight: 10,
    operations: 1000,
    durationNs: Number.POSITIVE_INFINITY,
    stallNs: 5e9,
    clock: createFakeClock(),
    ...options,
  };
}

/** The same store in each style; `answer` may throw. */
const OPS = {
  promise: (/** @type {(i: number) => any} */ answer) => async (/** @type {number} */ i) =>
    answer(i),
  sync: (/** @type {(i: number) => any} */ answer) => answer,
  callback:
    (/** @type {(i: number) => any} */ answer) =>
    (/** @type {number} */ i, /** @type {any} */ done) => {
      setImmediate(() => {
        let reply;
        try {
          reply = answer(i);
        } catch (error) {
          done(error);
          return;
        }
        done(null, reply);
      });
    },
};

/** @param {{ recorder: import('../../../load/recorder.js').Recorder, scheduled: number }} ended */
function assertAccounting({ recorder, scheduled }) {
  const sum = recorder.outcomes.reduce((a, b) => a + b, 0);
  assert.equal(sum, scheduled, 'scheduled = the sum of the outcomes');
  assert.equal(
    recorder.histogram.count,
    recorder.outcomes[OK],
    'only right answers have a latency',
  );
}

describe('every kind of load in every style of call', () => {
  for (const kind of KINDS) {
    for (const calls of STYLES) {
      test(`${kind}, ${calls}: every operation is issued once and counted once`, async () => {
        /** @type {number[]} */
        const issued = [];
        const op = OPS[calls]((i) => {
          issued.push(i);
          return i;
        });
        const ended = await runLoad(load({ kind, calls, op, inFlight: kind === 'sync' ? 1 : 10 }));
        assertAccounting(ended);
        assert.equal(ended.ended, 'complete');
        assert.equal(ended.recorder.outcomes[OK], 1000);
        assert.deepEqual(
          issued.sort((a, b) => a - b),
          Array.from({ length: 1000 }, (_, i) => i),
        );
      });

      test(`${kind}, ${calls}: misses, mismatches, errors and timeouts are counted separately`, async () => {
        const op = OPS[calls]((i) => {
          if (i % 10 === 1) return undefined;
          if (i % 10 === 2) return -1;
          if (i % 10 === 3) throw Object.assign(new Error('refused'), { code: 'OOM' });
          if (i % 10 === 4) throw Object.assign(new Error('late'), { name: 'TimeoutError' });
          return i;
        });
        const verify = (/** @type {number} */ i, /** @type {any} */ reply) =>
          reply === undefined ? MISS : reply === i ? OK : MISMATCH;
        const ended = await runLoad(load({ kind, calls, op, verify }));
        assertAccounting(ended);
        const { outcomes, samples } = ended.recorder;
        assert.equal(outcomes[OK], 600);
        assert.equal(outcomes[MISS], 100);
        assert.equal(outcomes[MISMATCH], 100);
        assert.equal(outcomes[ERROR], 100);
        assert.equal(outcomes[TIMEOUT], 100);
        assert.equal(samples.length, 10, 'at most ten samples are kept');
        assert.ok(samples.some(({ code }) => code === 'OOM'));
      });
    }
  }
});

for (const calls of /** @type {const} */ (['promise', 'callback'])) {
  test(`a window of ten ${calls} calls has ten in flight, never more`, async () => {
    let inFlight = 0;
    let most = 0;
    const settle = () => {
      inFlight -= 1;
    };
    const begin = () => {
      inFlight += 1;
      most = Math.max(most, inFlight);
    };
    const op =
      calls === 'promise'
        ? (/** @type {number} */ i) => {
            begin();
            return new Promise((resolve) => {
              setImmediate(() => {
                settle();
                resolve(i);
              });
            });
          }
        : (/** @type {number} */ i, /** @type {any} */ done) => {
            begin();
            setImmediate(() => {
              settle();
              done(null, i);
            });
          };
    const ended = await runLoad(load({ calls, op, inFlight: 10 }));
    assert.equal(ended.recorder.outcomes[OK], 1000);
    assert.equal(most, 10);
  });
}

test('a burst issues all operations before the first reply', async () => {
  let issued = 0;
  let issuedAtFirstReply = 0;
  let notifiedAt = 0;
  const op = (/** @type {number} */ i) => {
    issued += 1;
    return new Promise((resolve) => {
      setImmediate(() => {
        issuedAtFirstReply ||= issued;
        resolve(i);
      });
    });
  };
  const ended = await runLoad(load({ kind: 'burst', op }), {
    onIssued: () => {
      notifiedAt = issued;
    },
  });
  assert.equal(ended.recorder.outcomes[OK], 1000);
  assert.equal(issuedAtFirstReply, 1000);
  assert.equal(notifiedAt, 1000);
});

test('a burst shows progress about each second of its issuing', async () => {
  let nowNs = 0;
  const clock = { ...createFakeClock(), now: () => nowNs };
  let issued = 0;
  /** @type {number[]} */
  const seen = [];
  const op = async (/** @type {number} */ index) => {
    issued += 1;
    nowNs += 1e6;
    return index;
  };
  const ended = await runLoad(load({ kind: 'burst', op, clock, operations: 3500 }), {
    onProgress: () => void seen.push(issued),
  });
  assert.equal(ended.recorder.outcomes[OK], 3500);
  assert.deepEqual(seen, [1000, 2000, 3000]);
});

test('latency is from issue to completion by the passed clock', async () => {
  const clock = createFakeClock({ stepNs: 1000 });
  const ended = await runLoad(load({ kind: 'sync', inFlight: 1, clock, operations: 100 }));
  const { min, max, sum, count } = ended.recorder.histogram;
  // Each operation reads the clock once: its latency is one step.
  assert.deepEqual({ min, max, sum, count }, { min: 1000, max: 1000, sum: 100_000, count: 100 });
});

test('a duration ends the load, and operations not yet due are not unsent', async () => {
  const clock = createFakeClock({ stepNs: 1e6 });
  const ended = await runLoad(
    load({ clock, operations: Number.POSITIVE_INFINITY, durationNs: 100e6, inFlight: 1 }),
  );
  assertAccounting(ended);
  assert.equal(ended.ended, 'complete');
  assert.equal(ended.recorder.outcomes[UNSENT], 0);
  // The clock is read once more after a reply that was compared in full.
  assert.ok(ended.scheduled >= 90 && ended.scheduled <= 100, `${ended.scheduled} operations`);
});

test('a store that never replies: outstanding requests time out, the rest is unsent', async () => {
  const ended = await runLoad(
    load({
      op: () => new Promise(() => {}),
      clock: systemClock,
      stallNs: 50e6,
    }),
  );
  assertAccounting(ended);
  assert.equal(ended.ended, 'stalled');
  assert.equal(ended.recorder.outcomes[TIMEOUT], 10);
  assert.equal(ended.recorder.outcomes[UNSENT], 990);
  assert.equal(ended.recorder.samples[0].code, 'NO_REPLY');
});

test('a burst that takes longer to issue than the time limit waits for its replies', async () => {
  const blocked = new Int32Array(new SharedArrayBuffer(4));
  const ended = await runLoad(
    load({
      kind: 'burst',
      op: async (index) => {
        Atomics.wait(blocked, 0, 0, 20); // the driver's CPU time, in the tick of the burst
        await new Promise((resolve) => setTimeout(resolve, 150));
        return index;
      },
      operations: 20,
      clock: systemClock,
      stallNs: 300e6,
    }),
  );
  assertAccounting(ended);
  assert.equal(ended.ended, 'complete', JSON.stringify(ended.recorder.samples));
});

test('a store that refuses immediately after a stall does not keep the workers running', async () => {
  let calls = 0;
  /** @type {((error: Error) => void)[]} */
  const pending = [];
  const ended = await runLoad(
    load({
      op: () => {
        calls += 1;
        // Bounded, so that a loop without end fails this test and does not hang it.
        if (calls > 100_000) return new Promise(() => {});
        if (calls > 10) return Promise.reject(new Error('closed'));
        return new Promise((_, reject) => pending.push(reject));
      },
      operations: Number.POSITIVE_INFINITY,
      durationNs: 1e12,
      clock: systemClock,
      stallNs: 50e6,
    }),
  );
  assert.equal(ended.ended, 'stalled');
  for (const reject of pending) reject(new Error('closed')); // as drivers do when they are closed
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(calls, 10);
  assertAccounting(ended);
});

test('a store that only fails is abandoned after a thousand failures', async () => {
  const ended = await runLoad(
    load({
      op: async () => {
        throw Object.assign(new Error('full'), { code: 'OOM' });
      },
      operations: 1_000_000,
    }),
  );
  assertAccounting(ended);
  const errors = ended.recorder.outcomes[ERROR];
  assert.ok(errors >= 1000 && errors <= 1010, `${errors} errors`);
  assert.equal(ended.recorder.outcomes[UNSENT], 1_000_000 - errors);
});

test('a correct reply resets the count of failures', async () => {
  const op = async (/** @type {number} */ i) => {
    if (i % 800 !== 799) throw new Error('busy');
    return i;
  };
  const brief = new BufferedRecorder();
  for (const recorder of [undefined, (/** @type {number} */ startNs) => begun(startNs)]) {
    const ended = await runLoad(load({ op, operations: 4000, recorder }));
    const { outcomes } = ended.recorder;
    assert.deepEqual([outcomes[OK], outcomes[ERROR], outcomes[UNSENT]], [5, 3995, 0]);
  }
  /** @param {number} startNs */
  function begun(startNs) {
    brief.reset(startNs, 4000);
    return brief;
  }
});

test('one of 31 replies is compared in full, at drawn distances, the first one too', async () => {
  /** @type {number[]} */
  const inFull = [];
  const verify = (/** @type {number} */ i, /** @type {any} */ _, /** @type {boolean} */ full) => {
    if (full) inFull.push(i);
    return OK;
  };
  await runLoad(load({ kind: 'sync', inFlight: 1, operations: 31_000, verify }));
  // Distances are uniform: the sum of 1,000 of them is 31,000 ± 564 (one standard deviation).
  assert.ok(inFull.length > 945 && inFull.length < 1055, `${inFull.length} in full`);
  const distances = new Set(inFull.slice(1).map((index, i) => index - inFull[i]));
  assert.deepEqual([inFull[0], distances.size], [0, 61]);
});

test('an error is a timeout by its class, name or code', () => {
  class QueryTimeout extends Error {}
  const timeouts = [{ code: 'ETIMEDOUT' }, { name: 'TimeoutError' }, new QueryTimeout()];
  for (const error of timeouts) assert.equal(outcomeOfError(error), TIMEOUT);
  for (const error of [null, new Error('timeout'), { code: 'ECONNRESET' }]) {
    assert.equal(outcomeOfError(error), ERROR);
  }
});

describe('a lost connection', () => {
  const lose = (/** @type {object} */ options) => {
    let isLost = false;
    return runLoad(
      load({
        op: async (/** @type {number} */ i) => {
          isLost ||= i === 500;
          await new Promise(setImmediate);
          if (isLost) throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
          return i;
        },
        ...options,
      }),
    );
  };

  for (const kind of ['sync', 'window', 'burst']) {
    test(`ends a ${kind}: requests in flight fail once, the rest is unsent`, async () => {
      const inFlight = { sync: 1, window: 10, burst: 1000 }[kind];
      const ended = await lose({ kind, inFlight });
      assertAccounting(ended);
      const { outcomes } = ended.recorder;
      assert.equal(ended.lost?.code, 'ECONNRESET');
      assert.ok(outcomes[ERROR] > 0 && outcomes[ERROR] <= Number(inFlight), `${outcomes[ERROR]}`);
      assert.equal(outcomes[OK] + outcomes[ERROR] + outcomes[UNSENT], 1000);
    });
  }

  test('does not end a load with connections to further nodes', async () => {
    const ended = await lose({ hasNodes: true });
    assert.equal(ended.lost, null);
    assert.equal(ended.recorder.outcomes[UNSENT], 0);
  });
});

test('an abort stops issuing, waits for requests in flight, and keeps the count', async () => {
  const controller = new AbortController();
  const op = (/** @type {number} */ i) => {
    if (i === 500) controller.abort();
    return new Promise((resolve) => setImmediate(() => resolve(i)));
  };
  const ended = await runLoad(load({ op, clock: systemClock }), { signal: controller.signal });
  assertAccounting(ended);
  assert.equal(ended.ended, 'aborted');
  assert.equal(ended.recorder.outcomes[OK], 501);
  assert.equal(ended.recorder.outcomes[UNSENT], 499);
});

test('a driver that throws out of the event loop leaves errors, not a hang', async () => {
  const crash = new AbortController();
  const op = (/** @type {number} */ i) => {
    if (i === 100) setImmediate(() => crash.abort(new ReferenceError('err is not defined')));
    return i < 100 ? Promise.resolve(i) : new Promise(() => {});
  };
  const ended = await runLoad(load({ op, clock: systemClock }), { crash: crash.signal });
  assertAccounting(ended);
  assert.equal(ended.ended, 'crashed');
  assert.equal(ended.recorder.outcomes[OK], 100);
  assert.equal(ended.recorder.outcomes[ERROR], 10);
  assert.equal(ended.recorder.outcomes[UNSENT], 890);
  assert.match(ended.recorder.samples[0].message, /err is not defined/);
});

test('a driver that calls back twice is counted once', async () => {
  const op = (/** @type {number} */ i, /** @type {any} */ done) => {
    done(null, i);
    done(null, i);
  };
  for (const kind of KINDS) {
    const ended = await runLoad(load({ op, calls: 'callback', kind }));
    assertAccounting(ended);
    assert.equal(ended.recorder.outcomes[OK], 1000);
  }
});

test('a later second callback counts as the next reply, which is then wrong', async () => {
  const op = (/** @type {number} */ i, /** @type {any} */ done) => {
    setImmediate(() => {
      done(null, i);
      setImmediate(() => done(null, i));
    });
  };
  const ended = await runLoad(load({ op, calls: 'callback', kind: 'sync', inFlight: 1 }));
  assertAccounting(ended);
  assert.ok(ended.recorder.outcomes[MISMATCH] > 300, `${ended.recorder.outcomes}`);
});

test('a synchronous callback does not grow the stack', async () => {
  const op = (/** @type {number} */ i, /** @type {any} */ done) => done(null, i);
  const ended = await runLoad(load({ op, calls: 'callback', operations: 200_000, inFlight: 1 }));
  assert.equal(ended.recorder.outcomes[OK], 200_000);
});

test('a loop without I/O lets timers in', async () => {
  let ticks = 0;
  const timer = setInterval(() => {
    ticks += 1;
  }, 1);
  // 1 ms for a reading: the 100 ms window of the timeline turns every hundredth operation.
  const clock = createFakeClock({ stepNs: 1e6 });
  await runLoad(load({ clock, calls: 'sync', op: (i) => i, operations: 100_000 }));
  clearInterval(timer);
  assert.ok(ticks > 0);
});

test('the timeline sums to the verified replies and stays bounded', async () => {
  const clock = createFakeClock({ stepNs: 50e6 });
  const ended = await runLoad(load({ clock, kind: 'sync', inFlight: 1, operations: 10_000 }));
  const { windows } = ended.recorder;
  assert.equal(
    windows.reduce((a, b) => a + b, 0),
    10_000,
  );
  assert.ok(windows.length <= 1200, `${windows.length} windows`);
  const recorder = new Recorder(0);
  for (let i = 0; i < 5000; i += 1) recorder.ok(0, i * 50e6, i);
  assert.deepEqual([recorder.windowNs, recorder.windows], [400e6, Array(624).fill(8)]);
});
