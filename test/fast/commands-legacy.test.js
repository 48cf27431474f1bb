/** The habits of redis-benchmark: its short options, the names of its -t, its -q and --csv. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { takeOptions } from '../../lib/options.js';
import { Clients } from '../../workloads/commands/clients.js';
import { csvLines, quietLines } from '../../workloads/commands/legacy.js';
import { options, plan } from '../../workloads/commands/plan.js';
import { benchmarkArgs } from '../../workloads/commands/redis-benchmark.js';
import { output } from '../../workloads/commands/run-hooks.js';
import { TEST_NAMES } from '../../workloads/commands/tests.js';
import { assertFailure, callCommand } from '../helpers/command-line.js';
import { commandsResult } from '../helpers/command-results.js';

/** @param {Record<string, string>} given as text */
function planned(given) {
  const values = takeOptions(options, given, { asText: true });
  return plan(values, /** @type {any} */ ({})).variants ?? [];
}

/** @param {string} tests */
function testsOf(tests) {
  const variants = planned({ tests, keepAlive: '1', route: 'direct', transport: 'tcp' });
  return variants.map(({ parameters }) => parameters['test']);
}

describe('redis-benchmark’s options', () => {
  test('are in the help', async () => {
    const { stdout } = await callCommand(['bin/dragstrip.js', 'commands', '--help-all']);
    for (const flags of [
      ...['-t, --tests', '-n, --ops', '-c, --in-flight', '-P, --pipeline'],
      ...['-r, --keyspace', '-d, --data-size', '-k, --keep-alive', '-q, --lines', '--redis-csv'],
      ...['-h, --host', '-p, --port', '-s, --socket'],
    ]) {
      assert.ok(stdout.includes(flags), `${flags} in\n${stdout}`);
    }
  });

  test('-t accepts lower-case names, and names of several tests', () => {
    assert.deepEqual(testsOf('ping,set'), ['PING_INLINE', 'PING_BULK', 'SET']);
    assert.deepEqual(testsOf('ping_mbulk, get'), ['PING_BULK', 'GET']);
    assert.deepEqual(
      testsOf('lrange'),
      TEST_NAMES.filter((name) => name.includes('LRANGE')),
    );
    assert.equal(testsOf('lrange').length, 5, 'with the LPUSH that fills the list');
  });

  test('-h, -p and -s are the address of Redis', () => {
    const redisAt = (/** @type {Record<string, string>} */ given) => {
      const values = takeOptions(options, given, { asText: true });
      const { shared } = plan(values, /** @type {any} */ ({ addresses: {} }));
      return /** @type {any} */ (shared)?.addresses.redis;
    };
    assert.equal(redisAt({ host: '10.0.0.1' }), '10.0.0.1:6379');
    assert.equal(redisAt({ port: '6380' }), '127.0.0.1:6380');
    assert.equal(redisAt({ host: '::1', port: '7' }), '[::1]:7');
    assert.equal(redisAt({ socket: '/run/redis.sock' }), 'unix:/run/redis.sock');
    const both = { port: '6380', socket: '/run/redis.sock' };
    assert.equal(redisAt(both), '127.0.0.1:6380,unix:/run/redis.sock');
    assert.equal(redisAt({}), undefined);
  });

  test('-k 1 and -k 0 are on and off', () => {
    const kinds = (/** @type {string} */ keepAlive) =>
      new Set(planned({ tests: 'set', keepAlive }).map(({ parameters }) => parameters.keepAlive));
    assert.deepEqual([...kinds('1')], [true]);
    assert.deepEqual([...kinds('0')], [false]);
  });

  test('-P multiplies the requests in flight, and is part of the benchmark’s name', () => {
    const given = { tests: 'set', keepAlive: '1', inFlight: '5', pipeline: '4' };
    for (const { parameters, loads } of planned(given)) {
      assert.equal(parameters['pipeline'], 4);
      assert.equal(loads?.[0].inFlight, 20);
    }
    const [{ parameters }] = planned({ tests: 'set' });
    assert.equal(Object.hasOwn(parameters, 'pipeline'), false);
  });

  test('-P has exactly that number of requests in flight per connection', async () => {
    let most = 0;
    const connect = async () => {
      let inFlight = 0;
      return /** @type {any} */ ({
        async send() {
          inFlight += 1;
          most = Math.max(most, inFlight);
          await new Promise((resolve) => setImmediate(resolve));
          inFlight -= 1;
        },
        close: async () => {},
      });
    };
    const clients = new Clients(connect, { now: () => 0 });
    await clients.keep(3, 4);
    const worker = async () => {
      for (let i = 0; i < 20; i += 1) await clients.onKept((one) => one.send(['x']));
    };
    await Promise.all(Array.from({ length: 12 }, worker));
    assert.equal(most, 4);
    assert.equal(clients.kept.length, 3);
    await clients.close();
  });

  test('-P is passed to redis-benchmark itself', () => {
    const shape = { requests: 200, clients: 5, keyspace: 9, keepAlive: true, words: ['GET', 'k'] };
    const args = benchmarkArgs({ ...shape, pipeline: 8, endpoint: { host: 'a', port: 7 } });
    assert.match(args.join(' '), / -k 1 -P 8 --csv GET k$/);
  });

  for (const { words, says } of [
    { words: ['-P', '3'], says: /one request in flight; add --keep-alive on \(-k 1\)/ },
    { words: ['-P', '3', '-k', '1', '-n', '149'], says: /149 requests.*at least 150/ },
    { words: ['-k', '2'], says: /available: .*on, off, both/ },
    { words: ['-t', 'hset'], says: /"HSET".*available: PING_INLINE/ },
  ]) {
    test(`${words.join(' ')} is refused`, async () => {
      assertFailure(await callCommand(['bin/dragstrip.js', 'commands', ...words]), 2, says);
    });
  }
});

describe('redis-benchmark’s output', () => {
  const result = commandsResult();
  /** @type {any} */ (result.options.workloadOptions).commands.redisBenchmark = '7.0.15';

  test('-q: a line per test, under its client and route; refused ones with the reason', () => {
    const text = quietLines(result).join('\n');
    const [first, ...lines] = text.split('\n\n')[0].split('\n');
    assert.equal(first, 'ioredis, direct TCP, keep-alive on');
    assert.equal(lines.length, 4);
    assert.match(lines[2], /^SET: 40398\.68 requests per second, p50=\d+\.\d{3} msec$/);
    assert.match(lines[3], /^LRANGE_600 \(first 600 elements\): /);
    assert.match(text, /PING_INLINE: refused: the connection was closed without a reply/);
    const tool = text.split('\n\n').filter((block) => block.startsWith('redis-benchmark 7.0.15'));
    assert.equal(tool.length, 8);
    assert.match(tool[0], /^SET: 80800\.00 requests per second, p50=0\.290 msec$/m);
  });

  test('without redis-benchmark its lines are absent', () => {
    assert.doesNotMatch(quietLines(commandsResult()).join('\n'), /redis-benchmark/);
  });

  test('--csv: its columns, every field in quotes, and their client', () => {
    const [head, ...lines] = csvLines(result);
    const columns = head.slice(1, -1).split('","');
    assert.equal(columns.slice(0, 3).join(), 'test,rps,avg_latency_ms');
    assert.equal(columns.slice(-3).join(), 'client,route,keep_alive');
    for (const line of lines) assert.equal(line.slice(1, -1).split('","').length, columns.length);
    const set = lines.filter((line) => /^"SET","40398\.68",.*"ioredis"/.test(line));
    assert.equal(set.length, 1);
    assert.match(set[0], /"ioredis","direct TCP","1"$/);
    assert.ok(lines.every((line) => !line.includes('refused')));
  });

  test('replaces the tables only if requested', () => {
    const context = { quiet: false, test: undefined };
    const usual = output(result, { ...context, options: {} });
    assert.deepEqual(usual, {});
    const own = output(result, { ...context, options: { lines: true } });
    assert.equal(own.tables, 'none');
    assert.match(String(own.before), /^ioredis, direct TCP, keep-alive on\n/);
  });
});
