/** The page of findings: its verdicts by the interval, and what is said where nothing was run. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CLAIMS } from '../../scripts/findings/claims.js';
import { documentOf, verdictOf } from '../../scripts/findings/document.js';
import { mutexResult } from '../helpers/mutex-results.js';
import { benchmark, buildResult, measuredRound } from '../helpers/result-builder.js';

const BURST = { kind: /** @type {const} */ ('burst'), inFlight: null, durationNs: null };

/** @param {string} storage @param {number} throughput @param {number} [operations] */
function burstOf(storage, throughput, operations = 10_000) {
  const load = { ...BURST, operations };
  const rounds = [1, 1.02, 0.98].map((factor, n) =>
    measuredRound(n, load, { throughput: throughput * factor }),
  );
  return benchmark({ storage, workload: 'get', load, rounds, id: `${storage}/${operations}` });
}

/** @param {string} start of its text */
const claimOf = (start) =>
  /** @type {import('../../scripts/findings/claims.js').Claim} */ (
    CLAIMS.find(({ text }) => text.startsWith(start))
  );

describe('the verdict on a claim of four times', () => {
  for (const [ours, verdict] of /** @type {const} */ ([
    [{ ratio: 3, low: 2.1, high: 4.2 }, 'reproduced'],
    [{ ratio: 8, low: 6, high: 11 }, 'reproduced'],
    [{ ratio: 1, low: 0.7, high: 1.9 }, 'refuted'],
    [{ ratio: 2, low: 1.5, high: 2.6 }, 'not decided'],
    [{ ratio: 4, low: null, high: null }, 'not decided'],
    [{ ratio: null, low: null, high: null }, 'not measured'],
  ])) {
    test(`${JSON.stringify(ours)}: ${verdict}`, () =>
      assert.equal(verdictOf({ claimed: 4 }, ours), verdict));
  }
});

test('a claim of at most is refuted by more, and reproduced by less', () => {
  const claim = { claimed: 1.2, atMost: true };
  assert.equal(verdictOf(claim, { ratio: 5, low: 4, high: 6 }), 'refuted');
  assert.equal(verdictOf(claim, { ratio: 1, low: 0.9, high: 1.1 }), 'reproduced');
  assert.equal(verdictOf(claim, { ratio: 1.2, low: 1, high: 1.4 }), 'not decided');
});

describe('the page', () => {
  const [manual] = [claimOf('HandlerSocket is four')];

  test('has the ratio of pairs of rounds, its interval and the verdict', () => {
    const result = buildResult({
      benchmarks: [burstOf('ioredis', 60_000), burstOf('manual-hs', 75_000)],
    });
    const text = documentOf([{ claim: manual, result }]);
    assert.match(
      text,
      /slower than Redis \| 3\.72× \| 0\.8× \(0\.8× to 0\.8×\), n 3 \| \*\*refuted\*\*/,
    );
    assert.match(text, /\| `npx dragstrip async --ops 10k --rounds 6 --storages ioredis,/);
  });

  test('reads amounts, parameters of locks and nothing from another storage', () => {
    const result = buildResult({
      benchmarks: [
        burstOf('node-handlersocket', 30_000, 10_000),
        burstOf('node-handlersocket', 5_000, 100_000),
      ],
    });
    const text = documentOf([{ claim: claimOf('node-handlersocket'), result }]);
    assert.match(text, /6× \(6× to 6×\), n 3 \| \*\*reproduced\*\*/);
    const lock = documentOf([{ claim: claimOf('A lock by script'), result: mutexResult() }]);
    assert.match(lock, /\*\*not measured\*\*/, 'no pure in that result');
    const other = documentOf([{ claim: manual, result }]);
    assert.match(other, /\| – \| \*\*not measured\*\*/);
  });

  test('says what a command needs that was not run', () => {
    const text = documentOf(CLAIMS.map((claim) => ({ claim, result: null })));
    assert.match(text, /rmux and a Redis without a password/);
    assert.equal(text.match(/not measured/g)?.length, CLAIMS.length);
  });

  test('every claim is a ratio above one, of a command that is known', () => {
    for (const { claimed, run, text } of CLAIMS) {
      assert.ok(claimed > 1, text);
      const words = run.words({ rmux: 'r', plainRedis: 'p' });
      assert.ok(words !== null && words.length > 2, text);
    }
  });
});
