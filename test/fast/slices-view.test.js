/** A race by slices in progress on a terminal: lines, width, and the final output. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createProgress } from '../../cli/progress.js';
import { roundLine } from '../../cli/run-progress.js';
import { RunView } from '../../cli/run-view.js';
import { displayWidth } from '../../lib/format.js';
import { slicedResult } from '../helpers/slices.js';

const plain = (/** @type {string | number} */ text) => String(text);
const colors = /** @type {import('../../cli/progress.js').Colors} */ (
  /** @type {unknown} */ ({
    cyan: plain,
    dim: plain,
    bold: plain,
    green: (/** @type {string} */ x) => `*${x}`,
  })
);

/** @param {number} [nowNs] time of its clock, which can be set */
function viewOf(nowNs = 0) {
  const clock = { nowNs, now: () => clock.nowNs };
  const view = new RunView({ clock, isRace: true });
  const result = slicedResult();
  const plan = { slices: {}, rounds: 1, findMax: null };
  const rounds = result.benchmarks.map((one) => one.rounds);
  for (const one of result.benchmarks) Object.assign(one, { state: 'planned', rounds: [] });
  view.take(/** @type {any} */ ({ type: 'planned', result, plan }));
  /** @param {number} round */
  const end = (round) => {
    for (const [i, one] of result.benchmarks.entries()) one.rounds.push(rounds[i][round]);
    view.take({ type: 'round-end', round, spentNs: 1e9, resolves: [round === 0 ? null : 0.034] });
  };
  const at = (/** @type {number} */ leftNs) =>
    view.take({ type: 'comparison', round: 1, phase: 'block 3 of 9', spentNs: 10e9, leftNs });
  return { view, clock, end, at };
}

/** @param {RunView} view @param {number} [columns] @param {number} [rows] */
const draw = (view, columns = 100, rows = 40) => view.lines({ columns, rows, colors });

describe('the view of a race by slices', () => {
  test('has a row for each storage from the start, and an estimate with the first event', () => {
    const { view, at } = viewOf();
    assert.match(draw(view).join('\n'), /manual-hs[\s\S]*lmdb[\s\S]*preparing/);
    at(30e9);
    assert.match(draw(view).at(-1) ?? '', /round 2, block 3 of 9; about 30 s left \(25 %\)/);
  });

  test('advances between two events, and is never complete before the end', () => {
    const { view, clock, at } = viewOf();
    at(30e9);
    clock.nowNs = 10e9;
    assert.match(view.line(), /about 20 s left \(50 %\)/);
    clock.nowNs = 100e9;
    assert.match(view.line(), /ending \(99 %\)/);
  });

  test('shows figures and ratios after a round, the fastest marked, embedded stores apart', () => {
    const { view, end, at } = viewOf();
    at(30e9);
    end(0);
    end(1);
    const text = draw(view).join('\n');
    assert.match(text, /manual-hs\* +5\d,\d{3} ops\/s +1\.00×/);
    assert.match(text, /redis +3\d,\d{3} ops\/s +0\.61×/);
    assert.match(text, /lmdb +3\d\d,\d{3} ops\/s +p99/m);
    assert.match(text, /resolves 3\.4 % \(1 in flight\)/);
  });

  test('is never wider or higher than the terminal', () => {
    const { view, end, at } = viewOf();
    at(30e9);
    end(0);
    for (const columns of [20, 30, 40, 80, 200]) {
      for (const rows of [3, 8, 40]) {
        const lines = draw(view, columns, rows);
        assert.ok(lines.length <= rows, `${lines.length} lines in ${rows}`);
        for (const line of lines) {
          assert.ok(displayWidth(line.replace('*', '')) <= columns, `${columns}: ${line}`);
        }
      }
    }
  });

  test('is one line per round without a terminal', () => {
    const event = { type: /** @type {const} */ ('round-end'), round: 2, spentNs: 21e9 };
    assert.equal(
      roundLine({ ...event, resolves: [0.034, null] }, ['1 in flight', '100 in flight']),
      'round 3: 21 s, resolves 3.4 % (1 in flight)',
    );
  });
});

test('a dumb terminal gets plain lines, without escapes', () => {
  const before = process.env['TERM'];
  process.env['TERM'] = 'dumb';
  let text = '';
  const write = (/** @type {string} */ more) => {
    text += more;
  };
  try {
    const stream = /** @type {NodeJS.WriteStream} */ (
      /** @type {unknown} */ ({ write, isTTY: true, columns: 80, rows: 24 })
    );
    let nowNs = 0;
    const progress = createProgress(stream, { clock: { now: () => (nowNs += 6e9) } });
    assert.equal(progress.live, false);
    progress.show(viewOf().view);
    progress.done();
  } finally {
    if (before === undefined) delete process.env['TERM'];
    else process.env['TERM'] = before;
  }
  assert.equal(text, 'preparing\n');
});
