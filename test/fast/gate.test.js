/** Gates: their texts, their decision, how often it is wrong, and their lines in a report. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Gates } from '../../engine/gates.js';
import { parseGate } from '../../lib/gate.js';
import { createRandom } from '../../lib/random.js';
import { resultSchema } from '../../lib/result.js';
import { gateLines } from '../../report/gates.js';
import { confidenceOf, dueAt, estimateOf, judgeGate, roundsToDecide } from '../../stats/gate.js';
import { benchmark, buildResult, measuredRound, SYNC } from '../helpers/result-builder.js';
import { withSlices } from '../helpers/slices.js';
import { assertNear } from './stats/near.js';

describe('what --fail-if says', () => {
  test('a metric, a side and a limit: a ratio, or with a unit', () => {
    const read = (/** @type {string} */ text) => {
      const { metric, op, limit, isRatio } = parseGate(text);
      return [metric, op, limit, isRatio];
    };
    assert.deepEqual(read('throughput<0.95'), ['throughput', '<', 0.95, true]);
    assert.deepEqual(read('throughput < 95%'), ['throughput', '<', 0.95, true]);
    assert.deepEqual(read(' client-cpu >= 1.05 '), ['client-cpu', '>', 1.05, true]);
    assert.deepEqual(read('p99>5ms'), ['p99', '>', 5e6, false]);
    assert.deepEqual(read('p99.9>800us'), ['p99.9', '>', 8e5, false]);
    assert.deepEqual(read('throughput<50k/s'), ['throughput', '<', 50_000, false]);
    assert.deepEqual(read('memory>200MiB'), ['memory', '>', 200 * 2 ** 20, false]);
  });

  test('anything else is refused with what helps', () => {
    for (const [text, hint] of /** @type {const} */ ([
      ['throughput', /throughput<0\.95/],
      ['throughput=1', /throughput<0\.95/],
      ['speed<1', /throughput, client-cpu/],
      ['p99>5', /5ms for a limit|5s for a limit/],
      ['client-cpu>105', /for a ratio/],
      ['p99>5MB', /ns, us/],
      ['throughput<0', /ratio/],
      ['', /throughput<0\.95/],
    ])) {
      assert.throws(() => parseGate(text), { code: 'E_USAGE', hint }, text);
    }
  });
});

/** Normal values by Box and Muller. @param {() => number} random of createRandom */
function normal(random) {
  const share = () => random() / 2 ** 32;
  return Math.sqrt(-2 * Math.log(1 - share())) * Math.cos(2 * Math.PI * share());
}

/**
 * A run that looks after every round, as engine/gates.js does.
 * @param {{ ratio: number, limit: number, deviation: number, random: () => number }} world
 * @returns {'failed' | 'passed' | 'undecided'}
 */
function simulate({ ratio, limit, deviation, random }) {
  /** @type {number[][]} */
  const logs = [[], [], []];
  const draw = () => deviation * normal(random);
  let look = 0;
  for (let round = 1; round <= 40; round += 1) {
    const drift = normal(random);
    logs[0].push(drift + Math.log(ratio) + draw());
    logs[1].push(drift + draw());
    logs[2].push(drift + draw());
    const last = round === 40;
    const confidence = confidenceOf({ look, tests: 1, last });
    const estimate = round < 6 ? null : estimateOf(logs, { confidence, isRatio: true });
    if (estimate === null || (!last && estimate.half > dueAt(limit, look, 0.03))) continue;
    look += 1;
    const { outcome } = judgeGate(estimate, { limit, op: '<' });
    if (outcome !== 'undecided' || last) return outcome;
  }
  return 'undecided';
}

describe('the decision', () => {
  test('errors of all looks together stay below 5 %, at the limit itself and at "equal"', () => {
    const random = createRandom(7);
    const count = (/** @type {number} */ ratio, /** @type {string} */ outcome) => {
      const world = { ratio, limit: 0.95, deviation: 0.02, random };
      return Array.from({ length: 400 }, () => simulate(world)).filter((one) => one === outcome)
        .length;
    };
    assert.ok(count(0.95, 'failed') <= 20, 'at the limit nothing has failed');
    assert.ok(count(0.95, 'passed') <= 20, 'and nothing has passed');
    assert.equal(count(1, 'failed'), 0, 'an equal one does not fail');
    assert.ok(count(1, 'passed') >= 390, 'an equal one passes');
    assert.ok(count(0.9, 'failed') >= 390, 'a tenth slower fails');
  });

  test('each look may use half of the error that is left; the last one all of it', () => {
    let used = 0;
    for (let look = 0; look < 5; look += 1) used += 1 - confidenceOf({ look, tests: 1 });
    used += 1 - confidenceOf({ look: 5, tests: 1, last: true });
    assertNear(used, 0.05, 1e-12);
    assertNear(confidenceOf({ look: 0, tests: 4, last: true }), 1 - 0.05 / 4, 1e-12);
  });

  test('the rounds that would decide grow with the square of the noise over the gap', () => {
    const at = (/** @type {number} */ deviation, /** @type {number} */ gap) =>
      roundsToDecide(
        { value: 0, half: 1, confidence: 0.95, deviation, n: 6, freedom: (n) => n - 1 },
        gap,
      );
    // (1.96 + 0.84)² = 7.85 for a gap of one deviation, some more with Student's quantiles.
    assert.equal(at(0.01, 0.01), 10);
    assert.equal(at(0.04, 0.01), 128);
    assert.equal(at(0.5, 0.01), null);
  });
});

/**
 * @param {number} ratio of the candidate's speed
 * @param {number} [n]
 */
function resultOf(ratio, n = 8) {
  const speeds = (/** @type {number} */ speed) =>
    Array.from({ length: n }, (_, i) =>
      measuredRound(i, SYNC, { throughput: speed * (1 + 0.004 * Math.sin(3 * i + speed)) }),
    );
  const own = benchmark({ storage: 'ioredis', load: SYNC, rounds: speeds(50_000) });
  const other = benchmark({
    storage: 'ioredis@6.0.0+abc',
    load: SYNC,
    rounds: speeds(50_000 * ratio),
  });
  return withSlices(buildResult({ benchmarks: [own, other] }));
}

/**
 * @param {string} name
 * @param {string} [base]
 * @returns {any} a target
 */
function target(name, base) {
  const driver = base === undefined ? {} : { driver: { text: './fork' } };
  return { definition: { name }, profile: 'default', unavailable: null, base, ...driver };
}

const MATCH = { candidate: target('ioredis@6.0.0+abc', 'ioredis'), reference: target('ioredis') };

describe('gates of a run', () => {
  test('a slower candidate fails, an equal one passes, one near the limit is undecided', () => {
    for (const [ratio, expected] of /** @type {const} */ ([
      [0.9, 'failed'],
      [1, 'passed'],
      [0.95, 'undecided'],
    ])) {
      const result = resultOf(ratio);
      const gates = new Gates([parseGate('throughput<0.95')], [MATCH], result);
      const isDecided = gates.look();
      assert.equal(isDecided, expected !== 'undecided');
      gates.finish();
      const [gate] = resultSchema.parse(result).gates ?? [];
      assert.equal(gate.outcome, expected);
      assertNear(gate.value ?? 0, ratio, 0.01);
      const [head, line] = gateLines(result);
      assert.equal(head, `Gate ${expected}.`);
      assert.match(
        line,
        new RegExp(`^${expected}: throughput<0.95, ioredis@6.0.0\\+abc, sync: 0|1`),
      );
      if (expected === 'undecided') assert.match(line, /rounds would (decide|be needed)/);
    }
  });

  test('a limit by itself needs no reference, a ratio does; one round has no interval', () => {
    const alone = { ...MATCH, reference: null };
    const result = resultOf(1, 1);
    const gates = new Gates([parseGate('throughput<1k/s')], [alone], result);
    gates.finish();
    assert.equal(result.gates?.[0].outcome, 'undecided');
    assert.match(gateLines(result)[1], /no figure: fewer than two rounds/);
    assert.throws(() => new Gates([parseGate('throughput<0.9')], [alone], resultOf(1)), {
      code: 'E_USAGE',
      hint: /--against/,
    });
    const many = resultOf(1);
    new Gates([parseGate('throughput<1k/s'), parseGate('p50>1s')], [alone], many).finish();
    assert.deepEqual(
      many.gates?.map(({ outcome }) => outcome),
      ['passed', 'passed'],
    );
  });
});
