/** The page of findings: its verdicts by the interval, and what is said where nothing was run. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { CLAIMS } from '../../scripts/findings/claims.js';
import { documentOf, verdictOf } from '../../scripts/findings/document.js';
import { withFolder } from '../helpers/folder.js';
import { mutexResult } from '../helpers/mutex-results.js';
import { benchmark, buildResult, measuredRound } from '../helpers/result-builder.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
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

  test('rows without a result stay as the page has them, and the others are made anew', () => {
    const burst = buildResult({
      benchmarks: [burstOf('ioredis', 60_000), burstOf('manual-hs', 75_000)],
    });
    const page = documentOf([{ claim: manual, result: burst }]);
    assert.equal(documentOf([{ claim: manual, result: null }], page), page);
    const empty = buildResult({ benchmarks: [burstOf('ioredis', 60_000)] });
    assert.match(
      documentOf([{ claim: manual, result: empty }], page),
      /0\.8× \(0\.8× to 0\.8×\), n 3/,
    );
    const slower = buildResult({
      benchmarks: [burstOf('ioredis', 60_000), burstOf('manual-hs', 15_000)],
    });
    assert.match(documentOf([{ claim: manual, result: slower }], page), /\*\*reproduced\*\*/);
  });

  test('the page in docs/ is the one that the script writes', async (t) => {
    const folder = withFolder(t);
    const out = path.join(folder, 'findings.md');
    const page = readFileSync(path.join(ROOT, 'docs', 'findings.md'), 'utf8');
    writeFileSync(out, page);
    const words = ['scripts/findings.js', '--results', path.join(folder, 'results'), '--out', out];
    const run = (/** @type {string[]} */ ...more) =>
      spawnSync(process.execPath, [...words, ...more], { cwd: ROOT, encoding: 'utf8' });
    const { status, stderr } = run('--from');
    assert.equal(status, 0, stderr);
    assert.equal(readFileSync(out, 'utf8'), page);
    const wrong = run('nothing');
    assert.deepEqual([wrong.status, /there are burst, queue,/.test(wrong.stderr)], [2, true]);
    // Without rmux the row stays and the exit status is 0.
    const rmux = run('rmux-unix');
    assert.equal(rmux.status, 0, rmux.stderr);
    assert.match(rmux.stderr, /^rmux-unix: not run, it needs rmux and a Redis without a password/m);
    assert.equal(readFileSync(out, 'utf8'), page);
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
