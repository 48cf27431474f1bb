/** The command list as tables, notes, plots and an exit status, of a made-up result. */

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { statusAfter } from '../../cli/commands/commands.js';
import { pairedRatio, summarizeWays, toCommandGroups } from '../../report/analysis/commands.js';
import { loadReport, REPORT_NAMES } from '../../report/index.js';
import { loadPictures } from '../../report/pictures.js';
import { assertFailure, callCommand, runCommand } from '../helpers/command-line.js';
import { commandsResult } from '../helpers/command-results.js';

const picturesOf = await loadPictures();

const result = commandsResult();

/** @param {import('../../lib/result.js').Result} of */
async function consoleOf(of) {
  return (await loadReport('console')).render(of);
}

describe('figures', () => {
  test('are one for each test and way, with connections kept and not', () => {
    const groups = toCommandGroups(result);
    assert.deepEqual(
      groups.map(({ label, keepAlive, tests }) => [label, keepAlive, tests.length]),
      [
        ['ioredis', true, 4],
        ['ioredis', false, 4],
      ],
    );
    const [{ figures }] = groups[0].tests.filter(({ test: name }) => name === 'SET');
    assert.deepEqual(
      figures.map((figure) => Math.round(figure?.perSecond ?? 0)),
      [40_400, 20_200, 50_500, 30_300],
    );
    const [direct, proxied] = figures;
    assert.deepEqual([direct?.proxyCpuNs, proxied?.proxyCpuNs], [null, 14_000]);
    assert.equal(proxied?.serverCpuNs, 9000);
    assert.equal(proxied?.connectNs, 200_000);
  });

  test('ratios are pairs of one round, with an interval from two rounds on', () => {
    const found = pairedRatio([10, 20, 30], [20, 40, 60]);
    assert.ok(Math.abs((found?.ratio ?? 0) - 0.5) < 1e-12);
    assert.equal(found?.n, 3);
    assert.equal(pairedRatio([10], [20])?.low, null);
    assert.equal(pairedRatio([null], [20]), null);
    assert.equal(pairedRatio(undefined, [20]), null);
  });

  test('a summary is over the tests that every way has answered', () => {
    const [kept] = toCommandGroups(result);
    const ways = summarizeWays(kept);
    assert.deepEqual(
      ways.map(({ tests, ratio }) => [tests, Number(ratio?.toFixed(4))]),
      [
        [3, 1],
        [3, 0.5],
        [3, 1.25],
        [3, 0.75],
      ],
    );
    assert.ok(Math.abs((ways[1].proxyCpuNs ?? 0) - 14_000) < 1e-6);
  });

  test('a refusal has no figure, and is neither wrong nor a fault', () => {
    const [{ figures }] = toCommandGroups(result)[0].tests;
    assert.deepEqual(
      figures.map((figure) => figure?.state),
      ['measured', 'refused', 'measured', 'refused'],
    );
    assert.equal(figures[1]?.perSecond, null);
    assert.equal(statusAfter(result), 0);
  });

  test('a refusal by Redis itself is a fault, and so is any other error', () => {
    const own = commandsResult();
    const benchmark = own.benchmarks.find(({ parameters }) => parameters?.['way'] === 'proxied');
    if (benchmark?.parameters !== undefined) benchmark.parameters['way'] = 'direct';
    assert.equal(statusAfter(own), 5);
    const other = commandsResult();
    const set = other.benchmarks.find(({ parameters }) => parameters?.['test'] === 'SET');
    Object.assign(set?.rounds[0].outcomes ?? {}, { mismatch: 1 });
    assert.equal(statusAfter(other), 5);
    const left = commandsResult();
    left.warnings.push({ code: 'ROWS_LEFT', message: '', hint: null, benchmark: null });
    assert.equal(statusAfter(left), 4);
    const refused = commandsResult();
    refused.benchmarks = refused.benchmarks.filter(
      ({ parameters }) => parameters?.['test'] === 'PING_INLINE',
    );
    refused.benchmarks = refused.benchmarks.filter(
      ({ parameters }) => parameters?.['way'] === 'proxied',
    );
    assert.equal(statusAfter(refused), 0, 'it was asked what the proxy does, and that is told');
  });
});

describe('the console report', () => {
  test('has the ways, both ratios, what keeping is worth, and redis-benchmark', async () => {
    const text = await consoleOf(result);
    assert.match(text, /ioredis, connections kept: ops\/s/);
    assert.match(text, /ioredis, a connection for each request: ops\/s/);
    assert.match(text, /SET +40,400 +20,200 +50,500 +30,300 +0\.50× ± 0\.0 % +0\.60×/);
    assert.match(text, /PING_INLINE +50,500 +refused +63,125 +refused/);
    assert.match(text, /how many times as fast connections that are kept are/);
    assert.match(text, /SET +10\.0× ± 0\.0 % +10\.0×/);
    assert.match(text, /redis-benchmark, connections kept: requests\/s/);
    assert.match(text, /SET +80,800 +40,400 .* 2\.00×/);
    assert.match(text, /CPU µs +CPU µs +CPU µs/);
  });

  test('tells the words of a refusal once, and not among wrong answers', async () => {
    const text = await consoleOf(result);
    assert.match(
      text,
      /Refused, and not counted as operations\n +PING_INLINE, proxied: it closes the connection without an answer \(4 benchmarks\)\n/,
    );
    assert.doesNotMatch(text, /Wrong answers|error.*of 2,000/);
    assert.doesNotMatch(text, /commands, window/, 'no table of a race');
  });

  test('says what Redis has never seen', async () => {
    assert.match(
      await consoleOf(result),
      /answered by the proxy itself, Redis has seen none of them: PING_BULK/,
    );
  });

  test('has no interval of one round, and no table of what did not run', async () => {
    const once = commandsResult({ rounds: 1 });
    for (const { rounds } of once.benchmarks) {
      for (const { facts = {} } of rounds) {
        for (const name of Object.keys(facts)) if (/^bench/.test(name)) delete facts[name];
      }
    }
    const text = await consoleOf(once);
    assert.doesNotMatch(text, /±.*%\s*\n/);
    assert.doesNotMatch(text, /redis-benchmark, /);
  });
});

test('every report takes it', async () => {
  for (const name of REPORT_NAMES) {
    const whole = (await loadReport(name)).render(result);
    const text = whole.replace(/<script[^>]*>[\s\S]*?<\/script>/g, '');
    assert.ok(text.length > 500, name);
    assert.doesNotMatch(text, /\bundefined\b|\bNaN\b|\[object/, name);
  }
});

test('the plots are one for each kind of connection: paired bars', () => {
  const pictures = picturesOf([result]);
  assert.deepEqual(
    pictures.map(({ name }) => name),
    ['commands-ioredis-kept', 'commands-ioredis-own'],
  );
  for (const { svg } of pictures) {
    assert.match(svg, /direct TCP[\s\S]*proxied TCP[\s\S]*direct unix[\s\S]*proxied unix/);
    assert.match(svg, /LRANGE_600/);
  }
});

describe('dragstrip commands refuses', () => {
  for (const [
    title,
    words,
    says,
    status = 2,
  ] of /** @type {[string, string[], RegExp, number?][]} */ ([
    ['a test that is not in the list', ['--tests', 'SET,FROB'], /"FROB".*the tests: PING_INLINE/],
    ['no test', ['--tests', ','], /none is named/],
    ['a way that is none', ['--way', 'around'], /one of direct, proxied, both/],
    ['keep-alive that is neither', ['--keep-alive', '1'], /one of on, off, both/],
    ['a transport that is none', ['--transport', 'udp'], /one of tcp, unix, both/],
    ['no requests', ['--requests', '0'], /not a whole number from 1/],
    ['fewer requests than clients', ['--requests', '49'], /49 requests of 50 clients/],
    ['too many clients', ['--clients', '6000'], /from 1 to 5000/],
    ['two proxies', ['--proxy', 'a:1', '--proxy-binary', 'x {port}'], /one of them/],
    ['a proxy that nothing goes through', ['--proxy', 'a:1', '--way', 'direct'], /leave one/],
    ['a place that is none', ['--proxy-binary', 'x {prot}'], /placeholder \{prot\}/],
    ['servers named and set up', ['--setup', '--redis', 'a:1'], /leave one out/],
    ['an address that is none', ['--redis', 'a:1,b:2'], /not an address/],
    ['a storage without commands', ['--storages', 'memory'], /does not offer command/, 4],
  ])) {
    test(title, async () => {
      assertFailure(await callCommand(['bin/dragstrip.js', 'commands', ...words]), status, says);
    });
  }
});

describe('dragstrip commands without servers', () => {
  let folder = '';
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'dragstrip-commands-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  test('says what does not answer, and how to start it', async () => {
    const ended = await runCommand(folder, ['bin/dragstrip.js', 'commands', '--tests', 'SET']);
    assertFailure(ended, 4, /Redis at 127\.0\.0\.1:1: connection refused.*servers start redis/);
  });

  test('a proxy that was named and does not answer is an error', async () => {
    const words = ['bin/dragstrip.js', 'commands', '--proxy', '127.0.0.1:1'];
    const ended = await runCommand(folder, words);
    assertFailure(ended, 4, /A proxy at 127\.0\.0\.1:1: connection refused.*--proxy/);
  });
});
