/**
 * `--prometheus` and `--hlog` on a real server: figures of a run in progress that add up to those
 * of the result, and a log that the reader of hdr-histogram-js parses.
 */
// Needs: redis

import assert from 'node:assert/strict';
import { symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { before, describe, test } from 'node:test';
import { HistogramLogReader } from 'hdr-histogram-js';
import { seed } from '../../index.js';
import { withCommands } from '../helpers/command-folder.js';
import { assertFailure, eventually } from '../helpers/command-line.js';
import { addressFlags, withServers } from '../helpers/servers.js';

const ROWS = ['--rows', '300', '--value-size', '64'];

/**
 * @param {string} text text in the exposition format
 * @returns {Map<string, number>} values by their name and labels
 */
function samplesOf(text) {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const match = /^([a-z_]+(?:\{(?:[a-z]+="(?:[^"\\]|\\.)*",?)*\})?) (\S+)$/.exec(line);
      assert.ok(match, `not the exposition format: ${line}`);
      return [match[1], Number(match[2])];
    }),
  );
}

describe('live outputs', () => {
  const servers = withServers(['redis']);
  const { callHere, file, resultIn, start, textOf } = withCommands(servers);
  before(async () => {
    await seed({ servers: ['redis'], rows: 300, valueSize: 64, addresses: addressFlags(servers) });
  });

  test('--prometheus: rates and latencies while it runs; nothing is left afterwards', async () => {
    const words = ['--storages', 'ioredis', '--rate', '50', '--duration', '3s'];
    const { ended, child } = start(
      ...['run', ...ROWS, ...words, '--warmup', '100', '--prometheus', '0', '--json', 'm.json'],
    );
    let printed = '';
    child.stderr?.on('data', (text) => {
      printed += text;
    });
    const [, url] = await eventually(
      () => /metrics: (http:\/\/127\.0\.0\.1:\d+\/metrics)/.exec(printed),
      'its address',
    );
    const labels =
      'benchmark="ioredis:default/get/rate-50",storage="ioredis",profile="default",' +
      'workload="get",load="rate"';
    const count = `dragstrip_operation_duration_seconds_count{${labels}}`;
    /** @type {Map<string, number>[]} */
    const seen = [];
    let second = false;
    while (!second) {
      const response = await fetch(url).catch(() => null);
      if (response === null) break;
      assert.match(response.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
      seen.push(samplesOf(await response.text()));
      const counts = new Set(seen.map((one) => one.get(count) ?? 0).filter((n) => n > 0));
      second = counts.size >= 3;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    assert.ok(second, `the count grows while it runs: ${seen.map((one) => one.get(count))}`);
    const running = seen.filter((one) => one.get(`dragstrip_benchmark_running{${labels}}`) === 1);
    assert.ok(running.length > 0);
    const last = /** @type {Map<string, number>} */ (seen.at(-1));
    assert.ok((last.get(`dragstrip_operations_per_second{${labels}}`) ?? 0) > 0);
    assert.equal(last.get(`dragstrip_operations_total{${labels},outcome="ok"}`), last.get(count));
    assert.equal(last.get(`dragstrip_operations_total{${labels},outcome="error"}`), 0);
    const bucket = (/** @type {string} */ le) =>
      last.get(`dragstrip_operation_duration_seconds_bucket{${labels},le="${le}"}`);
    assert.equal(bucket('+Inf'), last.get(count));
    assert.ok(Number(bucket('0.01')) <= Number(bucket('10')));
    const host = new URL(url);
    assert.equal((await fetch(new URL('/', host))).status, 404);
    const { status, stderr } = await ended;
    assert.equal(status, 0, stderr);
    assert.ok(Number(last.get(count)) <= 2 * 10 ** 9);
    await assert.rejects(fetch(url));
  });

  test('--hlog: a line per second and benchmark, read by HdrHistogram tools', async () => {
    const words = ['--storages', 'redis,ioredis', '--rate', '50', '--duration', '2s'];
    const how = ['--warmup', '100', '--hlog', 'log.hlog', '--json', 'h.json'];
    const ended = await callHere('run', ...ROWS, ...words, ...how);
    assert.equal(ended.status, 0, ended.stderr);
    const text = textOf('log.hlog');
    assert.match(
      text,
      /^#\[.*\]\n#\[Histogram log format version 1\.3\]\n#\[StartTime: \d+\.\d{3} /,
    );
    const reader = new HistogramLogReader(text);
    /** @type {Record<string, { total: number, max: number, lines: number, starts: number[] }>} */
    const byTag = {};
    for (let one = reader.nextIntervalHistogram(); one; one = reader.nextIntervalHistogram()) {
      const own = (byTag[one.tag] ??= { total: 0, max: 0, lines: 0, starts: [] });
      own.total += one.totalCount;
      own.max = Math.max(own.max, one.maxValue);
      own.lines += 1;
      own.starts.push(one.startTimeStampMsec);
    }
    const { benchmarks } = resultIn('h.json');
    assert.equal(Object.keys(byTag).length, 2);
    for (const { id, rounds } of benchmarks) {
      const { outcomes, latency, seconds } = rounds[0];
      assert.equal(seconds, undefined, 'the result is as without the log');
      assert.equal(byTag[id].total, outcomes.ok, id);
      assert.ok(byTag[id].lines >= 2 && byTag[id].lines <= 4, `${id}: ${byTag[id].lines}`);
      assert.ok(Math.abs(byTag[id].max / Number(latency?.maxNs) - 1) < 0.002, id);
      const [first, second] = byTag[id].starts;
      assert.ok(Math.abs(second - first - 1000) <= 1, `${first} ${second}`);
    }
  });

  test('--hlog by slices: a line per round; with --processes of all processes', async () => {
    const how = ['--storages', 'redis', '--rounds', '2', '--budget', '2s', '--in-flight', '16'];
    const log = ['--warmup', '100', '--no-html', '--hlog', 's.hlog', '--quiet'];
    const ended = await callHere('race', ...ROWS, ...how, ...log);
    assert.equal(ended.status, 0, ended.stderr);
    const reader = new HistogramLogReader(textOf('s.hlog'));
    let lines = 0;
    while (reader.nextIntervalHistogram()) lines += 1;
    assert.ok(lines >= 4, String(lines));
    const two = ['--storages', 'redis', '--ops', '400', '--processes', '2', '--warmup', '100'];
    const shared = await callHere('run', ...ROWS, ...two, '--hlog', 'p.hlog', '--prometheus', '0');
    assert.equal(shared.status, 0, shared.stderr);
    const sums = new HistogramLogReader(textOf('p.hlog'));
    assert.equal(sums.nextIntervalHistogram()?.totalCount, 400);
  });

  test('impossible options are refused in one line, before anything is measured', async () => {
    writeFileSync(file('taken.hlog'), 'kept');
    const run = ['run', ...ROWS, '--storages', 'memory', '--ops', '10'];
    const closed = await callHere(...run, '--hlog', 'taken.hlog');
    assertFailure(closed, 2, /--hlog taken.hlog: the file ex/);
    assert.equal(textOf('taken.hlog'), 'kept');
    writeFileSync(file('other'), 'kept');
    symlinkSync('other', file('link.hlog'));
    const forced = await callHere(...run, '--hlog', 'link.hlog', '--force');
    assert.equal(forced.status, 0, forced.stderr);
    assert.equal(textOf('other'), 'kept');
    assertFailure(await callHere(...run, '--prometheus', 'x'), 2, /--prometheus "x": not a port/);
    const occupant = createServer();
    await new Promise((resolve) => occupant.listen(0, '127.0.0.1', () => resolve(undefined)));
    try {
      const { port } = /** @type {import('node:net').AddressInfo} */ (occupant.address());
      const ended = await callHere(...run, '--prometheus', String(port));
      assertFailure(ended, 4, /--prometheus: cannot listen at 127\.0\.0\.1:\d+ \(EADDRINUSE\)/);
    } finally {
      occupant.close();
    }
  });
});
