/** The page of findings: its verdicts by the interval, and its text if nothing was run. */

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

/** @param {string} start beginning of its text */
const claimOf = (start) =>
  /** @type {import('../../scripts/findings/claims.js').Claim} */ (
    CLAIMS.find(({ text }) => text.startsWith(start))
  );

/** @param {any} result @param {number} waiting share of its rounds */
function waited(result, waiting) {
  for (const { rounds } of result.benchmarks) {
    for (const round of rounds) round.occupancy = { client: 1, server: 0.5, waiting };
  }
  return result;
}

describe('the verdict on a claim of four times', () => {
  for (const [ours, verdict] of /** @type {const} */ ([
    [{ ratio: 3, low: 2.1, high: 4.2 }, 'reproduced'],
    [{ ratio: 8, low: 6, high: 11 }, 'reproduced'],
    [{ ratio: 1, low: 0.7, high: 1.9 }, 'refuted'],
    [{ ratio: 2, low: 1.5, high: 2.6 }, 'not decided'],
    [{ ratio: 4, low: null, high: null }, 'not decided'],
    [{ ratio: null, low: null, high: null }, 'not measured'],
    [{ ratio: 0.3, low: 0.2, high: 0.4, waiting: 0.41 }, 'machine too busy'],
    [{ ratio: 0.3, low: 0.2, high: 0.4, waiting: 0.4 }, 'refuted'],
  ])) {
    test(`${JSON.stringify(ours)}: ${verdict}`, () =>
      assert.equal(verdictOf({ claimed: 4 }, ours), verdict));
  }
});

test('a claim of “at most” is refuted by more, and reproduced by less', () => {
  const claim = { claimed: 1.2, is: /** @type {const} */ ('at most') };
  assert.equal(verdictOf(claim, { ratio: 5, low: 4, high: 6 }), 'refuted');
  assert.equal(verdictOf(claim, { ratio: 1, low: 0.9, high: 1.1 }), 'reproduced');
  assert.equal(verdictOf(claim, { ratio: 1.2, low: 1, high: 1.4 }), 'not decided');
});

test('claims of “more than” and of “within”', () => {
  const verdict = (
    /** @type {any} */ is,
    /** @type {number} */ claimed,
    /** @type {number[]} */ of,
  ) => verdictOf({ claimed, is }, { ratio: of[0], low: of[0], high: of[1] });
  assert.equal(verdict('more than', 1, [1.1, 1.2]), 'reproduced');
  assert.equal(verdict('more than', 1, [0.8, 0.9]), 'refuted');
  assert.equal(verdict('more than', 1, [0.9, 1.1]), 'not decided');
  assert.equal(verdict('within', 1.25, [0.81, 1.24]), 'reproduced');
  assert.equal(verdict('within', 1.25, [0.5, 0.79]), 'refuted');
  assert.equal(verdict('within', 1.25, [1.26, 2]), 'refuted');
  assert.equal(verdict('within', 1.25, [0.7, 1.1]), 'not decided');
});

describe('the page', () => {
  const [manual, npm] = [claimOf('HandlerSocket is four'), claimOf('The same, with the client')];

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

  test('rows without a result are kept from the page, all others are rewritten', () => {
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

  test('a row and its command are not replaced by fewer rounds or by a busy machine', () => {
    const of = (/** @type {number} */ slower, /** @type {number} */ rounds) => {
      const result = buildResult({
        benchmarks: [burstOf('ioredis', 60_000), burstOf('manual-hs', slower)],
      });
      for (const one of result.benchmarks) one.rounds.length = rounds;
      result.environment.cpu = `of ${slower} and ${rounds}`;
      return result;
    };
    const page = documentOf([{ claim: manual, result: of(75_000, 3) }]);
    const made = (/** @type {any} */ result, text = page) =>
      documentOf([{ claim: manual, result }], text);
    assert.equal(made(of(15_000, 2)), page);
    assert.equal(made(waited(of(15_000, 3), 0.9)), page);
    assert.match(made(of(15_000, 3)), /4× \(4× to 4×\), n 3 \| \*\*reproduced\*\*/);
    const busy = made(waited(of(75_000, 3), 0.9), '');
    assert.match(busy, /0\.8× to 0\.8×\), n 3 \| \*\*machine too busy\*\*/);
    const calm = made(of(75_000, 2), busy);
    assert.match(calm, /n 2 \| \*\*refuted\*\*/, 'a verdict replaces none');
    assert.match(calm, /of 75000 and 2, /);
  });

  test('a command with rows of two runs has both machines, also when rewritten', () => {
    const of = (/** @type {string} */ cpu, /** @type {number} */ rounds, node = false) => {
      const names = ['ioredis', 'manual-hs', ...(node ? ['redis', 'node-handlersocket'] : [])];
      const result = buildResult({ benchmarks: names.map((name) => burstOf(name, 60_000)) });
      for (const one of result.benchmarks) one.rounds.length = rounds;
      result.environment.cpu = cpu;
      return result;
    };
    const made = (/** @type {any} */ result, text = '') =>
      documentOf(
        [manual, npm].map((claim) => ({ claim, result })),
        text,
      );
    const both = made(of('Second', 2, true), made(of('First', 3)));
    assert.match(both, /\| Second, [^|]+; rows of more rounds: First, [^|]+, load [^|]+ \|/);
    assert.equal(made(of('Second', 2, true), both), both);
    const third = made(of('Third', 3, true), both);
    assert.match(third, /\| Third, /);
    assert.doesNotMatch(third, /First|Second|more rounds/);
  });

  test('pairs of the further claims: CPU, time per key, rows of two commands, routes', () => {
    const textOf = (/** @type {string} */ start, /** @type {any} */ result, beside = null) =>
      documentOf([{ claim: claimOf(start), result, beside }])
        .split('\n')
        .find((line) => line.startsWith(`| ${start}`));
    const cpu = buildResult({ benchmarks: [burstOf('ioredis', 60_000)] });
    for (const round of cpu.benchmarks[0].rounds) {
      Object.assign(round, { client: { userNs: 5e6, systemNs: 1e6 }, server: { cpuNs: 3e6 } });
    }
    assert.match(String(textOf('Node is the limit, not Redis', cpu)), /> 1× \| 2× .*reproduced/);
    const fetch = buildResult({ benchmarks: [burstOf('ioredis', 1)] });
    for (const round of fetch.benchmarks[0].rounds) {
      const series = [1, 50, 100].map((keys) => ({ keys, medianNs: 1e5 + keys * 1000 }));
      Object.assign(round, { series });
    }
    assert.match(
      String(textOf('The time of a fetch is linear', fetch)),
      /0\.667× to 1\.5× \| 1× .*reproduced/,
    );
    const codec = (/** @type {number} */ passes) => {
      const result = buildResult({ benchmarks: [burstOf('node-redis', passes)] });
      for (const round of result.benchmarks[0].rounds) {
        Object.assign(round, { metrics: { rows: 10, repeat: 2 } });
      }
      return result;
    };
    const decoding = textOf(
      'Decoding is the bottleneck',
      codec(100),
      /** @type {any} */ (codec(300)),
    );
    assert.match(String(decoding), /2\.37× \| 3× .*reproduced/);
    assert.match(String(textOf('Decoding is the bottleneck', codec(100))), /not measured/);
    const routes = buildResult({
      benchmarks: ['direct', 'proxied'].flatMap((way) =>
        ['MSET', 'LRANGE_600'].map((command) => {
          const one = burstOf(`${way}-${command}`, 1);
          const perSecond = way === 'direct' && command === 'LRANGE_600' ? 300 : 100;
          for (const round of one.rounds) {
            Object.assign(round, { metrics: { benchmarkPerSecond: perSecond } });
          }
          return { ...one, parameters: { way, test: command, keepAlive: true } };
        }),
      ),
    });
    assert.match(String(textOf('With keep-alive LRANGE_600', routes)), /\| 3× .*reproduced/);
    assert.match(String(textOf('With keep-alive MSET', routes)), /\| 1× .*not decided/);
    assert.match(String(textOf('With keep-alive direct', routes)), /\| 1\.73× .*reproduced/);
    assert.match(String(textOf('Without keep-alive', routes)), /not measured/);
  });

  test('the page in docs/ equals the output of the script', async (t) => {
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

  test('states the requirements of a command that was not run', () => {
    const text = documentOf(CLAIMS.map((claim) => ({ claim, result: null })));
    assert.match(text, /rmux and a Redis without a password/);
    assert.equal(text.match(/not measured/g)?.length, CLAIMS.length);
  });

  test('every claim is a ratio above one, of a command that is known', () => {
    for (const { claimed, is, run, text } of CLAIMS) {
      assert.ok(is === 'more than' ? claimed === 1 : claimed > 1, text);
      assert.ok(run.seconds >= 60 && run.seconds <= 300, 'a time of its own');
      const words = run.words({ rmux: 'r', plainRedis: 'p' });
      assert.ok(words !== null && words.length > 2, text);
    }
  });
});
