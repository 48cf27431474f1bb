/**
 * HAProxy like the other servers: fetched, before Redis on TCP and a unix socket, private, stopped;
 * and the command list through it, every reply right.
 */
// Needs: redis, nutcracker, haproxy

import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parseEndpoint } from '../../lib/address.js';
import { findListener } from '../../measure/listener.js';
import { fetchServers, loadServer, startServers, stopServers } from '../../servers/index.js';
import { readThrough } from '../../servers/proxied-read.js';
import { startProxyCommand } from '../../servers/proxy-command.js';
import { commandVariants } from '../../workloads/commands/plan.js';
import { TEST_NAMES } from '../../workloads/commands/tests.js';
import { callIn } from '../helpers/command-line.js';
import { runHere } from '../helpers/run-here.js';
import { addressOf, credentialsOf, makeHome, PACKAGES_HOME } from '../helpers/servers.js';

const REQUESTS = 20;

describe('HAProxy', () => {
  let home = '';
  /** @type {Record<string, import('../../lib/types.js').RunningServer>} */
  let running = {};

  before(
    async () => {
      home = await makeHome();
      await fetchServers(['redis', 'haproxy'], { home: PACKAGES_HOME });
      const { servers, failures } = await startServers(['haproxy', 'redis'], {
        home,
        packagesHome: PACKAGES_HOME,
      });
      assert.deepEqual(failures, []);
      running = Object.fromEntries(servers.map((server) => [server.name, server]));
    },
    { timeout: 180_000 },
  );

  after(async () => {
    await stopServers(['haproxy', 'redis'], { home });
    rmSync(home, { recursive: true, force: true });
  });

  test('forwards to Redis; both endpoints are its own, its file is private', async () => {
    const { haproxy, redis } = running;
    assert.match(haproxy.version, /^\d+\.\d+/);
    const address = addressOf(haproxy);
    const { probe } = await loadServer('haproxy');
    assert.equal((await probe(address, credentialsOf(haproxy))).pid, haproxy.pid);
    assert.equal(await findListener(address['main']), haproxy.pid);
    for (const name of ['main', 'unix']) {
      assert.ok((await readThrough(address[name], credentialsOf(haproxy))).reached, name);
    }
    const file = join(haproxy.folder, 'haproxy.cfg');
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const text = readFileSync(file, 'utf8');
    assert.match(
      text,
      new RegExp(`server redis 127\\.0\\.0\\.1:${addressOf(redis)['main'].port}$`, 'm'),
    );
    assert.ok(text.includes(`server redis ${addressOf(redis)['unix'].path}\n`), text);
    const binds = [...text.matchAll(/^ {2}bind (\S+)/gm)].map(([, where]) => where);
    assert.ok(
      binds.every((where) => /^(127\.0\.0\.1:|\/)/.test(where)),
      String(binds),
    );
    assert.doesNotMatch(text, new RegExp(String(credentialsOf(redis).password)));
  });

  test('is named if another proxy is expected', async () => {
    const { probe } = await loadServer('nutcracker');
    const { main } = addressOf(running['haproxy']);
    const { version } = await probe({ main }, credentialsOf(running['haproxy']));
    assert.equal(version, 'or another proxy (haproxy, unknown version)');
  });

  test('is started for a run by its name alone, and ended', async () => {
    const { pid, address, stop } = await startProxyCommand('haproxy', {
      home: PACKAGES_HOME,
      redis: addressOf(running['redis']),
      credentials: credentialsOf(running['redis']),
    });
    const [tcp, unix] = address.split(',');
    assert.notEqual(pid, running['haproxy'].pid);
    assert.match(tcp, /^127\.0\.0\.1:\d+$/);
    await stop();
    assert.equal(await findListener(parseEndpoint(tcp)), null);
    assert.ok(!existsSync(unix.slice('unix:'.length)));
  });

  test('a missing Redis is reported in one line', async () => {
    const other = await makeHome();
    try {
      const options = { home: other, packagesHome: PACKAGES_HOME };
      const { failures } = await startServers(['haproxy'], options);
      assert.match(failures[0].error.message, /^haproxy requires a Redis, and none is running$/);
    } finally {
      rmSync(other, { recursive: true, force: true });
    }
  });

  test('forwards every command, including inline ones, over TCP and the socket', async () => {
    symlinkSync(join(PACKAGES_HOME, 'packages'), join(home, 'packages'));
    const { status, stderr } = await callIn(
      home,
      [
        ...[
          'bin/dragstrip.js',
          'commands',
          '--setup',
          '--proxy-binary',
          'haproxy',
          '--route',
          'proxied',
        ],
        ...['--tests', 'PING_INLINE', '--requests', String(REQUESTS), '--in-flight', '8'],
        ...['--warmup', '5', '--rounds', '1', '--json', 'result.json', '--quiet'],
      ],
      { env: { DRAGSTRIP_HOME: home, DRAGSTRIP_REDIS: '' } },
    );
    assert.equal(status, 0, stderr);
    const few = JSON.parse(readFileSync(join(home, 'result.json'), 'utf8'));
    assert.equal(few.benchmarks.length, 4);
    for (const { id, rounds } of few.benchmarks) {
      const { benchmarkPerSecond: perSecond, benchmarkFailure: failure } = rounds[0].metrics;
      // So few requests may be over within the millisecond that it counts in.
      assert.ok(perSecond > 100 || /within a millisecond/.test(failure), `${id}: ${failure}`);
    }
    const route = /** @type {const} */ (['proxied']);
    const transport = /** @type {const} */ (['tcp', 'unix']);
    const list = { tests: TEST_NAMES, route, transport, keepAlive: [true, false], inFlight: 8 };
    const both = (/** @type {string} */ name) => Object.values(running[name].address).join(',');
    const all = await runHere({
      home,
      workload: 'commands',
      storages: ['ioredis'],
      variants: commandVariants({ ...list, requests: REQUESTS }),
      warmupOperations: 5,
      addresses: { redis: both('redis'), proxy: both('haproxy') },
    });
    assert.equal(all.benchmarks.length, 60);
    for (const { id, rounds } of [...few.benchmarks, ...all.benchmarks]) {
      assert.equal(rounds[0].outcomes.ok, REQUESTS, id);
      assert.equal(rounds[0].metrics.reached, REQUESTS, `${id}: what Redis has seen`);
    }
  });
});
