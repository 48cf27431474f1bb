/** Verdicts, ranks, how much to measure, drift and the rows of a table. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { median } from 'simple-statistics';
import { simulateRace } from '../../../bench/simulated-race.js';
import { processMeans, withoutBlockState } from '../../../stats/blocks.js';
import { contest, differenceOf } from '../../../stats/contenders.js';
import { driftOf } from '../../../stats/drift.js';
import { longSlicesOf } from '../../../stats/long-slices.js';
import {
  blocksByDeviations,
  blocksFor,
  leastNs,
  roundsForPrecision,
  stopReason,
} from '../../../stats/precision.js';
import { rankContenders, toRatio } from '../../../stats/separation.js';
import {
  deviationRatioOf,
  figureOfEntries,
  pairOf,
  standingsOf,
} from '../../../stats/standings.js';
import { assertNear as near } from './near.js';

const RACE = { rounds: 8, blocks: 30, processDeviation: 0.01 };

describe('verdicts', () => {
  test('faster and slower if the interval excludes 1 and the effect is above 1 %', () => {
    const faster = toRatio(-0.05, 0.03, 8);
    assert.equal(faster.answer, 'faster');
    assert.equal(faster.possible, null);
    near(faster.ratio, Math.exp(0.05), 1e-12);
    assert.equal(toRatio(0.05, 0.03, 8).answer, 'slower');
    assert.equal(toRatio(0.009, 0.001, 8).answer, 'tied');
  });

  test('an unresolved difference has a number: the greatest possible difference', () => {
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
    const contested = contest(processMeans(simulateRace({ ...RACE, logs }, 2)));
    const standings = rankContenders(contested);
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

describe('the rank and the ratio that is printed beside it', () => {
  const cells = [
    { rounds: 5, blocks: 1 },
    { rounds: 6, blocks: 12 },
    { rounds: 6, blocks: 12, factors: [4, 1, 1, 1, 1, 1] },
  ];
  test('use the same interval: below rank 1 it excludes 1, at rank 1 it does not', () => {
    let below = 0;
    for (const cell of cells) {
      for (let seed = 1; seed <= 60; seed += 1) {
        const logs = Array.from({ length: 6 }, (_, i) => 8 + 0.01 * (seed % 6) * i);
        const race = { ...cell, logs, processDeviation: 0.03, sliceDeviation: 0.03 };
        const entries = simulateRace(race, seed).map((time, i) => ({
          name: `s${i}`,
          group: /** @type {const} */ ('networked'),
          time,
          ownGarbage: seed % 2 === 0,
        }));
        const { rows } = standingsOf(entries);
        for (const { name, rank, vsFastest } of rows.slice(1)) {
          const { answer, high = null } = vsFastest ?? {};
          const where = `${JSON.stringify(race)}, seed ${seed}: ${name}`;
          assert.equal(Number(rank) > 1, answer === 'slower', where);
          if (answer === 'slower') assert.ok(Number(high) < 1, where);
          if (Number(high) >= 1) assert.ok(rows[0].tiedWith.includes(name), where);
          if (Number(rank) > 1) below += 1;
        }
      }
    }
    assert.ok(below > 100, `${below} below rank 1`);
  });
});

describe('typical speed and total time', () => {
  const base = { rounds: 8, blocks: 40, processDeviation: 0.003, spikes: 0 };
  const quiet = { ...base, blockDeviation: 0.01, sliceDeviation: 0.01 };
  /**
   * @param {number[]} logs
   * @param {(slice: number, block: number) => number} pauses pauses of the second
   */
  const rowsOf = (logs, pauses, more = {}) => {
    const times = simulateRace({ ...quiet, logs }, 11);
    times[1] = times[1].map((row) => row.map(pauses));
    const named = times.map((time, i) => ({ name: 'abc'[i], time, ...more }));
    return standingsOf(
      named.map((one) => ({ ...one, group: /** @type {const} */ ('networked'), ownGarbage: true })),
    );
  };
  const each10th = (/** @type {number} */ slice, /** @type {number} */ block) =>
    block % 10 === 0 ? slice + Math.log(3) : slice;

  test('pauses affect ops/s and hardly the ratio; they are reported', () => {
    const { rows } = rowsOf([8, 8, 9], each10th);
    const [a, b] = ['a', 'b'].map((name) => rows.find((row) => row.name === name));
    near(Number(b?.nsPerOperation) / Number(a?.nsPerOperation), 1.2, 0.02);
    assert.equal(rows.find(({ name }) => name === 'c')?.isUneven, false);
    const slow = [a, b].find((one) => one?.vsFastest?.ratio !== 1);
    assert.ok(Math.abs(Number(slow?.vsFastest?.ratio) - 1) < 0.02);
    assert.equal(slow?.isUneven, true);
  });

  test('typically faster but slower in total is split: neither wins the rank', () => {
    const { rows } = rowsOf([8, 7.92, 9], each10th);
    assert.deepEqual(
      rows.map(({ name, rank, vsFastest }) => [name, rank, vsFastest?.answer]),
      [
        ['b', 1, 'tied'],
        ['a', 1, 'split'],
        ['c', 3, 'slower'],
      ],
    );
    const { ratio, mean, possible } = Object(rows[1].vsFastest);
    near(ratio, Math.exp(-0.08), 0.01);
    assert.ok(mean > 1.05, `${mean}`);
    assert.equal(possible, null);
  });

  test('is typical only if every contender is charged: an uncharged process would look faster', () => {
    const times = simulateRace({ ...quiet, logs: [8, 8, 8] }, 11);
    // Uncharged: a collection in each fourth slice, and none in the others.
    times[1] = times[1].map((row) =>
      row.map((slice, block) => (block % 4 === 0 ? slice + Math.log(1.6) : slice)),
    );
    const ratioOf = (/** @type {boolean[]} */ charged) => {
      const entries = times.map((time, i) => ({
        name: 'abc'[i],
        group: /** @type {const} */ ('networked'),
        time,
        ownGarbage: charged[i],
      }));
      return Number(pairOf(entries, 'b', 'a')?.speed.ratio);
    };
    assert.ok(ratioOf([true, true, true]) > 0.98, `${ratioOf([true, true, true])}`);
    assert.ok(ratioOf([true, false, true]) < 0.92, `${ratioOf([true, false, true])}`);
    assert.ok(ratioOf([true, true, false]) < 0.92, `${ratioOf([true, true, false])}`);
    const ceiling = { name: 'x', group: /** @type {const} */ ('ceiling'), time: times[0] };
    const others = { group: /** @type {const} */ ('again'), time: times[0] };
    const withGarbage = { ...others, name: 'y', ownGarbage: true };
    assert.equal(figureOfEntries([withGarbage, ceiling]), 'typical');
    assert.equal(figureOfEntries([withGarbage, ceiling, { ...others, name: 'z' }]), 'trimmed');
    assert.equal(figureOfEntries([ceiling]), 'trimmed');
  });

  test('if clients wait for a processor most of the time there are no ranks and no verdicts', () => {
    const same = (/** @type {number} */ slice) => slice;
    const calm = rowsOf([8, 8.5, 9], same, { waiting: [0.1, 0.3, 0.4, 0.4, 0, 0, 0, 0.9] });
    assert.deepEqual([calm.isBusy, calm.rows[2].rank], [false, 3]);
    const waiting = Array.from({ length: 8 }, (_, round) => (round < 3 ? 0.1 : 0.6));
    const busy = rowsOf([8, 8.5, 9], same, { waiting });
    assert.equal(busy.waiting, 0.6);
    assert.equal(busy.isBusy, true);
    for (const { rank, vsFastest } of busy.rows.slice(1)) {
      assert.deepEqual([rank, vsFastest?.answer], [null, 'not resolved']);
    }
  });

  test('if their waits are unknown, slices over twice the median of their process show it', () => {
    const slow =
      (/** @type {number} */ each) => (/** @type {number} */ slice, /** @type {number} */ i) =>
        i % each === 0 ? slice + 1 : slice;
    const ofAll = (/** @type {number} */ each, more = {}) => {
      const times = simulateRace({ ...quiet, logs: [8, 8.5, 9] }, 11);
      const entries = times.map((time, i) => ({
        name: 'abc'[i],
        group: /** @type {const} */ ('networked'),
        time: time.map((row) => row.map(slow(each))),
        ...more,
      }));
      return standingsOf(entries);
    };
    assert.deepEqual([ofAll(8).slow, ofAll(8).isBusy], [0.125, true]);
    assert.deepEqual([ofAll(20).slow, ofAll(20).isBusy], [0.05, false]);
    const known = ofAll(8, { waiting: Array(8).fill(0.1) });
    assert.deepEqual([known.slow, known.isBusy], [null, false]);
    assert.equal(rowsOf([8, 8.5, 9], slow(4)).isBusy, false, 'one driver with stalls');
  });
});

describe('standings of a run', () => {
  const logs = [8, 8.1, 8.3, 8.6];
  const entriesOf = (/** @type {number} */ blocks, /** @type {number} */ seed) =>
    simulateRace({ ...RACE, blocks, logs }, seed).map((time, i) => ({
      name: `s${i}`,
      group: /** @type {const} */ ('networked'),
      time,
    }));

  test('processes of ten segments or more pool their variance, with fewer they do not', () => {
    for (const blocks of [9, 10]) {
      const entries = entriesOf(blocks, 5);
      const own = contest(processMeans(entries.map(({ time }) => time)), { pooled: blocks >= 10 });
      const { rows } = standingsOf(entries);
      for (const [i, { vsFastest }] of rows.entries()) {
        const half = i === 0 ? 0 : Math.expm1(differenceOf(own, i, 0).halfOfAll);
        near(vsFastest?.halfWidth ?? null, half, 1e-12);
      }
      assert.deepEqual([rows[0].vsFastest?.low, rows[0].vsFastest?.high], [1, 1]);
    }
  });

  test('drifts of all rows hold jointly: one of twenty would be marked by chance', () => {
    const entries = entriesOf(30, 6);
    const residuals = withoutBlockState(entries.map(({ time }) => time));
    for (const [i, { drift }] of standingsOf(entries).rows.entries()) {
      assert.deepEqual(drift, driftOf(residuals[i], { confidence: 1 - 0.05 / 4 }));
    }
  });
});

describe('amount of measurement', () => {
  const state = { precision: 0.03, budgetNs: 120e9, roundNs: 10e9 };

  test('the minimum time of a race: three rounds of all processes, or the fixed number', () => {
    assert.equal(Math.round(leastNs([2, 2], null) / 1e7), 264);
    assert.equal(leastNs([9], 6), 2 * leastNs([3], null));
  });

  test('never before six rounds; then once precise, or when the budget is spent', () => {
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

  test('blocks: all rounds within the budget, eight if there is time, else six', () => {
    const calm = { startNs: 5e9, blockNs: 0.25e9 };
    assert.equal(blocksFor(calm, { budgetNs: 120e9 }), 40);
    assert.equal(blocksFor(calm, { budgetNs: 120e9, rounds: 12 }), 20);
    assert.equal(blocksFor({ startNs: 12e9, blockNs: 0.25e9 }, { budgetNs: 120e9 }), 32);
    assert.equal(blocksFor({ startNs: 30e9, blockNs: 0.25e9 }, { budgetNs: 120e9 }), 10);
    assert.equal(blocksFor({ startNs: 0, blockNs: 1e6 }, { budgetNs: 120e9 }), 60);
  });
});

describe('blocks of further rounds', () => {
  const race = { logs: Array(6).fill(8), rounds: 8, blocks: 30, blockDeviation: 0.02, spikes: 0 };
  /** @param {number} slice @param {number} process deviations */
  const ratioOf = (slice, process, ownGarbage = false) => {
    const parameters = { ...race, sliceDeviation: slice, processDeviation: process };
    const ratios = Array.from({ length: 20 }, (_, seed) => {
      const entries = simulateRace(parameters, seed).map((time, i) => ({
        name: `s${i}`,
        group: /** @type {const} */ ('networked'),
        time,
        ownGarbage,
      }));
      return Number(deviationRatioOf(entries));
    });
    return median(ratios);
  };

  test('the deviation of a slice over that of a process equals that of the simulation', () => {
    near(ratioOf(0.06, 0.03), 2, 0.3);
    near(ratioOf(0.03, 0.06), 0.5, 0.3);
    // The typical speed is of three quarters of the slices.
    const typical = ratioOf(0.06, 0.03, true);
    assert.ok(typical > 1.5 && typical < 2.5, `${typical}`);
    assert.equal(deviationRatioOf([]), null);
  });

  test('are as many as amortise the start of a round, within the budget', () => {
    const cost = { startNs: 4e9, blockNs: 0.1e9 };
    const of = (/** @type {number} */ ratio, more = {}) =>
      blocksByDeviations([cost], [ratio], { budgetNs: 120e9, spentNs: 10e9, ...more });
    assert.equal(of(4), Math.round(4 * Math.sqrt(40)));
    assert.equal(of(0.5), 10);
    assert.equal(of(Infinity), 60);
    assert.equal(of(Infinity, { isShort: true }), 20);
    assert.equal(of(Infinity, { budgetNs: 60e9 }), blocksFor(cost, { budgetNs: 60e9 }));
    // A first round that took nine times as long leaves no less to those after the third.
    const disturbed = { startNs: 36e9, blockNs: 0.9e9 };
    const costs = [disturbed, cost, cost];
    const budget = { budgetNs: 120e9, spentNs: 20e9 };
    assert.equal(blocksByDeviations([disturbed], [4], budget), 10);
    assert.equal(blocksByDeviations(costs, [4, 4], budget), of(4));
    // 90 of 120 s are spent, with three rounds left: 10 s each.
    const late = { ...budget, spentNs: 90e9 };
    assert.equal(blocksByDeviations(costs, [Infinity], late), 60);
    assert.equal(blocksByDeviations(costs, [Infinity], { ...late, spentNs: 96e9 }), 40);
    assert.equal(blocksByDeviations(costs, [Infinity], { ...late, spentNs: 119e9 }), 10);
  });
});

describe('slices over three times the median of their process', () => {
  const calm = Array.from({ length: 8 }, () => Array.from({ length: 40 }, (_, i) => 8 + 0.001 * i));
  /** @param {number} count */
  const withLong = (count) =>
    calm.map((row, round) => row.map((log, i) => (i === 0 && round < count ? log + 2 : log)));

  test('four against none of five contenders are shown, three or a single pair are not', () => {
    const of = (/** @type {number} */ own, /** @type {number} */ others, base = 0) =>
      longSlicesOf([withLong(own), withLong(base), ...Array(others).fill(calm)], 0, 1);
    assert.deepEqual(of(4, 3), { own: 4, base: 0, isDecided: true });
    assert.equal(of(3, 3).isDecided, false);
    assert.equal(of(4, 0).isDecided, false);
    assert.equal(of(4, 3, 4).isDecided, false, 'both have as many');
    assert.deepEqual(of(0, 3, 4), { own: 0, base: 4, isDecided: true });
  });
});

describe('drift', () => {
  test('is marked only if the whole interval is beyond 2 %', () => {
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

  test('ratios contain the true value: to the fastest, to the ceiling, of A to A', () => {
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
