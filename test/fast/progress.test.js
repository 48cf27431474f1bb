/** Progress where there is no terminal: plain lines, seldom, of the view of a real race. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createProgress, showWait } from '../../cli/progress.js';
import { TimeLeft } from '../../cli/run-progress.js';
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

test('a view is asked for its line with itself as this', () => {
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

test('a wait for another process is a line at once', () => {
  const { progress, read } = plain(1e6);
  showWait(progress, 'waiting for another run');
  assert.equal(read(), 'waiting for another run\n');
});

test('quiet says nothing', () => {
  const stream = /** @type {NodeJS.WriteStream} */ (
    /** @type {unknown} */ ({ write: assert.fail })
  );
  const progress = createProgress(stream, { quiet: true });
  progress.update('x');
  progress.show(new View());
  progress.done('y');
});

describe('the time that is left of a run', () => {
  const benchmark = (/** @type {number | null} */ durationNs) =>
    /** @type {any} */ ({ load: { kind: 'window', durationNs } });

  test('is each benchmark’s own duration and what those before took beside theirs', () => {
    let nowNs = 0;
    const time = new TimeLeft({ now: () => nowNs });
    const short = benchmark(null);
    const long = benchmark(5e9);
    time.plan([short, short, long, long], 2);
    assert.equal(time.ns, null, 'nothing has ended');
    assert.equal(time.text, '1 of 8');
    nowNs = 1e9;
    time.end(short);
    assert.equal(time.ns, 4 * 5e9 + 7 * 1e9);
    nowNs = 1e9 + 6e9;
    time.end(long);
    assert.equal(time.ns, 3 * 5e9 + 6 * 1e9);
    assert.equal(time.text, '3 of 8, about 21 s left');
    nowNs += 2e9;
    assert.equal(time.ns, 19e9, 'it goes on while a benchmark runs');
    nowNs += 60e9;
    assert.equal(time.ns, 0);
    assert.equal(time.text, '3 of 8', 'nothing is said of the last moments');
  });
});
