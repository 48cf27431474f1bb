/** Figures that no driver of a server can reach have no rank. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { countWarnings, markImplausible } from '../../../engine/implausible.js';
import { report } from '../../../index.js';
import { slicedResult } from '../../helpers/slices.js';

/**
 * @param {{ ceilingNs?: number, serverCpu?: number, connections?: number }} [of] the ceiling: ns
 *   per operation; of ioredis: CPU time of its server, as a share of that of the ceiling
 */
function resultOf({ ceilingNs = 20_000, serverCpu, connections } = {}) {
  const result = slicedResult();
  const [load] = result.comparison?.loads ?? [];
  if (connections !== undefined) load.connections = connections;
  for (const { name, rounds } of load.contenders) {
    const ps = { ceiling: 1e6, ioredis: 1e6 * (serverCpu ?? 1) }[name];
    for (const round of rounds) {
      if (name === 'ceiling') round.timePs = round.timePs.map(() => 1000 * ceilingNs);
      if (serverCpu !== undefined && ps) round.serverCpuPs = round.timePs.map(() => ps);
    }
  }
  return result;
}

/** @param {import('../../../lib/result.js').Result} result */
const unrankedOf = ({ benchmarks }) =>
  benchmarks.filter(({ unranked }) => unranked !== undefined).map(({ storage }) => storage);

describe('no rank', () => {
  test('for hidden errors of at least 0.5 % of the replies', () => {
    const result = resultOf();
    const of = (/** @type {number} */ errors) => ({
      replies: 1000,
      due: 1000,
      operations: 1010,
      lookups: 1000,
      errors,
      lost: 0,
      restarts: 0,
    });
    const [first, second, third] = result.benchmarks;
    first.rounds[0].counted = of(6);
    second.rounds[0].counted = of(4);
    third.rounds[0].counted = { ...of(0), operations: 1030 };
    assert.deepEqual(
      countWarnings(result).map(({ code, benchmark }) => [code, benchmark]),
      [
        ['W_HIDDEN_ERRORS', first.id],
        ['W_HIDDEN_ERRORS', second.id],
        ['W_COMMANDS', third.id],
      ],
    );
    assert.match(String(first.unranked), /the server sent 6 errors that it did not report/);
    assert.deepEqual([second.unranked, third.unranked], [undefined, undefined]);
  });

  test('for more than 110 % of the server ceiling, by the interval', async () => {
    const near = resultOf();
    assert.deepEqual(markImplausible(near), [], 'manual-hs has 102 %');
    const result = resultOf({ ceilingNs: 22_500 });
    const warnings = markImplausible(result);
    assert.deepEqual(unrankedOf(result), ['manual-hs', 'hiredis']);
    assert.equal(warnings.length, 2);
    const message = 'no rank: 115 % of the speed of its server ceiling, which no driver can exceed';
    assert.equal(warnings[0].message, message);
    assert.equal(warnings[0].benchmark, 'manual-hs:default/get/sync');
    const text = await report(result, 'console');
    assert.match(text, /1(–2)? +ioredis/);
    assert.match(text, /– +manual-hs/);
  });

  test('for less than half of the CPU time that the ceiling costs the server', () => {
    const result = resultOf({ serverCpu: 0.4 });
    const [{ message }] = markImplausible(result);
    assert.match(message, /its server used 40 % of the CPU time of the server ceiling/);
    assert.deepEqual(unrankedOf(result), ['ioredis']);
    assert.deepEqual(markImplausible(resultOf({ serverCpu: 0.6 })), []);
  });

  test('not for CPU time of a single round, or within an interval above that half', () => {
    const single = resultOf({ serverCpu: 0.4 });
    const wide = resultOf({ serverCpu: 0.4 });
    for (const { rounds } of single.comparison?.loads[0].contenders ?? []) rounds.length = 1;
    for (const { rounds } of wide.comparison?.loads[0].contenders ?? []) {
      for (const [i, round] of rounds.entries()) {
        round.serverCpuPs = round.serverCpuPs?.map((ps) => (ps ?? 0) * (i % 2 === 0 ? 0.5 : 2));
      }
    }
    for (const result of [single, wide]) assert.deepEqual(markImplausible(result), []);
  });

  test('not if the operations were counted, or several connections share the load', () => {
    const counted = {
      replies: 5,
      due: 5,
      operations: 5,
      lookups: 5,
      errors: 0,
      lost: 0,
      restarts: 0,
    };
    const result = resultOf({ serverCpu: 0.4 });
    for (const { rounds } of result.benchmarks) for (const round of rounds) round.counted = counted;
    assert.deepEqual(markImplausible(result), []);
    // Twice the ceiling within a wide interval: a busy machine, if the server has counted.
    const wide = resultOf();
    for (const { name, rounds } of wide.comparison?.loads[0].contenders ?? []) {
      if (name !== 'ceiling') continue;
      for (const [i, round] of rounds.entries()) {
        round.timePs = round.timePs.map(() => (i % 2 === 0 ? 2e6 : 8e9));
      }
    }
    assert.ok(markImplausible(wide).length > 0);
    for (const benchmark of wide.benchmarks) {
      delete benchmark.unranked;
      for (const round of benchmark.rounds) round.counted = counted;
    }
    assert.deepEqual(markImplausible(wide), []);
    assert.deepEqual(markImplausible(resultOf({ ceilingNs: 22_500, connections: 4 })), []);
  });

  test('if the server has counted, only with a confidence of 99.9 %', () => {
    const replies = { replies: 5, due: 5, operations: 5, lookups: 5 };
    const counted = { ...replies, errors: 0, lost: 0, restarts: 0 };
    const of = (/** @type {number} */ rounds, /** @type {boolean} */ isCounted) => {
      const result = resultOf({ ceilingNs: 30_000 });
      for (const { contenders } of result.comparison?.loads ?? []) {
        for (const one of contenders) {
          one.rounds = one.rounds.slice(0, rounds);
          // Some noise, by which two rounds seem certain at 95 %.
          if (one.name !== 'ceiling') continue;
          for (const [i, round] of one.rounds.entries()) {
            round.timePs = round.timePs.map((ps) => ps && ps * (1 + 0.02 * (i % 2)));
          }
        }
      }
      for (const benchmark of result.benchmarks) {
        benchmark.rounds = benchmark.rounds.slice(0, rounds);
        if (isCounted) for (const round of benchmark.rounds) round.counted = counted;
      }
      return markImplausible(result).length;
    };
    assert.ok(of(2, false) > 0);
    assert.equal(of(2, true), 0);
    assert.ok(of(6, true) > 0);
  });
});
