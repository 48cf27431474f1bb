/**
 * The command list without servers: what right replies are and that wrong ones are caught, its
 * place, its clients, redis-benchmark's figures, variants, and a proxy's command line.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { resolveAddress } from '../../engine/addresses.js';
import { readEphemeralPorts } from '../../lib/ephemeral-ports.js';
import { MISMATCH, MISS } from '../../lib/outcome.js';
import { DEFAULT_SERVER_NAMES, SERVER_NAMES } from '../../servers/index.js';
import { parseProxyCommand } from '../../servers/proxy-command.js';
import { Clients, Times } from '../../workloads/commands/clients.js';
import { workload } from '../../workloads/commands/index.js';
import { PREFIX } from '../../workloads/commands/namespace.js';
import { commandVariants } from '../../workloads/commands/plan.js';
import {
  benchmarkArgs,
  parseBenchmark,
  programOf,
  rememberProgram,
  runBenchmark,
} from '../../workloads/commands/redis-benchmark.js';
import { requirePorts } from '../../workloads/commands/run-hooks.js';
import { TEST_NAMES, TESTS } from '../../workloads/commands/tests.js';
import { createFakeRedis } from '../helpers/fake-redis.js';

const SHAPE = { ops: 700, keyspace: 50, dataSize: 3, seed: 7 };

/**
 * Runs a test of the list against the fake.
 * @param {string} name
 * @param {(words: readonly string[], reply: any) => any} [lie]
 * @param {number} [issue] operations that are sent of SHAPE.ops
 */
async function runTest(name, lie, issue = SHAPE.ops) {
  const prepared = TESTS[name].prepare(SHAPE);
  const honest = createFakeRedis();
  await prepared.fill(honest.send);
  const outcomes = [0, 0, 0];
  for (let index = 0; index < issue; index += 1) {
    const words = prepared.words(index);
    const right = await honest.send(words);
    const reply = lie === undefined ? right : lie(words, right);
    outcomes[prepared.verify(index, reply)] += 1;
  }
  const wrong = await prepared.settle(honest.send, { issued: issue, answered: issue });
  return { outcomes, wrong, fake: honest, prepared };
}

describe('each test of the list', () => {
  test('exists, fifteen in total, in the order of redis-benchmark', () => {
    const [first, ...more] = TEST_NAMES;
    assert.equal(TEST_NAMES.length, 15);
    assert.equal(first, 'PING_INLINE');
    assert.equal(more.at(-1), 'MSET');
    assert.match(TESTS.LRANGE_500.title, /first 450 elements/);
  });

  for (const name of TEST_NAMES) {
    test(`${name}: all correct replies are ok, and it has separate keys`, async () => {
      const { outcomes, wrong, fake } = await runTest(name);
      assert.deepEqual(outcomes, [SHAPE.ops, 0, 0]);
      assert.equal(wrong, null);
      for (const key of fake.data.keys()) assert.ok(key.startsWith(PREFIX), key);
    });

    test(`${name}: the arguments of redis-benchmark name only keys of the namespace`, () => {
      const { baseline } = TESTS[name].prepare(SHAPE);
      if (baseline === 'ping_inline') return;
      const [command, key] = baseline;
      assert.ok(command === 'PING' || key.startsWith(PREFIX), baseline.join(' '));
    });
  }

  /** @type {[string, string, (words: readonly string[], reply: any) => any][]} */
  const LIES = [
    ['PING_BULK', 'another word', () => 'PANG'],
    ['SET', 'a status that is not OK', () => 'QUEUED'],
    ['GET', 'the value of another key', () => 'zzz'],
    ['INCR', 'a counter that does not rise', (_words, n) => Math.max(1, n - 1)],
    ['INCR', 'a text', (_words, n) => String(n)],
    ['LPUSH', 'a length that is there twice', (_words, n) => n - (n % 2)],
    ['LPOP', 'an element that was never pushed', () => '???'],
    ['SADD', 'a number that is none of the two', () => 2],
    ['SPOP', 'a member for the second time', () => 'element:000000000000'],
    ['LRANGE_100', 'one element too few', (_words, all) => all.slice(1)],
    ['LRANGE_300', 'the last one changed', (_words, all) => [...all.slice(0, -1), 'zzz']],
    [
      'LRANGE_500',
      'one in the middle changed in any reply',
      (_words, all) =>
        all.map((/** @type {string} */ value, /** @type {number} */ i) => (i === 200 ? '' : value)),
    ],
    ['MSET', 'no answer at all', () => null],
  ];
  for (const [name, what, lie] of LIES) {
    test(`${name}: ${what} is not a correct reply`, async () => {
      const { outcomes } = await runTest(name, lie);
      assert.ok(outcomes[MISMATCH] > 0, `${outcomes}`);
      if (what.includes('in any reply')) assert.equal(outcomes[MISMATCH], SHAPE.ops);
    });
  }

  test('a missing value is a miss', async () => {
    for (const [name, empty] of /** @type {const} */ ([
      ['GET', null],
      ['LPOP', null],
      ['SPOP', null],
      ['LRANGE_600', []],
    ])) {
      const { outcomes } = await runTest(name, () => empty);
      assert.deepEqual(outcomes, [0, SHAPE.ops, 0], name);
      assert.equal(MISS, 1);
    }
  });

  test('a confirmed but lost write is detected afterwards', async () => {
    for (const [name, key, value] of /** @type {const} */ ([
      ['SET', `${PREFIX}key:000000000007`, 'old'],
      ['MSET', `${PREFIX}key:000000000007`, 'old'],
      ['INCR', `${PREFIX}counter:000000000007`, '900'],
    ])) {
      const { fake, prepared } = await runTest(name);
      fake.data.set(key, value);
      const count = { issued: SHAPE.ops, answered: SHAPE.ops };
      assert.match(String(await prepared.settle(fake.send, count)), /holds old|counters is/, name);
    }
    for (const name of ['LPUSH', 'LPOP', 'SPOP', 'SADD', 'LRANGE_100']) {
      const { fake, prepared } = await runTest(name);
      for (const value of fake.data.values()) {
        if (Array.isArray(value)) value.push('one more');
        else value.add?.('one more');
      }
      const count = { issued: SHAPE.ops, answered: SHAPE.ops };
      assert.notEqual(await prepared.settle(fake.send, count), null, name);
    }
  });

  test('operations with lost replies may or may not have been executed', async () => {
    for (const name of ['INCR', 'LPUSH', 'LPOP', 'SPOP', 'SADD', 'SET']) {
      const { fake, prepared } = await runTest(name, undefined, 500);
      for (const issued of [500, 510]) {
        const count = { issued, answered: 490 };
        if (name === 'SET' && issued > 500) continue;
        assert.equal(await prepared.settle(fake.send, count), null, `${name} ${issued}`);
      }
    }
  });
});

describe('clients', () => {
  const clock = { ns: 0, now: () => (clock.ns += 10) };

  /** @param {{ fail?: boolean }} [options] */
  function fakeConnections({ fail = false } = {}) {
    const state = { open: 0, most: 0, made: 0, busy: new Set(), doubled: 0 };
    const connect = async () => {
      state.open += 1;
      state.made += 1;
      state.most = Math.max(state.most, state.open);
      const connection = {
        async send(/** @type {readonly string[]} */ words) {
          if (state.busy.has(connection)) state.doubled += 1;
          state.busy.add(connection);
          await new Promise((resolve) => setImmediate(resolve));
          state.busy.delete(connection);
          if (fail) throw new Error('no');
          return words[0];
        },
        async close() {
          state.open -= 1;
        },
      };
      return connection;
    };
    return { state, clients: new Clients(connect, clock) };
  }

  /**
   * Concurrent tasks, as in the loop.
   * @param {number} tasks
   * @param {number} each
   * @param {() => Promise<unknown>} op
   */
  const concurrently = (tasks, each, op) =>
    Promise.all(
      Array.from({ length: tasks }, async () => {
        for (let i = 0; i < each; i += 1) await op().catch(() => {});
      }),
    );

  test('persistent ones have one request at a time, and never exceed the requested number', async () => {
    const { state, clients } = fakeConnections();
    await clients.keep(8);
    await concurrently(8, 40, () => clients.onKept((one) => one.send(['x'])));
    assert.deepEqual([state.made, state.most, state.doubled], [8, 8, 0]);
    assert.equal(clients.idle.length, 8);
    await clients.close();
    assert.equal(state.open, 0);
    assert.equal(clients.connecting.ns.length, 8);
  });

  test('persistent ones are shared if a warm-up has more in flight, and restored by keep', async () => {
    const { state, clients } = fakeConnections();
    await clients.keep(4);
    await concurrently(9, 5, () => clients.onKept((one) => one.send(['x'])));
    assert.ok(state.doubled > 0);
    await clients.keep(4);
    assert.equal(new Set(clients.idle).size, 4);
    assert.equal(clients.idle.length, 4);
  });

  for (const fail of [false, true]) {
    test(`per request leave none open${fail ? ', even if requests fail' : ''}`, async () => {
      const { state, clients } = fakeConnections({ fail });
      await concurrently(6, 30, () => clients.onOwn((one) => one.send(['x'])));
      assert.deepEqual([state.made, state.open], [180, 0]);
      assert.ok(state.most <= 6, `${state.most} open at once`);
      assert.equal(clients.openMax, state.most);
      assert.equal(clients.commanding.ns.length, fail ? 0 : 180);
      assert.equal(clients.closing.ns.length, 180);
    });
  }

  test('have percentiles by rank, except those with too few values above', () => {
    const times = new Times();
    for (let i = 100; i >= 1; i -= 1) times.add(i * 1000);
    assert.deepEqual(times.metrics('x'), { xNsMean: 50_500, xNsP50: 50_000, xNsP99: null });
    assert.deepEqual(new Times().metrics('x'), { xNsMean: null, xNsP50: null, xNsP99: null });
  });
});

describe('redis-benchmark', () => {
  const HEAD =
    '"test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms",' +
    '"p99_latency_ms","max_latency_ms"';

  test('its CSV of version 7: requests per second, and milliseconds as ns', () => {
    const line = '"SET dragstrip:commands:key:__rand_int__ abc","28985.51","1.150","0.312","1.023"';
    assert.deepEqual(parseBenchmark(`${HEAD}\n${line},"1.703","5.327","5.647"\n`), {
      perSecond: 28_985.51,
      meanNs: 1_150_000,
      p50Ns: 1_023_000,
      p99Ns: 5_327_000,
    });
  });

  test('its CSV before 6.2: requests per second alone', () => {
    const found = parseBenchmark('"LPUSH k v, and ""more""","4100.50"\n');
    assert.equal(found?.perSecond, 4100.5);
    assert.equal(found?.p50Ns, null);
  });

  test('missing figures stay missing', () => {
    for (const text of ['', HEAD, `${HEAD}\n"x","nan"`, 'PING: 100 requests per second', '"x"']) {
      assert.equal(parseBenchmark(text), null, text);
    }
  });

  test('gets the same connections, requests, keys and route', () => {
    const shape = { requests: 200, clients: 5, keyspace: 9, keepAlive: false, words: ['GET', 'k'] };
    const tcp = benchmarkArgs({ ...shape, endpoint: { host: '::1', port: 7 } }).join(' ');
    assert.equal(tcp, '-h ::1 -p 7 -n 200 -c 5 -r 9 -k 0 --csv GET k');
    const unix = benchmarkArgs({
      ...shape,
      endpoint: { path: '/a b' },
      keepAlive: true,
      words: 'ping_inline',
    });
    assert.deepEqual(unix.slice(0, 2), ['-s', '/a b']);
    assert.equal(unix.slice(2).join(' '), '-n 200 -c 5 -r 9 -k 1 --csv -t ping_inline');
  });

  test('a program that fails or prints no figures is reported with its last line', async () => {
    const shape = {
      endpoint: { host: 'a', port: 1 },
      requests: 1,
      clients: 1,
      keyspace: 1,
      keepAlive: true,
      words: ['X'],
    };
    const ended = await runBenchmark({ program: '/bin/false' }, shape);
    assert.deepEqual(ended, { figures: null, failure: 'it ended with status 1' });
    const none = await runBenchmark({ program: '/nowhere/redis-benchmark' }, shape);
    assert.equal(none.figures, null);
    assert.match(String(none.failure), /No such file/);
    const silent = await runBenchmark({ program: '/bin/true' }, shape);
    assert.deepEqual([silent.figures, silent.failure], [null, 'it ended with status 0']);
  });

  test('is stored in the environment only', () => {
    /** @type {NodeJS.ProcessEnv} */
    const env = {};
    assert.equal(programOf(env), null);
    rememberProgram({ program: '/p', libraries: '/l' }, env);
    assert.deepEqual(programOf(env), { program: '/p', libraries: '/l' });
    rememberProgram({ program: '/q' }, env);
    assert.deepEqual(programOf(env), { program: '/q' });
  });
});

describe('variants', () => {
  const all = {
    tests: TEST_NAMES,
    route: /** @type {const} */ (['direct', 'proxied']),
    transport: /** @type {const} */ (['tcp', 'unix']),
    keepAlive: [true, false],
    inFlight: 50,
  };

  test('are all fifteen over four routes, with persistent and other connections', () => {
    const variants = commandVariants(all);
    assert.equal(variants.length, 120);
    assert.equal(new Set(variants.map(({ parameters }) => JSON.stringify(parameters))).size, 120);
    assert.ok(variants.every(({ loads }) => loads[0].inFlight === 50));
  });

  test('have enough requests by default, and as many as requested', () => {
    const of = (/** @type {string} */ test, /** @type {boolean} */ kept, requests = undefined) =>
      commandVariants({ ...all, requests }).find(
        ({ parameters }) => parameters.test === test && parameters.keepAlive === kept,
      )?.loads[0].operations;
    assert.deepEqual(
      [of('SET', true), of('LRANGE_600', true), of('SET', false)],
      [20_000, 4000, 2000],
    );
    assert.equal(
      commandVariants({ ...all, requests: 77 }).every(({ loads }) => loads[0].operations === 77),
      true,
    );
  });

  const TCP = { host: '127.0.0.1', port: 1 };
  const reach = { address: { main: TCP }, others: { nutcracker: { main: { path: '/p' } } } };
  const definition = /** @type {any} */ ({ commands: ['words'] });
  const offer = (/** @type {any} */ parameters) =>
    workload.offers?.(definition, { test: 'SET', keepAlive: true, ...parameters }, reach);

  test('are skipped if no such socket or port is known, with the option to set it', () => {
    assert.equal(offer({ way: 'direct', transport: 'tcp' }), true);
    assert.equal(offer({ way: 'proxied', transport: 'unix' }), true);
    const unix = /** @type {any} */ (offer({ way: 'direct', transport: 'unix' }));
    assert.match(unix.reason, /unix socket of Redis is unknown/);
    assert.match(unix.hint, /--redis host:port,unix:/);
    const tcp = /** @type {any} */ (offer({ way: 'proxied', transport: 'tcp' }));
    assert.match(tcp.reason, /TCP port of the proxy is unknown/);
  });

  test('of inline commands are skipped for drivers without them', () => {
    const line = { test: 'PING_INLINE', way: 'direct', transport: 'tcp' };
    assert.match(/** @type {any} */ (offer(line)).reason, /inline commands/);
  });

  test('use their route, and their keys are written to Redis directly', () => {
    const { address, others } = reach;
    const route = (/** @type {any} */ parameters) => workload.route?.(parameters, address, others);
    assert.deepEqual(route({ way: 'direct', transport: 'tcp' }), { main: TCP, direct: TCP });
    assert.deepEqual(route({ way: 'proxied', transport: 'unix' }), {
      main: { path: '/p' },
      direct: TCP,
    });
  });
});

describe('addresses and proxies', () => {
  test('a server has both its port and its socket', async () => {
    const flags = { redis: '127.0.0.1:7,unix:/a,b' };
    const { address } = await resolveAddress('redis', { flags, env: {}, home: '/nowhere' });
    assert.deepEqual(address, { main: { host: '127.0.0.1', port: 7 }, unix: { path: '/a,b' } });
    const only = await resolveAddress('nutcracker', {
      flags: { proxy: 'unix:/s' },
      env: {},
      home: '/nowhere',
    });
    assert.deepEqual(only.address, { main: { path: '/s' } });
    await assert.rejects(
      resolveAddress('redis', { flags: { redis: 'a:1,b:2' }, env: {}, home: '/nowhere' }),
      { code: 'E_USAGE' },
    );
  });

  test('a user’s command has placeholders in braces', () => {
    assert.deepEqual(parseProxyCommand('rmux -socket={socket} "-t={redis}" \'a b\''), [
      ...['rmux', '-socket={socket}', '-t={redis}', 'a b'],
    ]);
    assert.deepEqual(parseProxyCommand('/opt/nutcracker'), ['/opt/nutcracker']);
    for (const [text, says] of /** @type {[string, RegExp][]} */ ([
      ['', /no program/],
      ['x "{port}', /quote/],
      ['x {prot}', /unknown placeholder \{prot\}/],
      ['x --redis {redis}', /no listen address/],
    ])) {
      assert.throws(() => parseProxyCommand(text), { code: 'E_USAGE', message: says });
    }
  });

  test('a proxy is started by its name only, because it stores nothing', () => {
    assert.ok(SERVER_NAMES.includes('nutcracker'));
    assert.ok(!DEFAULT_SERVER_NAMES.includes('nutcracker'));
    assert.ok(DEFAULT_SERVER_NAMES.includes('redis'));
  });
});

describe('ports', () => {
  const few = { range: 1000, reused: false, waiting: 0 };
  const axes = { keepAlive: [true, false], transports: ['tcp', 'unix'] };

  test('a connection per request is limited by the available ports', () => {
    assert.throws(() => requirePorts(401, axes, few), {
      code: 'E_USAGE',
      message: /exhaust the ephemeral ports/,
    });
    requirePorts(400, axes, few);
    requirePorts(undefined, axes, few);
    requirePorts(100_000, { ...axes, keepAlive: [true] }, few);
    requirePorts(100_000, { ...axes, transports: ['unix'] }, few);
    requirePorts(100_000, axes, { ...few, reused: true });
  });

  test('are read from this machine', () => {
    const { range, waiting } = readEphemeralPorts();
    assert.ok(range > 100 && waiting >= 0);
  });
});
