/** A real Cassandra: operations executed by its own count, against those of its driver. */
// Needs: cassandra

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { openCounter } from '../../data/counts/index.js';
import { connectCassandra } from '../../lib/cassandra.js';
import { isAlive } from '../../lib/process-identity.js';
import { prepareCassandra } from '../helpers/cassandra.js';
import { eventually } from '../helpers/command-line.js';
import { rememberProcess } from '../helpers/restart.js';
import { withServers } from '../helpers/servers.js';

/** @typedef {import('cassandra-driver').Client} Client */

const skip = await prepareCassandra();
const TABLE = 'dragstrip_counts.numbers';
const INSERT = `insert into ${TABLE} (a, b) values (?, ?)`;
const BOUNDED = { connectTimeout: 5000, readTimeout: 60_000 };
const PREPARED = { prepare: true };
const ROWS = 300;
/** Without it every user may do all. */
const CHECKED = { authorizer: 'CassandraAuthorizer', permissions_validity: '0ms' };
const START_MS_MAX = 120_000;
const rows = Array.from({ length: ROWS }, (_, a) => [a, 2 * a]);
/** A batch of all rows. */
const queries = rows.map((params) => ({ query: INSERT, params }));

/** How many requests each way sends. @type {Record<string, [number, (client: Client) => any]>} */
const WAYS = {
  'prepared inserts': [
    ROWS,
    (client) => Promise.all(rows.map((row) => client.execute(INSERT, row, PREPARED))),
  ],
  'inserts as text': [
    ROWS,
    (client) =>
      Promise.all(
        rows.map(([a, b]) => client.execute(`insert into ${TABLE} (a, b) values (${a}, ${b})`)),
      ),
  ],
  'an unlogged batch': [1, (client) => client.batch(queries, { prepare: true, logged: false })],
  'a logged batch': [1, (client) => client.batch(queries, { prepare: true, logged: true })],
  'reads of a row': [
    ROWS,
    (client) =>
      Promise.all(
        rows.map(([a]) => client.execute(`select b from ${TABLE} where a = ?`, [a], PREPARED)),
      ),
  ],
  'a scan': [1, (client) => client.execute(`select * from ${TABLE}`)],
  'a lightweight transaction': [
    1,
    (client) => client.execute(`${INSERT} if not exists`, [-1, 0], PREPARED),
  ],
  'a connection': [0, () => {}],
};

describe('counts of Cassandra', { skip }, () => {
  if (skip !== false) return;
  /** @type {number | null} process id of the server that the last test has restarted */
  let restarted = null;
  after(() => {
    if (restarted !== null) process.kill(restarted, 'SIGKILL'); // before its folder is removed
  });
  const servers = withServers(['cassandra']);
  const contextOf = () => ({
    address: servers.address('cassandra'),
    credentials: servers.credentials('cassandra'),
  });
  const connect = (credentials = servers.credentials('cassandra')) =>
    connectCassandra(servers.address('cassandra').main, credentials, BOUNDED);
  const open = async (context = contextOf()) => {
    const counter = await openCounter('cassandra', context);
    assert.ok(counter);
    return counter;
  };

  test('each request is one operation, including a batch', async () => {
    const owner = await connect();
    const replication = "{'class': 'SimpleStrategy', 'replication_factor': 1}";
    await owner.execute(`create keyspace dragstrip_counts with replication = ${replication}`);
    await owner.execute(`create table ${TABLE} (a int primary key, b int)`);
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
      await owner.shutdown();
    }
  });

  test('each process has its identity; the reason names a missing permission', {
    timeout: 2 * START_MS_MAX,
  }, async () => {
    const first = await open();
    const { identity } = await first.read();
    const running = servers.running('cassandra');
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
    const credentials = { user: 'few', password: 'few' };
    await assert.rejects(open({ ...contextOf(), credentials }), {
      code: 'E_TARGET',
      message: /few has no SELECT permission on <table system_views\.coordinator_/,
    });
    await owner.execute('grant select on keyspace system_views to few');
    await owner.shutdown();
    const counter = await open({ ...contextOf(), credentials });
    counter.close();
  });
});
