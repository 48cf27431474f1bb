/**
 * A real Cassandra, started once: its version, secrets and addresses; every strategy of
 * `dragstrip insert` leaves all rows, each once; a lost or repeated one is caught, though an INSERT
 * there overwrites without a word; it sends the replies of the CQL fixtures; its own count of
 * operations equals that of its driver; it is restarted, then suspended and killed while rows are
 * inserted. By name: test/fault/disk-full-servers.test.js.
 */
// Needs: cassandra

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { statusOf } from '../../cli/status.js';
import { fixtureBytes } from '../../codecs/archive.js';
import { FIXTURES } from '../../codecs/fixtures.js';
import { openCounter } from '../../data/counts/index.js';
import { LOST } from '../../engine/lost-servers.js';
import { run } from '../../index.js';
import { formatEndpoint } from '../../lib/address.js';
import { connectCassandra } from '../../lib/cassandra.js';
import { namesOf } from '../../lib/namespace.js';
import { OUTCOMES } from '../../lib/outcome.js';
import { isAlive } from '../../lib/process-identity.js';
import { loadServer } from '../../servers/index.js';
import { storage } from '../../storages/cassandra.js';
import { namespace } from '../../workloads/insert/namespace.js';
import { prepareCassandra } from '../helpers/cassandra.js';
import { recordCassandra } from '../helpers/codec-recorder-cql.js';
import { callIn, eventually, isRunning, startCommand } from '../helpers/command-line.js';
import { withFolder } from '../helpers/folder.js';
import {
  assertAllFailed,
  assertAllRight,
  insertBy,
  ROWS,
  writeBroken,
} from '../helpers/insert-cases.js';
import { listeningPlaces } from '../helpers/listening.js';
import { claimOn } from '../helpers/namespaces.js';
import { rememberProcess } from '../helpers/restart.js';
import { makeHome, PACKAGES_HOME, withServers } from '../helpers/servers.js';

const STARTER = fileURLToPath(new URL('../helpers/start-servers.js', import.meta.url));
const INSERT_PLACES = namesOf(namespace);
const { keyspace, cassandraTable } = INSERT_PLACES;
const SMALL = ['--rows', '600', '--rounds', '1', '--warmup', '2'];

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

const TABLE = 'dragstrip_counts.numbers';
const INSERT = `insert into ${TABLE} (a, b) values (?, ?)`;
const BOUNDED = { connectTimeout: 5000, readTimeout: 60_000 };
const PREPARED = { prepare: true };
const REPLICATION = "{'class': 'SimpleStrategy', 'replication_factor': 1}";
/** Without it every user may do all. */
const CHECKED = { authorizer: 'CassandraAuthorizer', permissions_validity: '0ms' };
const START_MS_MAX = 120_000;
const COUNTED = 300;
const counted = Array.from({ length: COUNTED }, (_, a) => [a, 2 * a]);
/** A batch of all rows. */
const queries = counted.map((params) => ({ query: INSERT, params }));

/** @typedef {import('cassandra-driver').Client} Client */

/** How many requests each way sends. @type {Record<string, [number, (client: Client) => any]>} */
const WAYS = {
  'prepared inserts': [
    COUNTED,
    (client) => Promise.all(counted.map((row) => client.execute(INSERT, row, PREPARED))),
  ],
  'inserts as text': [
    COUNTED,
    (client) =>
      Promise.all(
        counted.map(([a, b]) => client.execute(`insert into ${TABLE} (a, b) values (${a}, ${b})`)),
      ),
  ],
  'an unlogged batch': [1, (client) => client.batch(queries, { prepare: true, logged: false })],
  'a logged batch': [1, (client) => client.batch(queries, { prepare: true, logged: true })],
  'reads of a row': [
    COUNTED,
    (client) =>
      Promise.all(
        counted.map(([a]) => client.execute(`select b from ${TABLE} where a = ?`, [a], PREPARED)),
      ),
  ],
  'a scan': [1, (client) => client.execute(`select * from ${TABLE}`)],
  'a lightweight transaction': [
    1,
    (client) => client.execute(`${INSERT} if not exists`, [-1, 0], PREPARED),
  ],
  'a connection': [0, () => {}],
};

describe('Cassandra', { skip: await prepareCassandra() }, () => {
  const servers = withServers(['cassandra']);
  const folder = withFolder();
  /** @type {import('../../lib/types.js').RunningServer} */
  let running;
  /** @type {Client} */
  let cql;
  /** @type {number | null} process id of the restarted server */
  let restarted = null;

  before(async () => {
    running = servers.running('cassandra');
    const { Client } = await import('cassandra-driver');
    const contactPoints = [formatEndpoint(address().main)];
    const credentials = servers.login('cassandra');
    cql = new Client({ contactPoints, localDataCenter: 'datacenter1', credentials });
    await cql.connect();
  });
  after(async () => {
    await cql?.shutdown();
    // Before its folder is removed.
    if (restarted !== null && isRunning(restarted)) process.kill(restarted, 'SIGKILL');
  });

  const address = () => servers.address('cassandra');
  const credentials = () => servers.credentials('cassandra');

  async function keyspaces() {
    const { rows } = await cql.execute('select keyspace_name as name from system_schema.keyspaces');
    return rows.map(({ name }) => name).filter((name) => !name.startsWith('system'));
  }

  test('reports its version and the settings that decide when a row is durable', async () => {
    const { probe } = await loadServer('cassandra');
    const report = await probe(address(), credentials());
    assert.match(report.version, /^5\.0\.\d+/);
    assert.equal(report.pid, running.pid);
    assert.equal(report.settings['commitlog_sync'], 'periodic');
    const line = readFileSync(`/proc/${running.pid}/cmdline`, 'latin1');
    assert.match(line, /-Xmx256m/);
  });

  test('nobody can log in without its secret, nor as its first superuser', async () => {
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
    assert.ok(running.folder.startsWith(servers.home()));
    const trace = path.join(tmpdir(), `hsperfdata_${userInfo().username}`, String(running.pid));
    assert.ok(!existsSync(trace), 'Java leaves nothing in the folder of temporary files');
  });

  test('every strategy leaves all rows correct, each written once', async () => {
    const names = Object.keys(storage.inserts ?? {});
    const release = await claimOn(
      [{ name: 'cassandra', address: address(), credentials: credentials() }],
      namespace,
    );
    assert.equal(names.length, 8);
    try {
      for (const name of names) {
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
    const left = readdirSync(running.folder, { recursive: true, encoding: 'utf8' });
    assert.deepEqual(
      left.filter((name) => name.includes('snapshots')),
      [],
      'no copy of the dropped rows',
    );
  });

  const env = () => ({
    DRAGSTRIP_CASSANDRA: formatEndpoint(address().main),
    DRAGSTRIP_HOME: servers.home(),
  });
  /** @param {string[]} words */
  const insert = (...words) =>
    callIn(folder, ['bin/dragstrip.js', 'insert', ...words], { env: env() });

  test('a strategy that loses or repeats a row fails its round, the run with 5', async () => {
    const files = writeBroken('cassandra', BROKEN, folder);
    assertAllFailed(await insert('--storages', files.join(','), ...SMALL), BROKEN);
    assert.deepEqual(await keyspaces(), []);
  });

  test('SIGINT leaves no keyspace; a run shows the original program’s lines and settings', async () => {
    const words = ['insert', '--storages', 'cassandra', '--strategies'];
    const { child, ended } = startCommand(
      folder,
      ['bin/dragstrip.js', ...words, 'async', '--rows', '200000'],
      { env: env() },
    );
    const first = `select * from ${keyspace}.${cassandraTable} limit 1`;
    const isInserting = () =>
      cql.execute(first).then(
        ({ rows }) => rows.length > 0,
        () => false,
      );
    await eventually(isInserting, 'its first row', 60_000);
    child.kill('SIGINT');
    const { status, stderr } = await ended;
    assert.equal(status, 130, stderr);
    assert.deepEqual(await keyspaces(), []);
    const { stdout } = await insert(...words.slice(1), 'batch_pure2', ...SMALL);
    assert.match(stdout, /^cassandra_batch_pure2 600 inserts: \d+\.\d{6} seconds/m);
    assert.match(stdout, /durability: commitlog_sync periodic, commitlog_sync_period 10000ms/);
  });

  test('a keyspace that Dragstrip did not create is refused and not changed', async () => {
    await cql.execute(`create keyspace ${keyspace} with replication = ${REPLICATION}`);
    await cql.execute(`create table ${keyspace}.theirs (x int primary key)`);
    const { status, stderr } = await insert('--storages', 'cassandra', ...SMALL);
    assert.equal(status, 3, stderr);
    assert.match(stderr, /was not created by Dragstrip; nothing was changed/);
    await cql.execute(`insert into ${keyspace}.theirs (x) values (1)`);
    await cql.execute(`drop keyspace ${keyspace}`);
  });

  test('sends the replies of the CQL fixtures', async () => {
    const recorded = await recordCassandra(address().main, credentials());
    assert.ok(recorded.size >= 5);
    for (const fixture of FIXTURES.filter((one) => one.protocol === 'cql' && !one.single)) {
      const same = recorded.get(fixture.name)?.equals(fixtureBytes(fixture));
      assert.ok(same, `${fixture.name}: run test/helpers/record-codec-fixtures.js cassandra`);
    }
  });

  test('a starting server ends with its owner', async () => {
    const other = await makeHome();
    symlinkSync(path.join(PACKAGES_HOME, 'packages'), path.join(other, 'packages'));
    const owner = spawn(process.execPath, [STARTER, other, 'owned', 'cassandra'], {
      stdio: 'ignore',
    });
    const record = await eventually(() => firstRecord(other), 'it was started');
    assert.ok(isAlive(record));
    owner.kill('SIGKILL');
    await eventually(() => !isAlive(record), 'it ends');
    await rm(other, { recursive: true, force: true });
  });

  /** @param {string} other */
  function firstRecord(other) {
    const all = path.join(other, 'servers');
    const leaves = existsSync(all) ? readdirSync(all) : [];
    const files = leaves.map((leaf) => path.join(all, leaf, 'server.json'));
    const file = files.find((one) => existsSync(one));
    return file && JSON.parse(readFileSync(file, 'utf8'));
  }

  const connect = (login = credentials()) => connectCassandra(address().main, login, BOUNDED);
  const open = async (login = credentials()) => {
    const counter = await openCounter('cassandra', { address: address(), credentials: login });
    assert.ok(counter);
    return counter;
  };

  test('each request is one counted operation, including a batch', async () => {
    await cql.execute(`create keyspace dragstrip_counts with replication = ${REPLICATION}`);
    await cql.execute(`create table ${TABLE} (a int primary key, b int)`);
    const counter = await open();
    try {
      for (const [name, [expected, work]] of Object.entries(WAYS)) {
        const start = await counter.read();
        const client = await connect();
        await work(client);
        await client.shutdown();
        const end = await counter.read();
        assert.equal(Number(end.operations) - Number(start.operations), expected, name);
        assert.equal(end.identity, start.identity);
        assert.equal(end.errors, null);
      }
    } finally {
      counter.close();
    }
  });

  test('each process has its identity; the reason names a missing permission', {
    timeout: 2 * START_MS_MAX,
  }, async () => {
    await cql.shutdown(); // else it tries to connect for ever
    const first = await open();
    const { identity } = await first.read();
    const again = rememberProcess(running.pid);
    process.kill(running.pid, 'SIGTERM'); // killed, it may forget the role that it has for us
    await eventually(() => !isAlive(running), 'its end', START_MS_MAX);
    await assert.rejects(first.read(), { code: 'E_TARGET' });
    first.close();
    const file = path.join(running.folder, 'cassandra.yaml');
    const settings = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(file, JSON.stringify({ ...settings, ...CHECKED }));
    restarted = await again();
    const last = await eventually(() => open().catch(() => null), 'a count', START_MS_MAX);
    assert.notEqual((await last.read()).identity, identity);
    last.close();

    const owner = await connect();
    await owner.execute("create role few with password = 'few' and login = true");
    const few = { user: 'few', password: 'few' };
    await assert.rejects(open(few), {
      code: 'E_TARGET',
      message: /few has no SELECT permission on <table system_views\.coordinator_/,
    });
    await owner.execute('grant select on keyspace system_views to few');
    await owner.shutdown();
    const counter = await open(few);
    counter.close();
  });

  for (const [signal, why] of /** @type {const} */ ([
    ['SIGSTOP', /the server was lost: .*(does not reply|no reply)/],
    ['SIGKILL', /the server was lost: .*connection refused/],
  ])) {
    test(`${signal} while rows are inserted: failed with the reason, status 4`, async () => {
      const pid = Number(restarted);
      let isDone = false;
      const result = await run(
        /** @type {any} */ ({
          workload: 'insert',
          storages: ['cassandra'],
          strategies: ['async', 'unlogged_batch'],
          rows: 200_000,
          rounds: 1,
          warmup: 2,
          timeoutMs: 3000,
          home: servers.home(),
          addresses: { cassandra: formatEndpoint(address().main) },
        }),
        {
          onEvent(event) {
            if (isDone || event.type !== 'progress' || event.phase !== 'measure') return;
            if (event.settled === 0) return;
            isDone = true;
            process.kill(pid, signal);
          },
        },
      ).finally(() => signal === 'SIGSTOP' && process.kill(pid, 'SIGCONT'));
      assert.ok(isDone, 'the fault was injected');
      const details = JSON.stringify(result.benchmarks);
      assert.equal(statusOf(result), 4, details);
      const codes = result.warnings.map(({ code }) => code);
      assert.equal(codes.filter((code) => code === LOST).length, 1, details);
      assert.ok(codes.includes('ROWS_LEFT'), codes.join());
      for (const { state, reason, rounds } of result.benchmarks) {
        assert.equal(state, 'failed', details);
        assert.match(String(reason), why);
        const [{ outcomes, scheduled }] = rounds;
        assert.equal(
          OUTCOMES.reduce((sum, name) => sum + outcomes[name], 0),
          scheduled,
        );
      }
      assert.equal(result.benchmarks[1].rounds[0].scheduled, 0, 'not probed again');
    });
  }
});
