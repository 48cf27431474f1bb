/** The knee of a ramp: the last rate before one that was not taken. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kneeOf, sustainedOf } from '../../../stats/knee.js';

/** @param {number} offered @param {Partial<import('../../../stats/knee.js').Step>} [rest] */
function step(offered, rest = {}) {
  return { offered, achieved: offered, dropped: 0, p99Ns: 1e5, ...rest };
}

test('is before the first rate that is not achieved within 1 %', () => {
  const steps = [step(1000), step(2000, { achieved: 1985 }), step(4000, { achieved: 3950 })];
  assert.equal(kneeOf(steps), 2000);
  assert.equal(kneeOf(steps.slice(0, 2)), null, 'all were taken');
});

test('is before the first rate with drops, or with growing waits', () => {
  assert.equal(kneeOf([step(1000), step(2000), step(3000, { dropped: 0.001 })]), 2000);
  assert.equal(
    kneeOf([step(1000), step(2000, { p99Ns: 5e5 }), step(3000, { p99Ns: 5.1e5 })]),
    2000,
  );
});

test('does not depend on the order, and a later step that recovers moves nothing', () => {
  const steps = [step(4000), step(3000, { p99Ns: 9e5 }), step(1000), step(2000)];
  assert.equal(kneeOf(steps), 2000);
});

test('is absent if the first rate is already too high, or is the only one', () => {
  assert.equal(kneeOf([step(1000, { achieved: 10 }), step(2000)]), null);
  assert.equal(kneeOf([step(1000)]), null);
  assert.equal(kneeOf([]), null);
  assert.equal(kneeOf([step(1000, { p99Ns: null }), step(2000, { p99Ns: 9e9 })]), null);
});

test('the highest sustained rate is known without a knee as well', () => {
  const steps = [step(1000), step(2000), step(4000)];
  assert.equal(sustainedOf(steps), 4000);
  assert.equal(sustainedOf([...steps, step(8000, { dropped: 0.1 })]), 4000);
  assert.equal(sustainedOf([step(1000, { achieved: 10 })]), null);
});
