/** The live view of a race on a terminal, and the plain lines elsewhere. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import pc from 'picocolors';
import { createProgress } from '../../cli/progress.js';
import { RunView } from '../../cli/run-view.js';
import { displayWidth } from '../../lib/format.js';
import { BURST, benchmark, buildResult, raceResult, SYNC } from '../helpers/result-builder.js';

const plain = pc.createColors(false);

/** @param {number} rows above, each cleared */
const erased = (rows) => `\r${'\x1b[1A\x1b[2K'.repeat(rows)}`;

/** A clock that moves only when it is set. */
function handClock() {
  let ns = 0;
  return {
    now: () => ns,
    /** @param {number} ms */
    pass: (ms) => {
      ns += ms * 1e6;
    },
  };
}

/** @param {{ isTTY?: boolean, columns?: number, rows?: number, colors?: boolean }} options */
function fakeStream({ isTTY = true, columns = 80, rows = 24, colors = false }) {
  /** @type {string[]} */
  const written = [];
  const write = (/** @type {string} */ text) => written.push(text);
  const stream = { write, isTTY, columns, rows, hasColors: () => colors };
  return { stream: /** @type {any} */ (stream), written };
}

/** A race in mid-run: the first benchmark has two of its three rounds, the second one runs. */
function runningView() {
  const clock = handClock();
  const view = new RunView({ clock, isRace: true });
  const measured = raceResult().benchmarks.filter(({ storage }) => storage === 'redis');
  const benchmarks = measured.map((one) => benchmark({ ...one, state: 'planned', rounds: [] }));
  const result = buildResult({ benchmarks });
  const planned = /** @type {any} */ ({
    type: 'planned',
    result,
    plan: { rounds: 3, findMax: null },
  });
  view.take(planned);
  const [first, second] = result.benchmarks;
  for (const round of measured[0].rounds.slice(0, 2)) {
    view.take({ type: 'benchmark-start', benchmark: first, round: 0, rounds: 3 });
    clock.pass(4000);
    first.rounds.push(round);
    view.take({ type: 'benchmark-end', benchmark: first, round, result });
  }
  view.take({ type: 'benchmark-start', benchmark: second, round: 0, rounds: 3 });
  view.take({ type: 'progress', benchmark: second, phase: 'warmup', settled: 100 });
  clock.pass(500);
  view.take({ type: 'progress', benchmark: second, phase: 'measure', settled: 500 });
  clock.pass(500);
  view.take({ type: 'progress', benchmark: second, phase: 'measure', settled: 3000 });
  return { view, clock, result };
}

test('a row per contender, a column per load: operations per second, ratio, p99', () => {
  const { view } = runningView();
  const lines = view.lines({ columns: 110, rows: 30, colors: plain });
  assert.equal(lines.length, 4);
  assert.match(lines[0], /^ +1 in flight +all at once$/);
  assert.match(lines[1], /^redis +12,6\d\d ops\/s +1\.00× +p99 +[\d.]+ µs$/);
  assert.match(lines[2], /^redis:tuned +5,000 ops\/s$/);
  assert.match(lines[3], /^█{5}░{19} 3 of 12, about 39 s left; redis:tuned$/);
});

test('the remaining time is based on others of the load, as soon as one has ended', () => {
  const { view, clock, result } = runningView();
  const [round] = raceResult().benchmarks[1].rounds;
  view.take({ type: 'benchmark-end', benchmark: result.benchmarks[1], round, result });
  view.take({ type: 'benchmark-start', benchmark: result.benchmarks[2], round: 0, rounds: 3 });
  clock.pass(10_000);
  view.take({ type: 'benchmark-end', benchmark: result.benchmarks[2], round, result });
  const lines = view.lines({ columns: 100, rows: 30, colors: plain });
  // Two rounds of 4 s and one of 1 s in one load, one of 10 s in the other.
  assert.match(lines.at(-1) ?? '', / 5 of 12, about 1 min 2 s left$/);
});

test('no line is wider than the terminal, and no more lines than it has rows', () => {
  const { view } = runningView();
  for (let columns = 1; columns <= 130; columns += 1) {
    for (const line of view.lines({ columns, rows: 30, colors: plain })) {
      assert.ok(displayWidth(line) <= columns, `${columns}: ${line}`);
    }
  }
  for (const [columns, parts] of /** @type {const} */ ([
    [119, /12,6\d\d ops\/s.*1\.00×.*p99/],
    [79, /12,6\d\d ops\/s.*1\.00×$/],
    [45, /12,6\d\d ops\/s$/],
  ])) {
    const lines = view.lines({ columns, rows: 30, colors: plain });
    assert.match(lines[1], parts, `at ${columns} columns`);
  }
  const few = view.lines({ columns: 80, rows: 3, colors: plain });
  assert.equal(few.length, 3);
  assert.match(few[1], /redis:tuned/, 'what runs is among them');
});

test('a name that would move the cursor is shown as text', () => {
  const view = new RunView();
  const benchmarks = [
    benchmark({ storage: 'a\u001b[2Jb', load: SYNC, state: 'planned' }),
    benchmark({ storage: 'c', load: BURST, state: 'planned' }),
  ];
  const result = buildResult({ benchmarks });
  view.take(/** @type {any} */ ({ type: 'planned', result, plan: { rounds: 1, findMax: null } }));
  const text = view.lines({ columns: 80, rows: 20, colors: plain }).join('');
  assert.doesNotMatch(text, /\u001b/);
  assert.match(text, /a\\x1b\[2Jb/);
});

test('it is drawn at most four times a second, and erased completely', () => {
  const clock = handClock();
  const { stream, written } = fakeStream({ columns: 40 });
  const progress = createProgress(stream, { clock });
  for (let ms = 0; ms < 2000; ms += 10) {
    progress.show({ lines: () => [`at ${ms}`, 'second'], line: () => '' });
    clock.pass(10);
  }
  assert.equal(written.length, 8);
  assert.equal(written[0], 'at 0\nsecond\n');
  assert.equal(written[1], `${erased(2)}at 250\nsecond\n`);
  progress.done();
  assert.equal(written.at(-1), erased(2));
  progress.done();
  assert.equal(written.length, 9);
});

test('after a resize as many rows are erased as the wrapped lines have', () => {
  const clock = handClock();
  const { stream, written } = fakeStream({ columns: 100, colors: true });
  const progress = createProgress(stream, { clock });
  const view = {
    line: () => '',
    lines: (/** @type {import('../../cli/progress.js').Area} */ { columns, colors }) => [
      colors.red('x'.repeat(Math.min(90, columns))),
      'short',
    ],
  };
  progress.show(view);
  assert.match(written[0], /^\x1b\[31mx{90}\x1b\[39m\nshort\n$/);
  stream.columns = 40;
  clock.pass(300);
  progress.show(view);
  assert.ok(written[1].startsWith(erased(4)), JSON.stringify(written[1].slice(0, 50)));
  assert.match(written[1], /x{39}\x1b/);
});

test('colours can be switched off', () => {
  const { stream, written } = fakeStream({ colors: false });
  createProgress(stream, { clock: handClock() }).update('filling', 0.5);
  assert.equal(written[0], `${'█'.repeat(12)}${'░'.repeat(12)} filling\n`);
});

test('without a terminal a line is printed every five seconds, with --quiet none', () => {
  const clock = handClock();
  const { stream, written } = fakeStream({ isTTY: false });
  const progress = createProgress(stream, { clock });
  const { view } = runningView();
  for (let s = 0; s < 20; s += 1) {
    progress.show(view);
    clock.pass(1000);
  }
  assert.equal(written.length, 3);
  assert.equal(written[0], '[3/12] redis:tuned, 1 in flight: 5,000 ops/s (21 %)\n');
  const quiet = fakeStream({});
  const silent = createProgress(quiet.stream, { quiet: true, clock });
  silent.update('x');
  silent.show(view);
  silent.done('y');
  assert.deepEqual(quiet.written, []);
});
