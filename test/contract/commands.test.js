/**
 * The command list on a real Redis and a real nutcracker: every command right or refused, over all
 * ways; redis-benchmark beside it; a proxy that lies or dies; nothing left behind.
 */
// Needs: redis, nutcracker

import assert from 'node:assert/strict';
import {
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { describe, test } from 'node:test';
import { statusOf } from '../../cli/status.js';
import { askRedis } from '../../servers/ask-redis.js';
import { loadServer, startServers } from '../../servers/index.js';
import { startProxyCommand } from '../../servers/proxy-command.js';
import { isRefusedByProxy, refusalOf } from '../../workloads/commands/analysis.js';
import { GUEST, PREFIX } from '../../workloads/commands/namespace.js';
import { commandVariants } from '../../workloads/commands/plan.js';
import { programOf } from '../../workloads/commands/redis-benchmark.js';
import { status as statusWith } from '../../workloads/commands/run-hooks.js';
import { TEST_NAMES } from '../../workloads/commands/tests.js';
import { assertFailure, callIn, eventually, startCommand } from '../helpers/command-line.js';
import { withCommandServers } from '../helpers/command-servers.js';
import { withFolder } from '../helpers/folder.js';
import { runHere } from '../helpers/run-here.js';
import { addressOf, credentialsOf, makeHome, PACKAGES_HOME } from '../helpers/servers.js';

/** @param {import('../../lib/result.js').Result} result */
const statusAfter = (result) => statusWith(result, statusOf, { options: {}, quiet: true });

/** @typedef {import('../../lib/result.js').Result} Result */

const CLIENTS = 8;
/** @type {import('../../workloads/commands/plan.js').CommandList} */
const ALL = {
  tests: TEST_NAMES,
  route: ['direct', 'proxied'],
  transport: ['tcp', 'unix'],
  keepAlive: [true, false],
  inFlight: CLIENTS,
};

describe('the command list on real servers', () => {
  const { servers, redis, folder, both } = withCommandServers();

  const ownKeys = () => redis().keys(`${PREFIX}*`);

  /**
   * @param {Partial<typeof ALL>} list
   * @param {Record<string, any>} [options]
   * @param {Parameters<typeof runHere>[1]} [context]
   */
  function runList({ requests = 60, ...list }, options = {}, context = {}) {
    const { commands, ...more } = options;
    return runHere(
      {
        home: path.join(folder(), 'state'),
        workload: 'commands',
        storages: ['ioredis'],
        inFlight: CLIENTS,
        keyspace: 50,
        dataSize: 3,
        ...commands,
        variants: commandVariants({ ...ALL, requests, ...list }),
        warmupOperations: 20,
        addresses: { redis: both('redis'), proxy: both('nutcracker') },
        ...more,
      },
      context,
    );
  }

  /** @param {Result} result */
  function assertAccounts({ benchmarks }) {
    for (const { id, rounds } of benchmarks) {
      for (const { scheduled, outcomes } of rounds) {
        const sum = Object.values(outcomes).reduce((total, count) => total + count, 0);
        assert.equal(sum, scheduled, id);
      }
    }
  }

  const openSockets = () =>
    readdirSync('/proc/self/fd').filter((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`).startsWith('socket:');
      } catch {
        return false;
      }
    }).length;

  test('all fifteen on each route, persistent or not: verified, or refused with a reason', async () => {
    const strangers = await redis().set('key:000000000001', 'a stranger’s');
    assert.equal(strangers, 'OK');
    const socketsBefore = openSockets();
    const clientsBefore = Number(
      /connected_clients:(\d+)/.exec(await redis().info('clients'))?.[1],
    );
    /** @type {Set<string>} */
    const notOurs = new Set();
    const result = await runList(
      {},
      {},
      {
        onEvent: (event) => {
          if (event.type !== 'benchmark-end') return;
          redis()
            .keys('*')
            .then((keys) => {
              for (const key of keys) if (!key.startsWith(PREFIX)) notOurs.add(key);
            });
        },
      },
    );
    assert.equal(result.benchmarks.length, 120);
    assertAccounts(result);
    const refused = result.benchmarks.filter(isRefusedByProxy);
    for (const benchmark of result.benchmarks) {
      const { id, state, rounds, parameters } = benchmark;
      assert.equal(state, 'measured', `${id}: ${rounds[0]?.failure?.message}`);
      const [{ outcomes, samples, metrics = {} }] = rounds;
      if (refused.includes(benchmark)) {
        assert.equal(outcomes.ok, 0, id);
        assert.ok(samples.every(({ code, outcome }) => code === 'REFUSED' && outcome === 'error'));
        assert.match(String(refusalOf(benchmark)), /the connection was closed without a reply/);
        continue;
      }
      assert.equal(outcomes.ok, 60, `${id}: ${JSON.stringify(outcomes)}`);
      const isPing = parameters?.['way'] === 'proxied' && parameters['test'] === 'PING_BULK';
      assert.equal(metrics['reached'], isPing ? 0 : 60, `${id}: what Redis has seen`);
      assert.ok(
        Number(metrics['connectionsMax']) <= CLIENTS + 1,
        `${id}: ${metrics['connectionsMax']}`,
      );
      assert.ok(rounds[0].server !== null && rounds[0].server.cpuNs >= 0, id);
      if (parameters?.['way'] !== 'proxied') continue;
      assert.ok(Number(rounds[0].others?.['nutcracker'].cpuNs) > 0, `${id}: the proxy’s CPU`);
    }
    assert.deepEqual(
      [...new Set(refused.map(({ parameters }) => parameters?.['test']))],
      ['PING_INLINE'],
    );
    assert.equal(refused.length, 4);
    assert.equal(statusAfter(result), 0);
    assert.deepEqual([...notOurs], ['key:000000000001'], 'no key but ours was ever made');
    assert.equal(await redis().get('key:000000000001'), 'a stranger’s');
    await redis().del('key:000000000001');
    assert.deepEqual(await ownKeys(), []);
    await eventually(() => openSockets() <= socketsBefore, 'its sockets are closed');
    const clients = Number(/connected_clients:(\d+)/.exec(await redis().info('clients'))?.[1]);
    assert.ok(clients <= clientsBefore, `${clients} connections at Redis, ${clientsBefore} before`);
  });

  test('connect time is separate from the command if each request connects', async () => {
    const result = await runList({ tests: ['SET'], route: ['direct'], keepAlive: [false] });
    for (const { rounds } of result.benchmarks) {
      const [{ metrics = {}, latency }] = rounds;
      const part = (/** @type {string} */ name) => Number(metrics[`${name}NsMean`]);
      const parts = part('connect') + part('command') + part('close');
      assert.ok(part('connect') > 0 && part('command') > 0 && part('close') > 0);
      const mean = latency?.meanNs ?? 0;
      assert.ok(Math.abs(parts / mean - 1) < 0.1, `${parts} of ${mean} ns`);
    }
  });

  test('node-redis, iovalkey and hiredis run the list as well', async () => {
    const built =
      (await (await import('../../storages/hiredis.js')).storage.unavailable?.('default')) ?? null;
    const storages = [
      'redis',
      'iovalkey',
      ...(built === null ? ['hiredis', 'hiredis:reader'] : []),
    ];
    const tests = ['PING_INLINE', 'INCR', 'SPOP', 'LRANGE_300', 'MSET'];
    const result = await runList({ tests, transport: ['unix'], requests: 60 }, { storages });
    assertAccounts(result);
    for (const benchmark of result.benchmarks) {
      const { id, storage, state, parameters, rounds, reason } = benchmark;
      if (storage === 'redis' && parameters?.['test'] === 'PING_INLINE') {
        assert.deepEqual([state, /inline commands/.test(String(reason))], ['skipped', true], id);
      } else if (!isRefusedByProxy(benchmark)) {
        assert.equal(rounds[0].outcomes.ok, 60, `${id}: ${rounds[0].failure?.message}`);
      }
    }
    assert.equal(statusAfter(result), 0);
  });

  test('redis-benchmark runs the same list, and its figures are separate', async () => {
    const commands = { redisBenchmark: 'real' };
    const ways = {
      route: /** @type {const} */ (['direct']),
      transport: /** @type {const} */ (['tcp']),
    };
    // It counts whole milliseconds: sixty requests may be over within the first.
    const kept = await runList({ ...ways, keepAlive: [true], requests: 600 }, { commands });
    const narrowed = await runList(
      { tests: ['PING_INLINE', 'GET'], keepAlive: [false], transport: ['unix'], requests: 600 },
      { commands },
    );
    for (const { id, rounds, parameters } of [...kept.benchmarks, ...narrowed.benchmarks]) {
      const { metrics = {} } = rounds[0];
      if (parameters?.['way'] === 'proxied') {
        assert.match(
          String(metrics['benchmarkFailure']),
          /accepts a password only as an argument/,
          id,
        );
        continue;
      }
      assert.ok(
        Number(metrics['benchmarkPerSecond']) > 100,
        `${id}: ${metrics['benchmarkFailure']}`,
      );
      assert.ok(Number(metrics['benchmarkNsMean']) > 1000, id);
      assert.ok(parameters !== undefined);
    }
    assert.deepEqual(await ownKeys(), [], 'nor anything of redis-benchmark');
    const users = /** @type {string[]} */ (await redis().call('ACL', 'USERS'));
    assert.deepEqual(users, ['default'], 'nor the user that it had');
    assert.equal(await redis().dbsize(), 0);
  });

  test('with --setup redis-benchmark has a figure on every line, direct and proxied', async (t) => {
    const home = await makeHome();
    t.after(() => rmSync(home, { recursive: true, force: true }));
    symlinkSync(path.join(PACKAGES_HOME, 'packages'), path.join(home, 'packages'));
    const env = { DRAGSTRIP_HOME: home, DRAGSTRIP_REDIS: '', DRAGSTRIP_PROXY: '' };
    const size = ['--rounds', '1', '--budget', '1s', '-c', '8', '--warmup', '20'];
    const files = ['--quiet', '--json', 'setup.json'];
    // All tests where the password was in the way, and one of them by each way there is.
    for (const [count, ...words] of [
      [15, '--route', 'proxied', '--transport', 'tcp', '-k', '1'],
      [8, '--tests', 'GET'],
    ]) {
      const command = [
        'bin/dragstrip.js',
        'commands',
        '--setup',
        ...size,
        ...files,
        '--force',
        ...words,
      ];
      const ended = await callIn(folder(), command.map(String), { env });
      assert.equal(ended.status, 0, ended.stderr);
      const file = path.join(folder(), 'setup.json');
      /** @type {Result} */
      const { benchmarks } = JSON.parse(readFileSync(file, 'utf8'));
      assert.equal(benchmarks.length, count);
      for (const { id, rounds, parameters = {} } of benchmarks) {
        const [{ outcomes, scheduled, metrics = {} }] = rounds;
        if (parameters['way'] === 'proxied' && parameters['test'] === 'PING_INLINE') continue;
        assert.ok(scheduled > 0 && outcomes.ok === scheduled, `${id}: ${JSON.stringify(outcomes)}`);
        const { benchmarkPerSecond: perSecond, benchmarkFailure: failure } = metrics;
        const isFigure = Number(perSecond) > 100 || /within a millisecond/.test(String(failure));
        assert.ok(isFigure, `${id}: ${failure}`);
      }
    }
  });

  test('a client without a login may run the tests’ commands, on their keys only', async (t) => {
    const home = await makeHome();
    t.after(() => rmSync(home, { recursive: true, force: true }));
    const options = { home, packagesHome: PACKAGES_HOME, owned: true, guest: GUEST };
    const {
      servers: started,
      failures,
      stop,
    } = await startServers(['redis', 'nutcracker'], options);
    t.after(stop);
    assert.deepEqual(failures, []);
    const [direct, proxy] = ['redis', 'nutcracker'].map((name) => {
      const found = started.find((one) => one.name === name);
      assert.ok(found);
      return { address: addressOf(found), credentials: credentialsOf(found) };
    });
    assert.equal(proxy.credentials.password, undefined);
    assert.equal(direct.credentials.user, 'dragstrip');
    const key = `${PREFIX}key:000000000001`;
    const allowed = [
      ['SET', key, 'a'],
      ['GET', key],
    ];
    const forbidden = [
      ...[['GET', 'other'], ['SET', 'other', 'b'], ['DEL', key], ['KEYS', '*'], ['FLUSHALL']],
      ...[['CONFIG', 'GET', '*'], ['ACL', 'LIST'], ['EVAL', 'return 1', '0'], ['INFO']],
      ...[['SUBSCRIBE', 'x'], ['SHUTDOWN'], ['SORT', key]],
    ];
    for (const [i, words] of [...allowed, ...forbidden].entries()) {
      const { replies } = await askRedis(direct.address['main'], {}, [words]);
      const { error } = replies[0];
      if (i < allowed.length) assert.equal(error ?? null, null, words.join(' '));
      else assert.match(String(error), /^NOPERM/, words.join(' '));
    }
    const through = await askRedis(proxy.address['main'], {}, [['GET', key]]);
    assert.equal(through.replies[0].value, 'a');
    const { replies } = await askRedis(direct.address['main'], direct.credentials, [
      ['ACL', 'WHOAMI'],
    ]);
    assert.equal(replies[0].value, 'dragstrip');
  });

  test('a proxy that changes a reply is detected: mismatch, and status 5', async () => {
    const { port, close } = await startLiar((text) => text.replace(/\$3\r\n.../, '$3\r\n???'));
    const result = await runList(
      { tests: ['GET', 'LRANGE_100'], route: ['proxied'], transport: ['tcp'] },
      { addresses: { redis: both('redis'), proxy: `127.0.0.1:${port}` } },
    );
    close();
    for (const { id, rounds } of result.benchmarks) {
      assert.ok(rounds[0].outcomes.mismatch > 0, `${id}: ${JSON.stringify(rounds[0].outcomes)}`);
    }
    assertAccounts(result);
    assert.equal(statusAfter(result), 5);
    assert.deepEqual(await ownKeys(), []);
  });

  test('a proxy that drops writes is detected afterwards', async () => {
    const { port, close } = await startLiar(
      (text) => text,
      // A warm-up sends several at once.
      (text) => '+OK\r\n'.repeat(text.split('\r\nSET\r\n').length - 1) || null,
    );
    const result = await runList(
      { tests: ['SET'], route: ['proxied'], transport: ['tcp'], keepAlive: [true] },
      { addresses: { redis: both('redis'), proxy: `127.0.0.1:${port}` } },
    );
    close();
    const [round] = result.benchmarks[0].rounds;
    assert.equal(round.state, 'failed');
    assert.match(
      String(round.failure?.message),
      /wrong data: dragstrip:commands:s\d+:key:\d+ holds null/,
    );
    assert.equal(statusAfter(result), 5);
  });

  /**
   * A proxy by address, in this process.
   * @param {(reply: string) => string} change
   * @param {(request: string) => string | null} [answer] instead of Redis
   */
  async function startLiar(change, answer = () => null) {
    const { host, port } = /** @type {any} */ (servers.address('redis').main);
    const server = net.createServer((client) => {
      const backend = net.connect(port, host);
      client.on('data', (chunk) => {
        const own = answer(chunk.toString('latin1'));
        if (own === null) backend.write(chunk);
        else client.write(own);
      });
      backend.on('data', (chunk) => client.write(change(chunk.toString('latin1')), 'latin1'));
      client.on('close', () => backend.destroy());
      backend.on('close', () => client.destroy());
      for (const socket of [client, backend]) socket.on('error', () => {});
    });
    await new Promise((done) => server.listen(0, '127.0.0.1', () => done(null)));
    const address = /** @type {import('node:net').AddressInfo} */ (server.address());
    return { port: address.port, close: () => server.close() };
  }

  test('a proxy that is killed or stopped: errors, not refusals; keys are removed', async () => {
    const binaries = await (await loadServer('nutcracker')).find(PACKAGES_HOME);
    const program = `"${binaries?.programs['nutcracker']}"`; // its path may have blanks
    const credentials = servers.credentials('redis');
    const place = { home: servers.home(), redis: servers.address('redis'), credentials };
    for (const [keepAlive, signal] of /** @type {const} */ ([
      [true, 'SIGKILL'],
      [false, 'SIGKILL'],
      [true, 'SIGSTOP'],
    ])) {
      const { address, pid, stop } = await startProxyCommand(program, place);
      let killed = false;
      const result = await runList(
        {
          tests: ['GET'],
          route: ['proxied'],
          transport: ['tcp'],
          keepAlive: [keepAlive],
          requests: 100_000,
        },
        { addresses: { redis: both('redis'), proxy: address }, timeoutMs: 1000 },
        {
          onEvent: (event) => {
            if (killed || event.type !== 'progress' || event.phase !== 'measure') return;
            killed = true;
            process.kill(pid, signal);
          },
        },
      );
      if (signal === 'SIGSTOP') process.kill(pid, 'SIGCONT');
      await stop();
      assertAccounts(result);
      const [benchmark] = result.benchmarks;
      const [{ outcomes, samples, metrics = {} }] = benchmark.rounds;
      assert.ok(killed && outcomes.ok > 0, JSON.stringify(outcomes));
      assert.ok(outcomes.error + outcomes.timeout > 0, JSON.stringify(outcomes));
      assert.ok(outcomes.unsent > 0, 'a thousand failures in a row end it');
      assert.ok(samples.every(({ code }) => code !== 'REFUSED'));
      assert.equal(metrics['refusal'], undefined);
      assert.equal(statusAfter(result), 4, 'a lost server');
      assert.deepEqual(await ownKeys(), []);
    }
  });

  /** @returns {Record<string, string>} */
  const env = () => ({ DRAGSTRIP_REDIS: both('redis'), DRAGSTRIP_PROXY: both('nutcracker') });

  test('the command removes its keys on SIGINT, and reports the figures until then', async () => {
    const words = ['bin/dragstrip.js', 'commands', '--tests', 'SET,GET', '--tool', 'none'];
    const size = ['--requests', '200000', '--clients', '4', '--warmup', '50'];
    const { child, ended } = startCommand(folder(), [...words, ...size, '--keep-alive', 'on'], {
      env: env(),
    });
    for (let seen = 0; seen < 20; ) {
      seen = (await ownKeys()).length;
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
    child.kill('SIGINT');
    const { status, stdout, stderr } = await ended;
    assert.equal(status, 130, stderr);
    assert.match(stdout, /^Dragstrip .*: commands\n/);
    assert.deepEqual(await ownKeys(), []);
  });

  /** @returns {string[]} pids of redis-benchmark on the server of these tests */
  function benchmarksRunning() {
    const { path: socket } = servers.address('redis').unix;
    return readdirSync('/proc').filter((pid) => {
      if (!/^\d+$/.test(pid)) return false;
      try {
        const words = readFileSync(`/proc/${pid}/cmdline`, 'latin1');
        return words.includes('redis-benchmark\0-s') && words.includes(String(socket));
      } catch {
        return false; // it ended meanwhile
      }
    });
  }

  test('a signal while redis-benchmark runs ends it as well', async () => {
    const words = ['bin/dragstrip.js', 'commands', '--tests', 'LRANGE_600', '--keep-alive', 'on'];
    const way = [
      '--route',
      'direct',
      '--transport',
      'unix',
      '--requests',
      '3000',
      '--warmup',
      '10',
    ];
    symlinkSync(path.join(PACKAGES_HOME, 'packages'), path.join(servers.home(), 'packages'));
    const { child, ended } = startCommand(folder(), [...words, ...way], {
      env: { ...env(), DRAGSTRIP_HOME: servers.home() },
    });
    await eventually(() => benchmarksRunning().length > 0, 'redis-benchmark runs', 40_000);
    child.kill('SIGINT');
    const { status, stderr } = await ended;
    assert.equal(status, 130, stderr);
    await eventually(() => benchmarksRunning().length === 0, 'redis-benchmark has ended', 3000);
    assert.deepEqual(await ownKeys(), []);
  });

  test('a key that Dragstrip did not create is refused with status 3, and stays', async () => {
    await redis().set(`${PREFIX}set`, 'a stranger’s');
    const words = [
      'bin/dragstrip.js',
      'commands',
      '--tests',
      'SET',
      '--route',
      'direct',
      '--quiet',
    ];
    const ended = await callIn(folder(), words, { env: env() });
    assertFailure(ended, 3, /not created by Dragstrip; nothing was changed/);
    assert.deepEqual(await ownKeys(), [`${PREFIX}set`]);
    await redis().del(`${PREFIX}set`);
  });

  const VALKEY = ['bin/dragstrip.js', 'commands', '--tool', 'valkey', '-t', 'get', '-k', '1'];
  const ONCE = [
    '-n',
    '600',
    '-c',
    '5',
    '--warmup',
    '5',
    '--route',
    'direct',
    '--transport',
    'unix',
  ];

  /** @param {string} bin before PATH */
  const withPath = (bin) => ({
    ...env(),
    DRAGSTRIP_HOME: servers.home(),
    PATH: `${bin}:${path.dirname(process.execPath)}:/usr/bin`,
  });

  test('--tool valkey runs the program of that name, under its name and version', async (t) => {
    // No valkey-benchmark: the redis-benchmark of these tests under its name. It shows that the
    // program is found by name, run and named in the output; not what Valkey's own measures.
    const { program, libraries } = /** @type {any} */ (programOf(process.env));
    const bin = withFolder(t);
    const script = `#!/bin/sh\nLD_LIBRARY_PATH='${libraries ?? ''}' exec '${program}' "$@"\n`;
    writeFileSync(path.join(bin, 'valkey-benchmark'), script, { mode: 0o755 });
    const ended = await callIn(folder(), [...VALKEY, ...ONCE, '-q'], { env: withPath(bin) });
    assert.equal(ended.status, 0, ended.stderr);
    assert.match(ended.stdout, /^valkey-benchmark \d\S*, direct unix, keep-alive on\nGET: \d/m);
    const table = await callIn(folder(), [...VALKEY, ...ONCE, '--quiet'], {
      env: withPath(bin),
    });
    assert.match(table.stdout, /^ *valkey-benchmark, connections kept: requests\/s/m);
    assert.match(table.stdout.replace(/\s+/g, ' '), /redis-benchmark, here valkey-benchmark \d/);
  });

  test('the valkey-benchmark of a distribution, where it is installed', async (t) => {
    const found = (process.env['PATH'] ?? '')
      .split(':')
      .find((one) => existsSync(path.join(one, 'valkey-benchmark')));
    if (found === undefined) return t.skip('valkey-benchmark is not on PATH');
    const ended = await callIn(folder(), [...VALKEY, ...ONCE, '--redis-csv'], {
      env: withPath(found),
    });
    assert.equal(ended.status, 0, ended.stderr);
    assert.match(ended.stdout, /^"GET","\d+\.\d\d",.*"valkey-benchmark \d\S*","direct unix","1"$/m);
  });

  test('without valkey-benchmark the report states it, with a hint', async () => {
    const ended = await callIn(folder(), [...VALKEY, ...ONCE, '--quiet'], {
      env: { ...env(), PATH: path.dirname(process.execPath) },
    });
    assert.equal(ended.status, 0, ended.stderr);
    assert.match(
      ended.stdout,
      /valkey-benchmark is skipped: it is not installed\n +→ run `npx dragstrip servers fetch valkey`/,
    );
  });

  test('without redis-benchmark its column has the reason and a hint', async () => {
    const words = [
      'bin/dragstrip.js',
      'commands',
      '--tests',
      'GET',
      '--route',
      'direct',
      '--quiet',
    ];
    const small = ['--requests', '60', '--clients', '5', '--warmup', '5', '--transport', 'unix'];
    const ended = await callIn(folder(), [...words, ...small, '--svg', 'plots'], {
      env: { ...env(), PATH: path.dirname(process.execPath) },
    });
    assert.equal(ended.status, 0, ended.stderr);
    assert.match(
      ended.stdout,
      /redis-benchmark is skipped: it is not installed\n +→ run `npx dragstrip serv/,
    );
    assert.deepEqual(readdirSync(path.join(folder(), 'plots')).sort(), [
      ...['commands-ioredis-kept.svg', 'commands-ioredis-own.svg'],
    ]);
  });
});
