/** Gates: their texts, their decision, how often it is wrong, and their lines in a report. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Gates, matchesOf } from '../../engine/gates.js';
import { parseGate } from '../../lib/gate.js';
import { createRandom } from '../../lib/random.js';
import { resultSchema } from '../../lib/result.js';
import { gateLines } from '../../report/gates.js';
import { decideGate, ERROR, errorSpent, estimateOf, roundsToDecide } from '../../stats/gate.js';
import { benchmark, buildResult, measuredRound, SYNC } from '../helpers/result-builder.js';
import { withSlices } from '../helpers/slices.js';
import { assertNear } from './stats/near.js';

describe('syntax of --fail-if', () => {
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
    assert.deepEqual(read('writes>1.02'), ['writes', '>', 1.02, true]);
    assert.deepEqual(read('writes>0.05/op'), ['writes', '>', 0.05, false]);
    assert.deepEqual(read('written-bytes>40B'), ['written-bytes', '>', 40, false]);
  });

  test('anything else is refused with a hint', () => {
    for (const [text, hint] of /** @type {const} */ ([
      ['throughput', /throughput<0\.95/],
      ['throughput=1', /throughput<0\.95/],
      ['speed<1', /throughput, client-cpu/],
      ['p99>5', /5ms for an absolute limit|5s for an absolute limit/],
      ['client-cpu>105', /for a ratio/],
      ['p99>5MB', /ns, us/],
      ['writes>0.05', /0\.05\/op for an absolute limit/],
      ['throughput<0', /ratio/],
      ['', /throughput<0\.95/],
    ])) {
      assert.throws(() => parseGate(text), { code: 'E_USAGE', hint }, text);
    }
  });
});

/** Normal values by Box and Muller. @param {() => number} random generator of createRandom */
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
  let before = 0;
  for (let round = 1; round <= 40; round += 1) {
    const drift = normal(random);
    logs[0].push(drift + Math.log(ratio) + draw());
    logs[1].push(drift + draw());
    logs[2].push(drift + draw());
    if (round < 3) continue;
    const spent = errorSpent(round, 40);
    const estimate = estimateOf(logs, { confidence: 1 - (spent - before), isRatio: true });
    if (estimate === null) continue;
    before = spent;
    const { outcome } = decideGate(estimate, { limit, op: '<' });
    if (outcome !== 'undecided') return outcome;
  }
  return 'undecided';
}

describe('the decision', () => {
  test('errors of all evaluations together stay below 5 %, at the limit itself and at "equal"', () => {
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

  test('evaluations spend the error by rounds: all of it after the planned number', () => {
    assert.equal(errorSpent(0, 20), 0);
    assertNear(errorSpent(10, 20), 0.05 * Math.log(1 + (Math.E - 1) / 2), 1e-12);
    assertNear(errorSpent(20, 20), ERROR, 1e-12);
    assertNear(errorSpent(25, 20), ERROR, 1e-12);
  });

  test('a typical speed beyond the limit with the throughput within it is undecided', () => {
    const estimate = { value: Math.log(0.9), half: 0.02, confidence: 0.95, deviation: 0.02, n: 6 };
    const gate = { limit: 0.95, op: /** @type {const} */ ('<') };
    const outcome = (/** @type {number} */ mean) =>
      decideGate({ ...estimate, mean: Math.log(mean) }, gate).outcome;
    assert.deepEqual([0.8, 0.94, 0.955, 0.97].map(outcome), [
      'failed',
      'failed',
      'failed',
      'undecided',
    ]);
    const paused = { ...estimate, value: Math.log(1), mean: Math.log(0.93) };
    assert.equal(decideGate(paused, gate).outcome, 'undecided');
  });

  test('the reference is the mean of its copies, the interval by its own differences', () => {
    const logs = [
      [0.1, 0.1, 0.1, 0.1],
      [0, 0.02, 0, 0.02],
      [0.02, 0, 0.02, 0],
    ];
    const estimate = estimateOf(logs, { confidence: 0.95, isRatio: true });
    assertNear(Number(estimate?.value), 0.09, 1e-12);
    assertNear(Number(estimate?.half), 0, 1e-12);
    // t(0.975, 3) = 3.182 (NIST e-Handbook 1.3.6.7.2); deviation 0.011547.
    const alone = estimateOf(logs.slice(0, 2), { confidence: 0.95, isRatio: true });
    assertNear(Number(alone?.half), (3.18245 * 0.011547) / 2, 1e-6);
  });

  test('the number of deciding rounds grows with the square of noise over gap', () => {
    const at = (/** @type {number} */ deviation, /** @type {number} */ gap) =>
      roundsToDecide({ value: 0, half: 1, confidence: 0.95, deviation, n: 6 }, gap);
    // (1.96 + 0.84)² = 7.85 for a gap of one deviation, some more with Student's quantiles.
    assert.equal(at(0.01, 0.01), 10);
    assert.equal(at(0.04, 0.01), 128);
    assert.equal(at(0.5, 0.01), null);
  });
});

/**
 * @param {number} ratio ratio of the candidate's speed to the reference
 * @param {number} [n]
 */
function resultOf(ratio, n = 8) {
  const speeds = (/** @type {number} */ speed) =>
    Array.from({ length: n }, (_, i) =>
      measuredRound(i, SYNC, { throughput: speed * (1 + 0.004 * Math.sin(3 * i + speed)) }),
    );
  const candidate = benchmark({ storage: 'ioredis', load: SYNC, rounds: speeds(50_000) });
  const other = benchmark({
    storage: 'ioredis@6.0.0+abc',
    load: SYNC,
    rounds: speeds(50_000 * ratio),
  });
  return withSlices(buildResult({ benchmarks: [candidate, other] }));
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
      const isDecided = gates.look(10);
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

  test('while the machine is too busy time decides nothing, counts do', () => {
    const makeBusy = (/** @type {import('../../lib/result.js').Result} */ result) => {
      for (const { rounds } of result.comparison?.loads[0].contenders ?? []) {
        for (const round of rounds) round.occupancy = { client: 0.5, server: 0.5, waiting: 0.6 };
      }
      return result;
    };
    const gate = afterLook('throughput<0.95', makeBusy(resultOf(0.5)));
    assert.equal(gate.isDecided, false);
    assert.equal(gate.outcome, 'undecided');
    assert.match(
      gate.line,
      /0\.50× .*; the machine was too busy: clients waited .* 60 % of the time$/,
    );
    const far = afterLook('throughput<0.95', makeBusy(resultOf(0.4)));
    assert.deepEqual([far.isDecided, far.outcome], [true, 'failed'], 'by a factor of two it does');
    const writes = afterLook('writes>1.02', makeBusy(counted([[1], [1.1]])));
    assert.deepEqual([writes.isDecided, writes.outcome], [true, 'failed']);
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

describe('looks', () => {
  /** @param {number} ratio @param {number} rounds @param {string[]} texts */
  const lookedAt = (ratio, rounds, texts) => {
    const result = resultOf(ratio, rounds);
    const gates = new Gates(
      texts.map((text) => parseGate(text)),
      [MATCH],
      result,
    );
    const isDecided = gates.look(10);
    return { result, gates, isDecided };
  };
  /** @param {import('../../lib/result.js').Result} result */
  const confidences = (result) => (result.gates ?? []).map(({ confidence }) => confidence);

  test('begin with the third round', () => {
    assert.equal(lookedAt(0.5, 2, ['throughput<0.95']).isDecided, false);
    assert.equal(lookedAt(0.5, 3, ['throughput<0.95']).isDecided, true);
  });

  test('share the error of the run among its gates', () => {
    const { result } = lookedAt(0.5, 8, ['throughput<0.95', 'throughput<0.9']);
    for (const one of confidences(result)) assertNear(one, 1 - errorSpent(8, 10) / 2, 1e-12);
  });

  test('spend the rest at the end, at the same rounds all of it', () => {
    const { result, gates } = lookedAt(0.95, 8, ['throughput<0.95']);
    gates.finish();
    assertNear(confidences(result)[0], 1 - ERROR, 1e-12);
    const next = lookedAt(0.95, 7, ['throughput<0.95']);
    const more = resultOf(0.95, 8);
    Object.assign(next.result, { comparison: more.comparison });
    for (const [i, own] of next.result.benchmarks.entries()) own.rounds = more.benchmarks[i].rounds;
    next.gates.finish();
    assertNear(confidences(next.result)[0], 1 - (ERROR - errorSpent(7, 10)), 1e-12);
  });

  test('compare the last contender of a driver with the installed one, or the named one', () => {
    const [base, old, fork] = [target('a'), target('a@1', 'a'), target('a@2', 'a')];
    const all = [base, old, fork];
    const plan = { against: [], gates: [] };
    assert.deepEqual(matchesOf(all, plan), [{ candidate: fork, reference: base }]);
    const named = matchesOf(all, { ...plan, reference: 'a@1' });
    assert.deepEqual(named, [{ candidate: fork, reference: old }]);
  });
});

/** @typedef {import('../../lib/result.js').Round} Round */

/**
 * @param {readonly (number | null)[][]} counts counts per operation, by contender and round
 * @param {typeof SYNC} [load]
 * @param {'writes' | 'allocatedBytes'} [field] counted quantity
 */
function counted(counts, load = SYNC, field = 'writes') {
  const benchmarks = counts.map((own, contender) => {
    const rounds = own.map((count, i) => {
      const round = measuredRound(i, load, { throughput: 50_000 });
      const amount = count === null ? null : Math.round(count * round.outcomes.ok);
      return { ...round, client: { .../** @type {any} */ (round.client), [field]: amount } };
    });
    return benchmark({ storage: contender === 0 ? 'ioredis' : 'ioredis@6.0.0+abc', load, rounds });
  });
  return withSlices(buildResult({ benchmarks }));
}

/**
 * @param {string} text
 * @param {ReturnType<typeof counted>} result
 * @param {any} [match]
 */
function afterLook(text, result, match = MATCH) {
  const gates = new Gates([parseGate(text)], [match], result);
  const isDecided = gates.look(10);
  gates.finish();
  const [gate] = resultSchema.parse(result).gates ?? [];
  return { isDecided, outcome: gate.outcome, line: gateLines(result)[1] };
}

describe('gates on counts', () => {
  const WINDOW = { ...SYNC, kind: /** @type {const} */ ('window'), inFlight: 100 };
  const alone = { candidate: target('ioredis'), reference: null };

  test('are decided after one round: by the count itself, or by a ratio with one in flight', () => {
    for (const [text, result, match, outcome, line] of /** @type {const} */ ([
      [
        'writes>1.02',
        counted([[2]]),
        alone,
        'failed',
        /: 2\.00 writes per operation \(counted, n 1\)/,
      ],
      ['writes>1.02', counted([[1.0003]]), alone, 'passed', /: 1\.00 writes per operation/],
      [
        'writes>1.02',
        counted([[1], [1.1]]),
        MATCH,
        'failed',
        /: 1\.10× of ioredis \(counted, n 1\)/,
      ],
      ['writes>1.02', counted([[2], [2]]), MATCH, 'passed', /: 1\.00×/],
      ['writes>1.5/op', counted([[2], [2]]), MATCH, 'failed', /: 2\.00 writes/],
      ['writes>1.02', counted([[0.01], [1]], WINDOW), MATCH, 'failed', /: 100× of ioredis/],
    ])) {
      const found = afterLook(text, result, match);
      assert.equal(found.outcome, outcome, found.line);
      assert.equal(found.isDecided, true);
      assert.match(found.line, line);
    }
  });

  test('are not decided if time affects batching, near the limit, or without a count', () => {
    const batched = afterLook('writes>1.02', counted([[0.1], [0.29]], WINDOW));
    assert.equal(batched.isDecided, false);
    assert.match(batched.line, /undecided: .*fewer than two rounds/);
    const near = afterLook('writes>1.02', counted([[1.0201]]), alone);
    assert.equal(near.outcome, 'undecided');
    const unknown = afterLook('writes>1.02', counted([[null]]), alone);
    assert.equal(unknown.isDecided, false);
    assert.match(unknown.line, /undecided: .*does not receive its replies by read\(2\)/);
  });

  test('of allocated bytes need an interval: equal code does not allocate equally', () => {
    const rounds = (/** @type {number} */ mean) =>
      Array.from({ length: 6 }, (_, i) => mean * (1 + 0.01 * Math.sin(5 * i)));
    const one = afterLook('allocated>1.02', counted([[4000], [5000]], SYNC, 'allocatedBytes'));
    assert.deepEqual([one.isDecided, one.outcome], [false, 'undecided']);
    const all = counted([rounds(4000), rounds(5000)], SYNC, 'allocatedBytes');
    assert.match(afterLook('allocated>1.02', all).line, /^failed: allocated>1\.02, .*: 1\.2\d× of/);
  });

  test('with many in flight need rounds and an interval', () => {
    const rounds = (/** @type {number} */ mean) =>
      Array.from({ length: 6 }, (_, i) => mean * (1 + 0.01 * Math.sin(5 * i)));
    const more = afterLook('writes>1.02', counted([rounds(0.1), rounds(0.13)], WINDOW));
    assert.equal(more.outcome, 'failed');
    assert.match(more.line, /1\.30× of ioredis \(1\.\d\d× to 1\.\d\d×, 9\d\.\d %, n 6\)/);
    const equal = afterLook('writes>1.02', counted([rounds(0.1), rounds(0.1)], WINDOW));
    assert.equal(equal.outcome, 'passed');
  });
});
