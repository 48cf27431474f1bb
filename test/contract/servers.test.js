/** Servers of a state folder: started, probed, reused, stopped; their data; wrong protocols. */
// Needs: redis, mariadb, tarantool

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { rmSync, statSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { resolveAddress } from '../../engine/addresses.js';
import { isAlive } from '../../lib/process-identity.js';
import { findListener } from '../../measure/listener.js';
import { loadServer, startServers, statusServers, stopServers } from '../../servers/index.js';
import { listeningPlaces } from '../helpers/listening.js';
import { addressOf, credentialsOf, loginOf, makeHome, PACKAGES_HOME } from '../helpers/servers.js';

/** @typedef {import('../../lib/types.js').RunningServer} RunningServer */

const NAMES = ['redis', 'mariadb', 'tarantool'];
const STARTER = fileURLToPath(new URL('../helpers/start-servers.js', import.meta.url));

let home = '';
/** @type {Record<string, RunningServer>} */
let running = {};

/** @param {readonly string[]} names */
async function start(names) {
  const started = await startServers(names, { home, packagesHome: PACKAGES_HOME });
  assert.deepEqual(started.failures, []);
  return started;
}

before(async () => {
  home = await makeHome();
  const { servers } = await start(NAMES);
  running = Object.fromEntries(servers.map((server) => [server.name, server]));
});

after(async () => {
  await stopServers(NAMES, { home });
  rmSync(home, { recursive: true, force: true });
});

test('each server replies in its protocol, with version, settings and pid', async () => {
  const expected = {
    redis: { save: '', appendonly: 'no' },
    mariadb: { innodb_flush_log_at_trx_commit: '2', log_bin: 'OFF', handlersocket_threads: '4' },
    tarantool: { wal_mode: 'none', net_msg_max: '100000' },
  };
  for (const [name, settings] of Object.entries(expected)) {
    const { probe } = await loadServer(name);
    const report = await probe(addressOf(running[name]), credentialsOf(running[name]));
    assert.match(report.version, /^\d+\.\d+\.\d+/);
    assert.equal(report.pid, running[name].pid);
    for (const [key, value] of Object.entries(settings)) {
      assert.equal(report.settings[key], value, `${name} ${key}`);
    }
  }
});

test('status and addresses know the running servers', async () => {
  for (const { name, state, running: found, binaries } of await statusServers({ home })) {
    if (!NAMES.includes(name)) continue;
    assert.equal(state, 'running', name);
    assert.equal(found?.pid, running[name].pid);
    assert.ok(binaries === null || binaries.source === 'path', 'this home has fetched nothing');
  }
  for (const name of NAMES) {
    const { source, address } = await resolveAddress(name, { env: {}, home });
    assert.equal(source, 'dragstrip');
    assert.equal(await findListener(Object.values(address)[0]), running[name].pid);
  }
});

test('unix sockets work if the server has them', async () => {
  for (const name of ['redis', 'mariadb']) {
    const { unix } = addressOf(running[name]);
    assert.equal(await findListener(unix), running[name].pid);
    const { probe } = await loadServer(name);
    /** @type {import('../../lib/types.js').Address} */
    const address = name === 'redis' ? { main: unix } : { sql: unix };
    assert.match((await probe(address, credentialsOf(running[name]))).version, /^\d/);
  }
});

test('a second start detects the running servers and starts no other', async () => {
  const again = await start(NAMES);
  assert.deepEqual(again.reused.sort(), [...NAMES].sort());
  for (const server of again.servers) assert.equal(server.pid, running[server.name].pid);
  await again.stop();
  for (const server of again.servers)
    assert.ok(isAlive(server), 'stop leaves what it did not start');
});

test('they listen on loopback only, in folders that no other user may enter', () => {
  for (const { name, pid, folder, address } of Object.values(running)) {
    const places = listeningPlaces(pid);
    for (const place of places) assert.match(place, /^0100007F:/, `${name} listens at ${place}`);
    assert.equal(places.length, name === 'mariadb' ? 3 : 1, name);
    const sockets = address['unix'] === undefined ? [] : [dirname(address['unix'].slice(5))];
    for (const each of [folder, ...sockets]) assert.equal(statSync(each).mode & 0o777, 0o700, each);
    // Their user has to enter the folder above, where root started them.
    const mode = process.getuid?.() === 0 ? 0o711 : 0o700;
    assert.equal(statSync(join(folder, '..')).mode & 0o777, mode);
  }
});

test('two processes that start the same servers at once get the same ones', async () => {
  const other = await makeHome();
  try {
    const starts = [1, 2, 3].map(() =>
      promisify(execFile)(process.execPath, [STARTER, other, 'lasting', 'redis,tarantool']),
    );
    const pids = (await Promise.all(starts)).map(({ stdout }) => JSON.parse(stdout).map(pidOf));
    assert.deepEqual(pids[1], pids[0]);
    assert.deepEqual(pids[2], pids[0]);
  } finally {
    const stopped = await stopServers(['redis', 'tarantool'], { home: other });
    assert.deepEqual(
      stopped.map(({ state }) => state),
      ['ended', 'ended'],
    );
    rmSync(other, { recursive: true });
  }
});

/** @param {RunningServer} server */
function pidOf(server) {
  return server.pid;
}

test('rows of a persistent server survive a stop and a start', async () => {
  await write();
  const stopped = await stopServers(NAMES, { home });
  assert.deepEqual(
    stopped.map(({ state }) => state),
    ['ended', 'ended', 'ended'],
  );
  for (const server of Object.values(running)) assert.ok(!isAlive(server));
  assert.deepEqual(
    (await statusServers({ home }))
      .filter(({ name }) => NAMES.includes(name))
      .map(({ state }) => state),
    ['stopped', 'stopped', 'stopped'],
  );
  const { servers, reused } = await start(NAMES);
  assert.deepEqual(reused, []);
  running = Object.fromEntries(servers.map((server) => [server.name, server]));
  await check();
});

async function write() {
  await withRedis((redis) => redis.set('kept', 'yes'));
  await withTarantool((tarantool) =>
    tarantool.call('dragstrip_load', [
      [1, 'kept'],
      [2, 'too'],
    ]),
  );
  await withMariadb(async (sql) => {
    await sql.query('CREATE DATABASE dragstrip_kept');
    await sql.query('CREATE TABLE dragstrip_kept.rows (id INT PRIMARY KEY, str NVARCHAR(1024))');
    await sql.query("INSERT INTO dragstrip_kept.rows VALUES (1, 'kept')");
  });
}

async function check() {
  assert.equal(await withRedis((redis) => redis.get('kept')), 'yes');
  await withTarantool(async (tarantool) => {
    assert.deepEqual(await tarantool.select('dragstrip_rows', 0, 1, 0, 'eq', [2]), [[2, 'too']]);
    assert.deepEqual(await tarantool.call('dragstrip_count'), [[2]]);
    await tarantool.call('dragstrip_reset');
    assert.deepEqual(await tarantool.call('dragstrip_count'), [[0]]);
    await assert.rejects(tarantool.eval('return 1'), /access/i, 'a guest may not run code');
  });
  await withMariadb(async (sql) => {
    const [rows] = await sql.query('SELECT str FROM dragstrip_kept.rows');
    assert.deepEqual(rows, [{ str: 'kept' }]);
  });
}

/** @template T @param {(redis: import('ioredis').Redis) => Promise<T>} work */
async function withRedis(work) {
  const { Redis } = await import('ioredis');
  const { host, port } = addressOf(running['redis'])['main'];
  const redis = new Redis({ host, port, ...loginOf(running['redis']) });
  try {
    return await work(redis);
  } finally {
    redis.disconnect();
  }
}

/** @param {(tarantool: any) => Promise<any>} work */
async function withTarantool(work) {
  // @ts-expect-error the driver has no types
  const { default: Tarantool } = await import('tarantool-driver');
  const { host, port } = addressOf(running['tarantool'])['main'];
  const tarantool = new Tarantool({
    host,
    port,
    ...loginOf(running['tarantool']),
    lazyConnect: true,
  });
  await tarantool.connect();
  try {
    return await work(tarantool);
  } finally {
    tarantool.disconnect();
  }
}

/** @param {(sql: import('mysql2/promise').Connection) => Promise<void>} work */
async function withMariadb(work) {
  const { createConnection } = await import('mysql2/promise');
  const { host, port } = addressOf(running['mariadb'])['sql'];
  const sql = await createConnection({ host, port, ...loginOf(running['mariadb']) });
  try {
    await work(sql);
  } finally {
    await sql.end();
  }
}

test('SQL cannot read files of this machine', async () => {
  await withMariadb(async (sql) => {
    const [rows] = await sql.query("SELECT LOAD_FILE('/etc/passwd') AS text");
    assert.deepEqual(rows, [{ text: null }]);
  });
});

test('a server of another protocol is named in one line', async () => {
  const http = createHttpServer((_request, response) => response.end('hello'));
  const silent = createServer(() => {});
  const closing = createServer((socket) => socket.end());
  const gone = createServer();
  const [atHttp, atSilent, atClosing, atGone] = await Promise.all(
    [http, silent, closing, gone].map(listen),
  );
  gone.close();
  const atRedis = addressOf(running['redis'])['main'];
  const atTarantool = addressOf(running['tarantool'])['main'];
  const { sql, read, write } = addressOf(running['mariadb']);
  try {
    await wrong('redis', { main: atHttp }, /^Redis at .*: an HTTP server is listening there$/);
    await wrong('redis', { main: sql }, /: MySQL or MariaDB is listening there$/);
    await wrong('redis', { main: atTarantool }, /: Tarantool is listening there$/);
    await wrong('redis', { main: read }, /: HandlerSocket is listening there$/);
    await wrong('redis', { main: atSilent }, /accepts connections but does not reply$/);
    await wrong(
      'redis',
      { main: atClosing },
      /accepts connections but closes them without a reply$/,
    );
    await wrong('redis', { main: atGone }, /connection refused, nothing listens there$/);
    await wrong('redis', { main: { path: '/nowhere/redis.sock' } }, /no such socket$/);
    await wrong('tarantool', { main: atRedis }, /^Tarantool at .*: Redis is listening there$/);
    await wrong('tarantool', { main: atHttp }, /: an HTTP server is listening there$/);
    await wrong('mariadb', { sql: atRedis }, /^MariaDB at .*: Redis is listening there$/);
    await wrong('mariadb', { sql: atHttp }, /: an HTTP server is listening there$/);
    await wrong('mariadb', { sql, read: sql, write }, /^HandlerSocket at .*: MySQL or MariaDB/);
    await wrong('mariadb', { sql, read, write: atRedis }, /: Redis is listening there$/);
    await wrong(
      'mariadb',
      { sql, read: atSilent, write },
      /accepts connections but does not reply$/,
    );
  } finally {
    for (const server of [http, silent, closing]) server.close();
    http.closeAllConnections();
  }
});

/** @param {import('node:net').Server} server */
async function listen(server) {
  await new Promise((done) => server.listen(0, '127.0.0.1', () => done(null)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return { host: '127.0.0.1', port };
}

/**
 * @param {string} name
 * @param {import('../../lib/types.js').Address} address
 * @param {RegExp} message
 */
async function wrong(name, address, message) {
  const credentials = credentialsOf(running[name]);
  const { probe } = await loadServer(name);
  const limit = AbortSignal.timeout(4000);
  await assert.rejects(probe(address, credentials), (/** @type {any} */ error) => {
    assert.equal(error.code, 'E_TARGET');
    assert.match(error.message, message);
    assert.ok(!error.message.includes('\n'));
    assert.match(error.hint, /dragstrip servers start|accepts TLS only, write rediss:/);
    return true;
  });
  assert.equal(limit.aborted, false, 'a probe answers within some seconds');
}

test('a missing or wrong password is reported, but never shown', async () => {
  const { probe } = await loadServer('redis');
  const { main } = addressOf(running['redis']);
  const address = { main };
  await assert.rejects(probe(address, {}), { code: 'E_TARGET', hint: /REDIS_PASSWORD/ });
  await assert.rejects(probe(address, { password: 'wrong-secret' }), (/** @type {any} */ error) => {
    assert.equal(error.code, 'E_TARGET');
    assert.match(error.hint, /REDIS_PASSWORD/);
    assert.ok(!error.message.includes('wrong-secret'));
    return true;
  });
  assert.match((await probe(address, credentialsOf(running['redis']))).version, /^\d/);
  const mariadb = await loadServer('mariadb');
  const { sql } = addressOf(running['mariadb']);
  await assert.rejects(mariadb.probe({ sql }, { user: 'nobody-known', password: 'wrong-secret' }), {
    code: 'E_TARGET',
    hint: /DRAGSTRIP_MYSQL_PASSWORD/,
  });
});
