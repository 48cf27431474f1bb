/** The command list as tables, notes, plots and an exit status, of a made-up result. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { statusOf } from '../../cli/status.js';
import { documentOf } from '../../report/document.js';
import { loadReport, REPORT_NAMES } from '../../report/index.js';
import { loadPictures } from '../../report/pictures.js';
import { status as statusWith } from '../../workloads/commands/run-hooks.js';
import { loadReports } from '../../workloads/index.js';
import { withCommands } from '../helpers/command-folder.js';
import { assertFailure, callCommand } from '../helpers/command-line.js';
import { commandsResult } from '../helpers/command-results.js';
import { pairedRatio } from '../helpers/paired-ratio.js';

/** @param {import('../../lib/result.js').Result} result */
const statusAfter = (result) => statusWith(result, statusOf, { options: {}, quiet: true });

const picturesOf = await loadPictures();

const result = commandsResult();

/** @param {import('../../lib/result.js').Result} of */
async function consoleOf(of) {
  return (await loadReport('console')).render(of);
}

const reports = await loadReports();

/** @param {import('../../lib/result.js').Result} of */
function tablesOf(of) {
  return documentOf(of, reports).tables;
}

/** @param {import('../../lib/report-types.js').Value} value @returns {any} a number or a state */
function shownOf(value) {
  if ('state' in value) return value.state;
  return typeof value.value === 'number' ? Number(value.value.toPrecision(6)) : value.value;
}

/**
 * @param {RegExp} title
 * @param {string} start beginning of the keys
 * @returns {Record<string, any>} test or route to its values, of the columns that begin so
 */
function valuesOf(title, start) {
  const [{ rows }] = tablesOf(result).filter((table) => title.test(table.title));
  return Object.fromEntries(
    rows.map(({ keys, values }) => [
      Object.values(keys).join(' '),
      Object.keys(values)
        .filter((key) => key.startsWith(start))
        .map((key) => shownOf(values[key])),
    ]),
  );
}

describe('figures', () => {
  test('are one per test and route, with persistent and other connections', () => {
    assert.deepEqual(
      tablesOf(result).map(({ title }) => title),
      [
        'ioredis: routes to Redis, means over the tests that every route answers',
        'ioredis, connections kept: ops/s',
        'ioredis, one connection per request: ops/s',
        'ioredis: speed-up from keep-alive',
        'redis-benchmark, connections kept: requests/s, and their ratio to ioredis',
        'redis-benchmark, one connection per request: requests/s, and their ratio to ioredis',
        'ioredis, connections kept: where the time goes',
        'ioredis, one connection per request: where the time goes',
      ],
    );
    const kept = valuesOf(/connections kept: ops/, 'throughput_');
    assert.equal(Object.keys(kept).length, 4);
    assert.deepEqual(kept['SET'], [40_398.7, 20_199.3, 50_498.4, 30_299]);
    const [, , , , , , times] = tablesOf(result);
    const set = times.rows.filter(({ keys }) => keys['test'] === 'SET');
    const [direct, proxied] = set.map(({ values }) => values);
    assert.deepEqual(
      ['proxy_cpu', 'server_cpu', 'connect_p50'].map((key) => shownOf(direct[key])),
      [...['unknown', 9000, 200_000]],
    );
    assert.deepEqual(shownOf(proxied['proxy_cpu']), 14_000);
    assert.equal(shownOf(proxied['server_cpu']), 9000);
  });

  test('have units and intervals, also for programs', async () => {
    const [document] = JSON.parse((await loadReport('json')).render(result));
    const [, { columns, rows }] = document.tables;
    const units = Object.fromEntries(
      columns.map((/** @type {any} */ { key, unit }) => [key, unit]),
    );
    assert.equal(units.throughput_direct_tcp, 'ops/s');
    assert.equal(units.proxied_to_direct_tcp, '×');
    const { value, low, high, n } = rows[2].values.proxied_to_direct_tcp;
    assert.ok(Math.abs(value - 0.5) < 1e-6 && low <= value && value <= high);
    assert.equal(n, 3);
    const { state, reason } = rows[0].values.throughput_proxied_tcp;
    assert.deepEqual([state, reason], ['refused', 'the connection was closed without a reply']);
    for (const table of document.tables) {
      assert.doesNotMatch(JSON.stringify(table.columns), /"unit":"text"/, table.title);
    }
  });

  test('ratios are pairs of one round, with an interval from two rounds on', () => {
    const found = /** @type {any} */ (pairedRatio([10, 20, 30], [20, 40, 60]));
    assert.ok(Math.abs(found.value - 0.5) < 1e-12);
    assert.equal(found.n, 3);
    assert.equal(/** @type {any} */ (pairedRatio([10], [20])).low, null);
    assert.ok('state' in pairedRatio([null], [20]));
    assert.ok('state' in pairedRatio(undefined, [20]));
  });

  test('a summary covers the tests that every route supports', () => {
    const [{ rows }] = tablesOf(result);
    assert.deepEqual(
      rows.slice(0, 4).map(({ values }) => [shownOf(values['tests']), shownOf(values['to_first'])]),
      [
        [3, 1],
        [3, 0.5],
        [3, 1.25],
        [3, 0.75],
      ],
    );
    assert.ok(Math.abs(shownOf(rows[1].values['proxy_cpu']) - 14_000) < 1e-6);
  });

  test('a refusal has no figure, and is neither wrong nor a fault', () => {
    const { PING_INLINE: ping } = valuesOf(/connections kept: ops/, 'throughput_');
    assert.deepEqual(ping, [50_498.4, 'refused', 63_122.9, 'refused']);
    assert.equal(statusAfter(result), 0);
  });

  test('a refusal by Redis itself is a fault, and so is any other error', () => {
    const measured = commandsResult();
    const benchmark = measured.benchmarks.find(
      ({ parameters }) => parameters?.['way'] === 'proxied',
    );
    if (benchmark?.parameters !== undefined) benchmark.parameters['way'] = 'direct';
    assert.equal(statusAfter(measured), 5);
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
    assert.equal(statusAfter(refused), 0, 'the proxy refuses, which is the result');
  });
});

describe('the console report', () => {
  test('has the routes, both ratios, the gain of persistent connections, and redis-benchmark', async () => {
    const text = await consoleOf(result);
    assert.match(text, /ioredis, connections kept: ops\/s/);
    assert.match(text, /ioredis, one connection per request: ops\/s/);
    assert.match(text, /SET +40,399 +20,199 +50,498 +30,299 +0\.50× ±0\.0% +0\.60×/);
    assert.match(text, /PING_INLINE +50,498 +refused +63,123 +refused/);
    assert.match(text, /ioredis: speed-up from keep-alive/);
    assert.match(text, /SET +10\.0× ±0\.0% +10\.0×/);
    assert.match(text, /redis-benchmark, connections kept: requests\/s/);
    assert.match(text, /SET +80,800 +40,400 .* 2\.00×/);
    assert.match(text, /CPU µs +CPU µs +CPU µs/);
  });

  test('shows the reason of a refusal once, and not among wrong replies', async () => {
    const text = await consoleOf(result);
    assert.match(
      text,
      /Refused, not counted as operations\n +PING_INLINE, proxied: the connection was closed without a reply \(4 benchmarks\)\n/,
    );
    assert.doesNotMatch(text, /Wrong replies|error.*of 2,000/);
    assert.doesNotMatch(text, /commands, window/, 'no table of a race');
  });

  test('names the commands that never reached Redis', async () => {
    assert.match(await consoleOf(result), /answered by the proxy, never sent to Redis: PING_BULK/);
  });

  test('has no interval for one round, and no table of tests that did not run', async () => {
    const once = commandsResult({ rounds: 1 });
    for (const { rounds } of once.benchmarks) {
      for (const { metrics = {} } of rounds) {
        for (const name of Object.keys(metrics)) if (/^bench/.test(name)) delete metrics[name];
      }
    }
    const text = await consoleOf(once);
    assert.doesNotMatch(text, /±.*%\s*\n/);
    assert.doesNotMatch(text, /redis-benchmark, /);
  });
});

test('every report accepts it', async () => {
  for (const name of REPORT_NAMES) {
    const whole = (await loadReport(name)).render(result);
    const text = whole.replace(/<script[^>]*>[\s\S]*?<\/script>/g, '');
    assert.ok(text.length > 500, name);
    assert.doesNotMatch(text, /\bundefined\b|\bNaN\b|\[object/, name);
  }
});

test('one plot per kind of connection: paired bars', () => {
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
    ['a test that is not in the list', ['--tests', 'SET,FROB'], /"FROB".*available: PING_INLINE/],
    ['no test', ['--tests', ','], /an empty item in the list/],
    ['an unknown route', ['--route', 'around'], /available: direct, proxied, both/],
    ['keep-alive that is neither', ['--keep-alive', '2'], /available: .*on, off, both/],
    ['a transport that is none', ['--transport', 'udp'], /available: tcp, unix, both/],
    ['no requests', ['--ops', '0'], /not a whole number from 1/],
    ['fewer requests than clients', ['--ops', '49'], /49 requests for 50 clients/],
    ['too many clients', ['--clients', '6000'], /from 1 to 5000/],
    ['two proxies', ['--proxy', 'a:1', '--proxy-binary', 'x {port}'], /cannot be combined/],
    [
      'a proxy that nothing goes through',
      ['--proxy', 'a:1', '--route', 'direct'],
      /leave out --route/,
    ],
    ['a place that is none', ['--proxy-binary', 'x {prot}'], /placeholder \{prot\}/],
    ['servers named and set up', ['--setup', '--redis', 'a:1'], /leave one out/],
    ['an address that is none', ['--redis', 'a:1,b:2'], /not an address/],
    ['Redis named twice', ['--redis', 'a:1', '-s', '/b'], /--redis and .* cannot be combined/],
    ['a port set up', ['--setup', '-p', '6380'], /leave one out/],
    ['a storage without commands', ['--storages', 'memory'], /does not support command/, 4],
  ])) {
    test(title, async () => {
      assertFailure(await callCommand(['bin/dragstrip.js', 'commands', ...words]), status, says);
    });
  }
});

describe('dragstrip commands without servers', () => {
  const { callHere } = withCommands();

  test('names the server that does not reply, and how to start it', async () => {
    const ended = await callHere('commands', '--tests', 'SET');
    assertFailure(ended, 4, /Redis at 127\.0\.0\.1:1: connection refused.*servers start redis/);
  });

  test('a named proxy that does not reply is an error', async () => {
    const ended = await callHere('commands', '--proxy', '127.0.0.1:1');
    assertFailure(ended, 4, /A proxy at 127\.0\.0\.1:1: connection refused.*--proxy/);
  });
});
