/** Verdicts, ranks, how much to measure, drift and the rows of a table. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { simulateRace } from '../../../bench/simulated-race.js';
import { processMeans } from '../../../stats/blocks.js';
import { contest } from '../../../stats/contenders.js';
import { driftOf } from '../../../stats/drift.js';
import { blocksFor, leastNs, roundsForPrecision, stopReason } from '../../../stats/precision.js';
import { rankContenders, toRatio } from '../../../stats/separation.js';
import { standingsOf } from '../../../stats/standings.js';
import { assertNear as near } from './near.js';

const RACE = { rounds: 8, blocks: 30, processDeviation: 0.01 };

describe('verdicts', () => {
  test('faster and slower where the interval excludes 1 and the effect is above 1 %', () => {
    const faster = toRatio(-0.05, 0.03, 8);
    assert.equal(faster.answer, 'faster');
    assert.equal(faster.possible, null);
    near(faster.ratio, Math.exp(0.05), 1e-12);
    assert.equal(toRatio(0.05, 0.03, 8).answer, 'slower');
    assert.equal(toRatio(0.009, 0.001, 8).answer, 'tied');
  });

  test('what is not shown has a number: the greatest difference that there may be', () => {
    const { answer, possible, halfWidth } = toRatio(0.02, 0.04, 8);
    assert.equal(answer, 'not resolved');
    near(possible, Math.expm1(0.06), 1e-12);
    near(halfWidth, Math.expm1(0.04), 1e-12);
    assert.equal(toRatio(0.02, 0.028, 8).answer, 'tied');
    const one = toRatio(0.5, Infinity, 1);
    assert.deepEqual([one.low, one.possible, one.answer], [null, null, 'not resolved']);
  });
});

describe('ranks', () => {
  test('equal contenders share a rank, a slower one has the next', () => {
    const logs = [8.5, 8, 8, 9];
    const own = contest(processMeans(simulateRace({ ...RACE, logs }, 2)));
    const standings = rankContenders(own);
    assert.deepEqual(
      standings.map(({ rank, rankWorst }) => [rank, rankWorst]),
      [
        [1, 2],
        [1, 2],
        [3, 3],
        [4, 4],
      ],
    );
    assert.deepEqual(standings.map(({ index, tiedWith }) => [index, tiedWith]).sort(), [
      [0, []],
      [1, [2]],
      [2, [1]],
      [3, []],
    ]);
  });
});

describe('how much to measure', () => {
  const state = { precision: 0.03, budgetNs: 120e9, roundNs: 10e9 };

  test('the least time of a race: three rounds of all processes, or those fixed by hand', () => {
    assert.equal(Math.round(leastNs([2, 2], null) / 1e7), 264);
    assert.equal(leastNs([9], 6), 2 * leastNs([3], null));
  });

  test('never before six rounds; then when it is precise, or the budget is spent', () => {
    const precise = { ...state, halfWidths: [0.02, 0.03], spentNs: 50e9 };
    assert.equal(stopReason({ ...precise, rounds: 5 }), null);
    assert.equal(stopReason({ ...precise, rounds: 6 }), 'precise');
    const coarse = { ...state, halfWidths: [0.02, 0.031], rounds: 6 };
    assert.equal(stopReason({ ...coarse, spentNs: 60e9 }), null);
    assert.equal(stopReason({ ...coarse, spentNs: 111e9 }), 'budget');
  });

  test('rounds for a precision: more than the square, as Student’s quantile shrinks', () => {
    const now = { half: Math.log1p(0.06), rounds: 8, confidence: 0.95 };
    const rounds = roundsForPrecision({ ...now, precision: 0.03 });
    assert.ok(rounds !== null && rounds > 20 && rounds < 32, `${rounds}`);
    assert.equal(roundsForPrecision({ ...now, half: Math.log1p(0.0299), precision: 0.03 }), 8);
    assert.equal(roundsForPrecision({ ...now, precision: 0.0001 }), null);
  });

  test('blocks: all rounds within the budget, eight where they leave time, else six', () => {
    const calm = { startNs: 5e9, blockNs: 0.25e9 };
    assert.equal(blocksFor(calm, { budgetNs: 120e9 }), 40);
    assert.equal(blocksFor(calm, { budgetNs: 120e9, rounds: 12 }), 20);
    assert.equal(blocksFor({ startNs: 12e9, blockNs: 0.25e9 }, { budgetNs: 120e9 }), 32);
    assert.equal(blocksFor({ startNs: 30e9, blockNs: 0.25e9 }, { budgetNs: 120e9 }), 10);
    assert.equal(blocksFor({ startNs: 0, blockNs: 1e6 }, { budgetNs: 120e9 }), 60);
  });
});

describe('drift', () => {
  test('is marked only where the whole interval is beyond 2 %', () => {
    const rows = (/** @type {number} */ slope) =>
      Array.from({ length: 6 }, (_, round) =>
        Array.from({ length: 30 }, (__, i) => slope * i + 0.001 * ((i * 7 + round) % 5)),
      );
    assert.equal(driftOf(rows(0))?.marked, false);
    assert.equal(driftOf(rows(-0.0005))?.marked, false);
    const falling = driftOf(rows(-0.005));
    assert.equal(falling?.marked, true);
    near(/** @type {number} */ (falling?.ratio), Math.exp(-0.1), 0.01);
    assert.equal(driftOf([[1, 2, 3]]), null);
  });
});

describe('the rows of a table', () => {
  const names = ['a', 'b', 'c', 'file', 'a (A/A)', 'ceiling'];
  const logs = [8, 8.3, 9, 6, 8, 7];
  const groups = /** @type {const} */ ([
    'networked',
    'networked',
    'networked',
    'embedded',
    'again',
    'ceiling',
  ]);
  const times = simulateRace({ ...RACE, logs }, 4);
  const standings = standingsOf(
    names.map((name, i) => ({
      name,
      group: groups[i],
      of: 'a',
      time: times[i],
      ceiling: i < 3 ? 'ceiling' : undefined,
      witnesses: { clientCpu: times[i], serverCpu: i === 3 ? times[i].map(() => []) : times[i] },
    })),
  );

  test('networked, embedded, then the others; ranks within a group', () => {
    assert.deepEqual(
      standings.rows.map(({ name, rank }) => [name, rank]),
      [
        ['a', 1],
        ['b', 2],
        ['c', 3],
        ['file', 1],
        ['a (A/A)', null],
        ['ceiling', null],
      ],
    );
    assert.equal(standings.rows[3].vsFastest?.ratio, 1);
  });

  test('ratios hold the truth: to the fastest, to the ceiling, of A to A', () => {
    const [, b] = standings.rows;
    const holds = (/** @type {any} */ { low, high }, /** @type {number} */ truth) =>
      assert.ok(low <= truth && truth <= high, `${truth} in ${low} to ${high}`);
    holds(b.vsFastest, Math.exp(-0.3));
    holds(b.ofCeiling, Math.exp(-1.3));
    holds(standings.again, 1);
    holds(b.witnesses['clientCpu'].ratio, Math.exp(-0.3));
    assert.equal(standings.rows[3].witnesses['serverCpu'], undefined);
  });
});
