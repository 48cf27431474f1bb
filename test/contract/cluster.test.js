/** A Redis Cluster that Dragstrip starts: six processes as one server; and its clients over TLS. */
// Needs: redis-cluster

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { getLoader } from '../../data/loaders/index.js';
import { resolveAddress } from '../../engine/addresses.js';
import { run } from '../../index.js';
import { isAlive } from '../../lib/process-identity.js';
import { callRedis, fieldsOf } from '../../servers/cluster-call.js';
import { loadServer, startServers, statusServers, stopServers } from '../../servers/index.js';
import { runCommand } from '../helpers/command-line.js';
import { listeningPlaces } from '../helpers/listening.js';
import { addressOf, credentialsOf, makeHome, PACKAGES_HOME } from '../helpers/servers.js';

/** @typedef {import('../../lib/types.js').RunningServer} RunningServer */

const NAME = 'redis-cluster';
const CLIENTS = ['ioredis-cluster', 'redis-cluster', 'iovalkey-cluster', 'valkey-glide-cluster'];
const STARTER = fileURLToPath(new URL('../helpers/start-servers.js', import.meta.url));
const ROWS = { rows: 300, valueSize: 64 };

describe('redis-cluster', () => {
  let home = '';
  /** @type {RunningServer} */
  let running;

  before(
    async () => {
      home = await makeHome();
      running = await start();
    },
    { timeout: 180_000 },
  );

  after(async () => {
    await stopServers([NAME], { home });
    rmSync(home, { recursive: true, force: true });
  });

  async function start() {
    const options = { home, packagesHome: PACKAGES_HOME, tls: true };
    const { servers, failures } = await startServers([NAME], options);
    assert.deepEqual(failures, []);
    return servers[0];
  }

  /** @param {import('../../lib/types.js').Endpoint} node @param {...string} words */
  function call(node, ...words) {
    const messages = { title: NAME, hint: '', password: '' };
    return callRedis(node, credentialsOf(running), words, messages);
  }

  test('every node reports ok and knows three primaries with a replica each', async () => {
    const { tls, ...nodes } = addressOf(running);
    assert.ok(tls.tls);
    assert.deepEqual(Object.keys(nodes), ['main', 'node2', 'node3', 'node4', 'node5', 'node6']);
    for (const node of Object.values(nodes)) {
      const info = fieldsOf(await call(node, 'CLUSTER', 'INFO'));
      assert.equal(info['cluster_state'], 'ok');
      assert.equal(info['cluster_size'], '3');
      const slots = await call(node, 'CLUSTER', 'SLOTS');
      assert.deepEqual(
        slots.map((/** @type {any[]} */ range) => range.length),
        [4, 4, 4],
      );
    }
    const { probe, nodes: nodesOf } = await loadServer(NAME);
    const report = await probe(addressOf(running), credentialsOf(running));
    assert.match(report.version, /^\d+\.\d+/);
    assert.equal(report.settings['nodes'], '3 primaries, 3 replicas');
    assert.equal(report.settings['cluster-node-timeout'], '2000');
    assert.equal((await nodesOf?.(addressOf(running), credentialsOf(running)))?.length, 6);
  });

  test('all six listen on loopback alone, as a user without rights, no password in argv', () => {
    const { password } = credentialsOf(running);
    assert.equal(running.nodes?.length, 6);
    for (const { pid } of running.nodes ?? []) {
      const places = listeningPlaces(pid);
      assert.equal(places.length, 3, 'clients, clients over TLS, the other nodes');
      for (const place of places) assert.match(place, /^0100007F:/);
      assert.notEqual(statSync(`/proc/${pid}`).uid, 0);
      assert.ok(!readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(String(password)));
    }
    assert.equal(statSync(running.folder).mode & 0o777, 0o700);
    assert.equal(statSync(join(running.folder, 'node-1', 'redis.conf')).mode & 0o777, 0o600);
  });

  test('a second start, status and env treat it as one server', async () => {
    const again = await startServers([NAME], { home, packagesHome: PACKAGES_HOME });
    assert.deepEqual(again.reused, [NAME]);
    const all = await statusServers({ home });
    assert.equal(all.find(({ name }) => name === NAME)?.state, 'running');
    const { source, address } = await resolveAddress(NAME, { env: {}, home });
    assert.equal(source, 'dragstrip');
    assert.equal(Object.keys(address).length, 7);
    const args = ['bin/dragstrip.js', 'servers'];
    const env = { DRAGSTRIP_HOME: home };
    const status = await runCommand(home, [...args, 'status', NAME], { env });
    assert.match(status.stdout, /^redis-cluster running: \d+\.\S+, pids (\d+, ){5}\d+, main 127/);
    const shell = await runCommand(home, [...args, 'env', NAME], { env });
    assert.match(shell.stdout, /^export DRAGSTRIP_REDIS_CLUSTER=127\.0\.0\.1:\d+$/m);
    assert.match(shell.stdout, /^export DRAGSTRIP_REDIS_CLUSTER_PASSWORD_FILE=.*secrets/m);
    assert.ok(!shell.stdout.includes(String(credentialsOf(running).password)));
  });

  test('the address of one node suffices; each named client reads by it, also over TLS', async () => {
    const loader = await getLoader(NAME);
    const { createDataset } = await import('../../lib/dataset.js');
    const dataset = createDataset(ROWS);
    const { node5 } = addressOf(running);
    await loader.seed({ address: { main: node5 }, credentials: credentialsOf(running), dataset });
    const result = await run({
      ...ROWS,
      storages: CLIENTS,
      tls: 'both',
      home,
      load: 'sync',
      ops: 200,
      warmup: 10,
      rounds: 1,
    });
    const ran = result.benchmarks.map(({ storage, profile, rounds }) => {
      assert.equal(rounds[0].outcomes.ok, 200, `${storage}:${profile}`);
      return `${storage}:${profile}`;
    });
    assert.deepEqual(
      ran.sort(),
      CLIENTS.flatMap((name) => [`${name}:default`, `${name}:tls`]).sort(),
    );
    const [server] = result.servers;
    assert.equal(Object.keys(server.address).filter((name) => name !== 'tls').length, 6);
    assert.ok((result.benchmarks[0].rounds[0].server?.cpuNs ?? 0) > 0, 'CPU time of all nodes');
  });

  test('a single server instead of a cluster, and the reverse, are reported in one line each', async () => {
    const { probe } = await loadServer(NAME);
    await assert.rejects(probe({ main: { host: '127.0.0.1', port: 1 } }, {}), {
      code: 'E_TARGET',
      message: /^Redis Cluster at 127\.0\.0\.1:1: connection refused/,
      hint: /servers start redis-cluster.*--redis-cluster/,
    });
    await assert.rejects(probe(addressOf(running), { password: 'wrong' }), {
      code: 'E_TARGET',
      message: /WRONGPASS/,
      hint: /DRAGSTRIP_REDIS_CLUSTER_PASSWORD/,
    });
    const seed = (await getLoader('redis')).seed({
      address: { main: addressOf(running).main },
      credentials: credentialsOf(running),
      dataset: (await import('../../lib/dataset.js')).createDataset({ ...ROWS, rows: 9 }),
    });
    await assert.rejects(seed, {
      code: 'E_TARGET',
      message: /MOVED|CROSSSLOT/,
      hint: /--redis-cl/,
    });
  });

  test('stop ends all six, also where one was killed before', async () => {
    const { nodes = [] } = running;
    process.kill(nodes[5].pid, 'SIGKILL');
    const stopped = await stopServers([NAME], { home });
    assert.deepEqual(stopped, [{ name: NAME, state: 'ended' }]);
    assert.deepEqual(
      nodes.filter((node) => isAlive(node)),
      [],
    );
    assert.deepEqual(await stopServers([NAME], { home }), [{ name: NAME, state: 'none' }]);
  });

  for (const signal of /** @type {const} */ (['SIGINT', 'SIGKILL'])) {
    test(`its owner gets ${signal}: nothing is left running`, async () => {
      const folder = await makeHome();
      const args = [STARTER, folder, 'owned', NAME, 'wait'];
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
      try {
        const [line] = await once(child.stdout, 'data');
        const [{ nodes }] = JSON.parse(String(line));
        assert.equal(nodes.length, 6);
        child.kill(signal);
        await once(child, 'exit');
        for (let i = 0; i < 200 && nodes.some(isAlive); i += 1) await sleep(50);
        assert.deepEqual(nodes.filter(isAlive), []);
      } finally {
        child.kill('SIGKILL');
        rmSync(folder, { recursive: true, force: true });
      }
    });
  }
});
