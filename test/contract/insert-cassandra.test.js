/**
 * A real Cassandra, started once: fetched, started, asked and stopped by name; every strategy of
 * `dragstrip insert` leaves all rows, each once; what loses or repeats one is caught, though an
 * INSERT there overwrites without a word; answers what the fixtures of CQL store; killed with its
 * owner.
 */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { fixtureBytes } from '../../codecs/archive.js';
import { FIXTURES } from '../../codecs/fixtures.js';
import { formatEndpoint } from '../../lib/address.js';
import { namesOf } from '../../lib/namespace.js';
import { isAlive } from '../../lib/process-identity.js';
import { fetchServers, loadServer, startServers, stopServers } from '../../servers/index.js';
import { storage } from '../../storages/cassandra.js';
import { namespace } from '../../workloads/insert/namespace.js';
import { whyNoCassandra } from '../helpers/cassandra.js';
import { recordCassandra } from '../helpers/codec-recorder-cql.js';
import { runCommand, startCommand } from '../helpers/command-line.js';
import {
  assertAllFailed,
  assertAllRight,
  insertBy,
  ROWS,
  writeBroken,
} from '../helpers/insert-cases.js';
import { listeningPlaces } from '../helpers/listening.js';
import { claimOn } from '../helpers/namespaces.js';
import { addressOf, credentialsOf, loginOf, makeHome, PACKAGES_HOME } from '../helpers/servers.js';

const STARTER = fileURLToPath(new URL('../helpers/start-servers.js', import.meta.url));
const INSERT_PLACES = namesOf(namespace);
const { keyspace, cassandraTable } = INSERT_PLACES;
const SMALL = ['--rows', '600', '--rounds', '1', '--warmup', '2'];
/** Batches first: the server's Java is warm for the single rows then. */
const IN_ORDER = ['batch_pure', 'unlogged_batch', 'batch_pure2', 'logged_batch'];
const START_TIMEOUT_MS = 300_000;

/** The storage with something wrong in one of its ways. */
const BROKEN = {
  'loses-one': {
    strategy: 'unlogged_batch',
    change: `({ batch }) => ({ batch: { ...batch, send: (queries, worker) => batch.send(
      queries.filter(({ params }) => params[0] !== 17), worker).then((n) =>
        queries.length > n ? n + 1 : n) } })`,
    message: /of 600, 599 are right, 1 lost, .* 599 written by the server's own count/,
  },
  'repeats-in-batch': {
    strategy: 'unlogged_batch',
    change: `({ batch }) => ({ batch: { ...batch, send: (queries, worker) => batch.send(
      queries[0].params[0] === 1 ? [...queries, queries[0]] : queries, worker) } })`,
    message: /600 are right, 0 lost, 1 inserted twice, .* 601 were acknowledged/,
  },
  'repeats-in-another': {
    strategy: 'async',
    change: `({ single }) => ({ single: { ...single, send: async (row, worker) => {
      if (row[0] === 17) await single.send(row, worker);
      return single.send(row, worker);
    } } })`,
    message: /600 are right, 0 lost, 1 inserted twice, .* 601 written by the server's own count/,
  },
};

describe('Cassandra', { skip: await whyNoCassandra() }, () => {
  let home = '';
  let folder = '';
  /** @type {import('../../lib/types.js').RunningServer} */
  let running;
  /** @type {import('cassandra-driver').Client} */
  let cql;

  before(
    async () => {
      home = await makeHome();
      folder = await mkdtemp(path.join(tmpdir(), 'dragstrip-cassandra-'));
      await fetchServers(['cassandra'], { home: PACKAGES_HOME });
      const started = await startServers(['cassandra'], { home, packagesHome: PACKAGES_HOME });
      if (started.failures.length > 0) throw started.failures[0].error;
      [running] = started.servers;
      const { Client } = await import('cassandra-driver');
      const contactPoints = [formatEndpoint(addressOf(running).main)];
      cql = new Client({
        contactPoints,
        localDataCenter: 'datacenter1',
        credentials: loginOf(running),
      });
      await cql.connect();
    },
    { timeout: START_TIMEOUT_MS },
  );
  after(async () => {
    await cql?.shutdown();
    await stopServers(['cassandra'], { home });
    for (const one of [home, folder]) await rm(one, { recursive: true, force: true });
  });

  const address = () => addressOf(running);

  async function keyspaces() {
    const { rows } = await cql.execute('select keyspace_name as name from system_schema.keyspaces');
    return rows.map(({ name }) => name).filter((name) => !name.startsWith('system'));
  }

  test('answers with its version and what decides when a row is safe', async () => {
    const { probe } = await loadServer('cassandra');
    const report = await probe(address(), credentialsOf(running));
    assert.match(report.version, /^5\.0\.\d+/);
    assert.equal(report.pid, running.pid);
    assert.equal(report.settings['commitlog_sync'], 'periodic');
    const line = readFileSync(`/proc/${running.pid}/cmdline`, 'latin1');
    assert.match(line, /-Xmx256m/);
  });

  test('nobody enters without its secret, nor as its first superuser', async () => {
    const { probe } = await loadServer('cassandra');
    for (const [user, password] of [
      ['cassandra', 'cassandra'],
      ['dragstrip', 'dragstrip'],
    ]) {
      await assert.rejects(probe(address(), { user, password }), { code: 'E_TARGET' });
    }
    await assert.rejects(probe(address(), {}), { code: 'E_TARGET' });
    const { rows } = await cql.execute('select role, can_login from system_auth.roles');
    const roles = Object.fromEntries(rows.map((row) => [row['role'], row['can_login']]));
    assert.deepEqual(roles, { cassandra: false, dragstrip: true });
  });

  test('listens on loopback alone, in a folder of its own', () => {
    const places = listeningPlaces(running.pid);
    assert.equal(places.length, 2, 'for clients, and between nodes');
    for (const place of places) assert.match(place, /0100007F:/);
    assert.ok(running.folder.startsWith(home));
    const trace = path.join(tmpdir(), `hsperfdata_${userInfo().username}`, String(running.pid));
    assert.ok(!existsSync(trace), 'Java leaves nothing in the folder of temporary files');
  });

  test('every strategy leaves 5,000 right rows, each written once', async () => {
    const names = Object.keys(storage.inserts ?? {});
    const release = await claimOn(
      [{ name: 'cassandra', address: address(), credentials: credentialsOf(running) }],
      namespace,
    );
    const order = [...IN_ORDER, ...names.filter((name) => !IN_ORDER.includes(name))];
    assert.equal(names.length, 7);
    try {
      for (const name of order) {
        const record = await insertBy('cassandra', name, {
          address: address(),
          credentials: running.credentials,
          folder,
        });
        assertAllRight(record, name);
        assert.equal(record.metrics['written']?.value, ROWS, `${name}: the server's own count`);
      }
      const table = `${keyspace}.${cassandraTable}`;
      const { rows } = await cql.execute(`select count(*) as n from ${table}`);
      assert.equal(Number(rows[0]['n']), ROWS);
    } finally {
      await release();
    }
    assert.deepEqual(await keyspaces(), []);
  });

  const env = () => ({ DRAGSTRIP_CASSANDRA: formatEndpoint(address().main), DRAGSTRIP_HOME: home });
  /** @param {string[]} words */
  const insert = (...words) =>
    runCommand(folder, ['bin/dragstrip.js', 'insert', ...words], { env: env() });

  test('a strategy that loses or repeats a row fails its round, the run with 5', async () => {
    const files = writeBroken('cassandra', BROKEN, folder);
    assertAllFailed(await insert('--storages', files.join(','), ...SMALL), BROKEN);
    assert.deepEqual(await keyspaces(), []);
  });

  test('SIGINT leaves no keyspace; a run shows the original program’s lines and settings', async () => {
    const words = ['insert', '--storages', 'cassandra', '--strategies'];
    const { child, ended } = startCommand(
      folder,
      ['bin/dragstrip.js', ...words, 'async', '--rows', '1000000'],
      { env: env() },
    );
    while (!(await keyspaces()).includes(keyspace)) await sleep(50);
    await sleep(500);
    child.kill('SIGINT');
    const { status, stderr } = await ended;
    assert.equal(status, 130, stderr);
    assert.deepEqual(await keyspaces(), []);
    const { stdout } = await insert(...words.slice(1), 'batch_pure2', ...SMALL);
    assert.match(stdout, /^cassandra_batch_pure2 600 inserts: \d+\.\d{6} seconds/m);
    assert.match(stdout, /durability: commitlog_sync periodic, commitlog_sync_period 10000ms/);
  });

  test('a keyspace that Dragstrip did not create is refused and not changed', async () => {
    const replication = "{'class': 'SimpleStrategy', 'replication_factor': 1}";
    await cql.execute(`create keyspace ${keyspace} with replication = ${replication}`);
    await cql.execute(`create table ${keyspace}.theirs (x int primary key)`);
    const { status, stderr } = await insert('--storages', 'cassandra', ...SMALL);
    assert.equal(status, 3, stderr);
    assert.match(stderr, /was not created by Dragstrip; nothing was changed/);
    await cql.execute(`insert into ${keyspace}.theirs (x) values (1)`);
    await cql.execute(`drop keyspace ${keyspace}`);
  });

  test('answers what the fixtures of CQL store', async () => {
    const recorded = await recordCassandra(address().main, credentialsOf(running));
    assert.ok(recorded.size >= 5);
    for (const fixture of FIXTURES.filter((one) => one.protocol === 'cql' && !one.single)) {
      const same = recorded.get(fixture.name)?.equals(fixtureBytes(fixture));
      assert.ok(same, `${fixture.name}: run test/helpers/record-codec-fixtures.js cassandra`);
    }
  });

  test('one that is starting dies with its owner', async () => {
    const other = await makeHome();
    symlinkSync(path.join(PACKAGES_HOME, 'packages'), path.join(other, 'packages'));
    const owner = spawn(process.execPath, [STARTER, other, 'owned', 'cassandra'], {
      stdio: 'ignore',
    });
    const record = await firstRecord(other);
    assert.ok(isAlive(record));
    owner.kill('SIGKILL');
    for (let i = 0; i < 200 && isAlive(record); i += 1) await sleep(20);
    assert.ok(!isAlive(record));
    await rm(other, { recursive: true, force: true });
  });

  /** @param {string} other */
  async function firstRecord(other) {
    for (let i = 0; i < 600; i += 1) {
      const servers = path.join(other, 'servers');
      const leaves = existsSync(servers) ? readdirSync(servers) : [];
      for (const leaf of leaves) {
        const file = path.join(servers, leaf, 'server.json');
        if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8'));
      }
      await sleep(20);
    }
    return assert.fail('it was not started');
  }

  test('status and stop know it by name', async () => {
    const words = ['bin/dragstrip.js', 'servers'];
    const here = { env: { DRAGSTRIP_HOME: home } };
    const { stdout } = await runCommand(folder, [...words, 'status', 'cassandra'], here);
    assert.match(
      stdout,
      new RegExp(`^cassandra running: 5\\.0\\.\\d+, pid ${running.pid}, main 127`),
    );
    const stopped = await runCommand(folder, [...words, 'stop', 'cassandra'], here);
    assert.match(stopped.stdout, /cassandra stopped: ended/);
    assert.ok(!isAlive(running));
  });
});
