/**
 * The HandlerSocket client while its server dies, stops, closes idle connections, requires a secret
 * or stops listening permanently.
 */
// Needs: mariadb

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startMariadb } from '../../../../test/helpers/handlersocket-server.js';
import { connect } from '../../index.js';
import { rejection } from '../fake-server.js';

const ROWS = 1000;
const TABLE = { database: 'hs_fault', table: 't', columns: ['v'] };
/** Minimum of the plugin, in seconds; it checks about every ten. */
const IDLE_TIMEOUT_S = 30;

/** @type {Awaited<ReturnType<typeof startMariadb>>} */
let server;
/** Never killed nor stopped: connections are idle for half a minute beside the other tests. */
/** @type {Awaited<ReturnType<typeof startMariadb>>} */
let other;
/** @type {ReturnType<typeof openIdle>} */
let idle;

/** @param {typeof server} where */
async function fill(where) {
  const sql = await where.sql();
  await sql.query('CREATE DATABASE hs_fault');
  await sql.query('USE hs_fault');
  await sql.query('CREATE TABLE hs_fault.t (id INT PRIMARY KEY, v INT NOT NULL) ENGINE=InnoDB');
  await sql.query(`INSERT INTO hs_fault.t SELECT seq, seq * 2 FROM seq_1_to_${ROWS}`);
  await sql.end();
}

before(async () => {
  const settings = {
    handlersocket_plain_secret: 'read me',
    handlersocket_plain_secret_wr: 'wr\x10te é',
    innodb_lock_wait_timeout: 1,
  };
  const idleSettings = { handlersocket_timeout: IDLE_TIMEOUT_S };
  const starts = [{ settings }, { sockets: true, settings: idleSettings }].map(startMariadb);
  [server, other] = await Promise.all(starts);
  await Promise.all([server, other].map(fill));
  idle = openIdle();
  idle.catch(() => {}); // fails its test
});

after(() => Promise.all([server?.stop(), other?.stop()]));

/** @param {object} [options] */
const open = (options) =>
  connect({
    port: server.read,
    writePort: server.write,
    secret: 'read me',
    writeSecret: 'wr\x10te é',
    offlineTimeoutMs: 30_000,
    ...options,
  });

test('a secret is required, a wrong one is refused, and each port has its own', async () => {
  const client = await open();
  const index = await client.openIndex({ ...TABLE, types: 'number' });
  assert.equal(await index.value(5), 10);
  assert.equal(await index.update('=', 5, [10]), 1);
  await client.close();
  for (const secrets of [
    { secret: 'guessed' },
    { secret: '' },
    { writeSecret: 'read me' },
    { secret: undefined, writeSecret: undefined },
  ]) {
    const error = await rejection(open(secrets));
    assert.deepEqual([error.code, error.serverCode], ['HS_AUTH', 3], JSON.stringify(secrets));
    assert.doesNotMatch(error.message, /guessed|read me/);
  }
});

test('finds continue after a kill and restart of the server, changes are reported as unknown', async () => {
  const client = await open();
  const index = await client.openIndex({ ...TABLE, types: 'number' });
  const inserting = await client.openIndex({ ...TABLE, columns: ['id', 'v'] });
  let next = 1;
  let wrong = 0;
  let stopped = false;
  const workers = Array.from({ length: 50 }, async () => {
    while (!stopped) {
      const id = 1 + (next++ % ROWS);
      if ((await index.value(id)) !== id * 2) wrong += 1;
    }
  });
  while (next < 5000) await sleep(1);
  // Stopped first, so that changes are certainly in flight when it is killed.
  await server.pause();
  const inserts = Array.from({ length: 20 }, (_, i) => inserting.insert([5000 + i, i]));
  const settled = Promise.allSettled(inserts);
  await sleep(50);
  await server.kill('SIGKILL');
  const results = await settled;
  for (const result of results) {
    const { code, outcomeUnknown } = /** @type {any} */ (result).reason;
    assert.deepEqual([code, outcomeUnknown], ['HS_CONNECTION_LOST', true]);
  }
  const before = next;
  await server.start();
  while (next < before + 5000) await sleep(1);
  stopped = true;
  await Promise.all(workers);
  assert.equal(wrong, 0);
  assert.equal(await inserting.insert([9000, 1]), undefined);
  assert.ok(client.counters().losses >= 2);
  await client.close();
});

test('a server that stops replying is disconnected after requestTimeoutMs', async () => {
  const client = await open({ requestTimeoutMs: 200, handshakeTimeoutMs: 200, connections: 1 });
  const index = await client.openIndex({ ...TABLE, types: 'number' });
  await server.pause();
  try {
    assert.equal((await rejection(index.value(1))).code, 'HS_REQUEST_TIMEOUT');
    const update = await rejection(index.update('=', 1, [2]));
    assert.deepEqual([update.code, update.outcomeUnknown], ['HS_REQUEST_TIMEOUT', true]);
    // The kernel still accepts connections for a stopped process.
    const error = await rejection(open({ handshakeTimeoutMs: 100 }));
    assert.equal(error.code, 'HS_HANDSHAKE_TIMEOUT');
  } finally {
    server.resume();
  }
  assert.equal(await index.value(1), 2);
  await client.close();
});

test('a row locked by SQL results in the engine’s lock wait timeout', async () => {
  const client = await open();
  const index = await client.openIndex({ ...TABLE, types: 'number' });
  const sql = await server.sql();
  await sql.query('START TRANSACTION');
  await sql.query('SELECT * FROM hs_fault.t WHERE id = 3 FOR UPDATE');
  const error = await rejection(index.update('=', 3, [1]));
  assert.deepEqual([error.code, error.errnoName], ['HS_ENGINE', 'HA_ERR_LOCK_WAIT_TIMEOUT']);
  assert.equal(error.outcomeUnknown, false, 'the server said that it was not executed');
  await sql.query('ROLLBACK');
  assert.equal(await index.update('=', 3, [6]), 1);
  await sql.end();
  await client.close();
});

/** Sockets of the other server, which has no ports. */
const paths = () => ({
  path: join(other.folder, 'read.sock'),
  writePath: join(other.folder, 'write.sock'),
});

test('unix sockets work as TCP does', async () => {
  const client = await connect(paths());
  const index = await client.openIndex({ ...TABLE, types: 'number' });
  assert.equal(await index.increment('=', 4, [1]), 1);
  assert.equal(await index.value(4), 9);
  await client.close();
});

test('a listener stopped for good by Q is distinguished from a slow one', async () => {
  // The client never sends a line that begins with Q: this one is sent directly, and stops the
  // server's listener.
  const socket = createConnection(server.read, '127.0.0.1');
  socket.write('Q\n');
  await sleep(100);
  const error = await rejection(open({ handshakeTimeoutMs: 300 }));
  socket.destroy();
  assert.equal(error.code, 'HS_HANDSHAKE_TIMEOUT');
  assert.match(error.message, /restart of the server/);
});

async function openIdle() {
  const kept = await connect({ ...paths(), keepAliveMs: 10_000 });
  const left = await connect({ ...paths(), keepAliveMs: 0 });
  const indexes = [];
  for (const client of [kept, left]) {
    indexes.push(await client.openIndex({ ...TABLE, types: 'number' }));
  }
  const lost = once(left, 'disconnect', { signal: AbortSignal.timeout(60_000) });
  lost.catch(() => {}); // fails the test
  return { kept, left, indexes, lost };
}

test('idle connections are kept alive by pings, and reopened if the server closed them', async () => {
  const { kept, left, indexes, lost } = await idle;
  // A real wait, because the plugin's timeout cannot be shorter.
  const [, error] = await lost;
  assert.equal(error.code, 'HS_CONNECTION_LOST');
  assert.deepEqual(await Promise.all(indexes.map((index) => index.value(7))), [14, 14]);
  assert.equal(kept.counters().losses, 0);
  assert.ok(left.counters().losses > 0);
  await Promise.all([kept.close(), left.close()]);
});
