/** Variance by level after Kalibera and Jones, and how often to repeat at each. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { repetitionDesign } from '../../../lib/analysis/repetition.js';
import { assertNear } from './near.js';

/** Of libkalibera's own tests, after the paper: three executions of two runs of two iterations. */
const DATA = [
  [
    [9, 5],
    [8, 3],
  ],
  [
    [10, 6],
    [7, 11],
  ],
  [
    [1, 12],
    [2, 4],
  ],
];

test('the known answer of Kalibera and Jones comes out at each level', () => {
  const { mean, s2, t2, counts } = repetitionDesign(DATA);
  assert.equal(mean, 6.5);
  assert.deepEqual(counts, [2, 2, 3]);
  for (const [i, known] of [16.5, 2.6, 3.6].entries()) assertNear(s2[i], known, 0.02, `S² ${i}`);
  for (const [i, known] of [16.5, -5.7, 2.3].entries()) assertNear(t2[i], known, 0.02, `T² ${i}`);
  assertNear(s2[1], 31 / 12, 1e-14);
  assertNear(t2[1], 31 / 12 - 16.5 / 2, 1e-14);
  assertNear(t2[2], 3.5625 - 31 / 24, 1e-14);
});

test('the interval is Student t over the outermost level', () => {
  const { interval, s2 } = repetitionDesign(DATA);
  const half = 4.302652729749464 * Math.sqrt(s2[2] / 3);
  assertNear(interval.low, 6.5 - half, 1e-12);
  assertNear(interval.high, 6.5 + half, 1e-12);
});

test('with costs it says how often to repeat, by the square root of costs and variances', () => {
  const data = [
    [100, 104],
    [110, 114],
    [90, 94],
  ];
  const { t2, repetitions } = repetitionDesign(data, { costs: [1, 100] });
  const expected = Math.ceil(Math.sqrt((100 / 1) * (t2[0] / t2[1])));
  assert.deepEqual(repetitions, [expected]);
  assert.equal(expected, 3);
});

test('a level that adds no variance sends the repetitions to the one below or above', () => {
  const { repetitions } = repetitionDesign(DATA, { costs: [1, 10, 100] });
  // T² of runs is below zero: repeat iterations freely, and one run an execution.
  assert.deepEqual(repetitions, [null, 1]);
  assert.equal(repetitionDesign(DATA).repetitions, null);
});

test('uneven or too short data and missing costs are refused', () => {
  assert.throws(
    () =>
      repetitionDesign([
        [1, 2],
        [1, 2, 3],
      ]),
    { code: 'E_USAGE' },
  );
  assert.throws(() => repetitionDesign([[1], [2]]), { code: 'E_USAGE' });
  assert.throws(() => repetitionDesign([[1, 2], 3]), { code: 'E_USAGE' });
  assert.throws(() => repetitionDesign([1, Number.NaN]), { code: 'E_USAGE' });
  assert.throws(() => repetitionDesign(DATA, { costs: [1, 2] }), { code: 'E_USAGE' });
});
