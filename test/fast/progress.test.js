/** Progress without a terminal: plain lines at long intervals, from the view of a real race. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createProgress, showWait } from '../../cli/progress.js';
import { RunView } from '../../cli/run-view.js';
import { createFakeClock } from '../../measure/clock.js';

/** @param {number} stepNs between two readings of its clock */
function plain(stepNs) {
  let text = '';
  const write = (/** @type {string} */ more) => {
    text += more;
  };
  const stream = /** @type {NodeJS.WriteStream} */ (
    /** @type {unknown} */ ({ write, isTTY: false })
  );
  return {
    progress: createProgress(stream, { clock: createFakeClock({ stepNs }) }),
    read: () => text,
  };
}

/** A view as the race has one: its methods need their object. */
class View {
  word = 'half way';

  line() {
    return `[1/2] ${this.word}`;
  }

  lines() {
    return [this.line()];
  }
}

test('the line method of a view is called with the view as this', () => {
  const { progress, read } = plain(6e9);
  progress.show(new View());
  assert.equal(read(), '[1/2] half way\n');
});

test('a line is written every five seconds at most, and the last one always', () => {
  const { progress, read } = plain(1e9);
  for (let i = 0; i < 12; i += 1) progress.update(`step ${i}`, i / 12);
  progress.done('all done');
  assert.equal(read(), 'step 4 (33 %)\nstep 9 (75 %)\nall done\n');
});

test('a wait for another process is printed immediately', () => {
  const { progress, read } = plain(1e6);
  showWait(progress, 'waiting for another run');
  assert.equal(read(), 'waiting for another run\n');
});

test('quiet prints nothing', () => {
  const stream = /** @type {NodeJS.WriteStream} */ (
    /** @type {unknown} */ ({ write: assert.fail })
  );
  const progress = createProgress(stream, { quiet: true });
  progress.update('x');
  progress.show(new View());
  progress.done('y');
});

describe('the remaining time of a run', () => {
  const benchmark = (/** @type {string} */ id, /** @type {number | null} */ durationNs) => ({
    id,
    storage: id,
    profile: 'default',
    workload: 'insert',
    state: 'planned',
    rounds: [],
    load: { kind: 'window', inFlight: 8, durationNs },
  });

  test('is each benchmark’s duration plus the overhead of earlier ones', () => {
    let nowNs = 0;
    const view = new RunView({ clock: { now: () => nowNs } });
    const take = (/** @type {any} */ event) => view.take(event);
    const [short, long] = [benchmark('short', null), benchmark('long', 5e9)];
    const benchmarks = [short, benchmark('b', null), long, benchmark('d', 5e9)];
    const result = { benchmarks, storages: [] };
    take({ type: 'planned', result, plan: { rounds: 2, findMax: null } });
    assert.equal(view.leftNs, null, 'nothing has ended');
    take({ type: 'benchmark-start', benchmark: short });
    assert.equal(view.line(), 'short, 8 in flight (1 of 8) (0 %)');
    nowNs = 1e9;
    take({ type: 'benchmark-end', benchmark: short });
    assert.equal(view.leftNs, 4 * 5e9 + 7 * 1e9);
    take({ type: 'benchmark-start', benchmark: long });
    nowNs = 1e9 + 6e9;
    take({ type: 'benchmark-end', benchmark: long });
    assert.equal(view.leftNs, 3 * 5e9 + 6 * 1e9);
    take({ type: 'benchmark-start', benchmark: short });
    assert.equal(view.line(), 'short, 8 in flight (3 of 8, about 21 s left) (25 %)');
    nowNs += 2e9;
    assert.equal(view.leftNs, 19e9, 'it goes on while a benchmark runs');
    nowNs += 60e9;
    assert.equal(view.leftNs, 0);
    assert.equal(view.line(), 'short, 8 in flight (3 of 8) (25 %)', 'not of the last moments');
  });
});
