/** Progress where there is no terminal: plain lines, seldom, of the view of a real race. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createProgress } from '../../cli/progress.js';
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

test('quiet says nothing', () => {
  const stream = /** @type {NodeJS.WriteStream} */ (
    /** @type {unknown} */ ({ write: assert.fail })
  );
  const progress = createProgress(stream, { quiet: true });
  progress.update('x');
  progress.show(new View());
  progress.done('y');
});
