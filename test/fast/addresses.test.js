/** Resolution of servers: home, flags, environment, records; and the identity of a process. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, lchownSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { resolveAddress } from '../../engine/addresses.js';
import { readCredentials } from '../../lib/credentials.js';
import { findHome } from '../../lib/home.js';
import {
  isAlive,
  ownerMayLive,
  ownerName,
  ownIdentity,
  readStartTicks,
} from '../../lib/process-identity.js';
import { findListener } from '../../measure/listener.js';
import mariadb from '../../servers/mariadb.js';
import { withFolder } from '../helpers/folder.js';
import { notChecked } from '../helpers/not-checked.js';

const folder = withFolder();
chmodSync(folder, 0o755); // otherwise root's state folder is elsewhere

/** @param {string} name */
function newHome(name) {
  const home = join(folder, name);
  mkdirSync(join(home, 'servers'), { recursive: true });
  return home;
}

/** @param {string} home @param {Record<string, unknown>} fields */
function record(home, fields) {
  const running = {
    name: 'redis',
    ...ownIdentity(),
    version: '7.0.15',
    folder: home,
    address: { main: '127.0.0.1:7001', unix: 'unix:/tmp/redis.sock' },
    ...fields,
  };
  writeFileSync(join(home, 'servers', 'redis.json'), JSON.stringify(running));
}

test('the home is DRAGSTRIP_HOME, else the nearest .dragstrip above, else one here', () => {
  const deep = join(folder, 'project', 'a', 'b');
  mkdirSync(deep, { recursive: true });
  assert.equal(findHome({ env: { DRAGSTRIP_HOME: '/x/y' }, cwd: deep }), '/x/y');
  assert.equal(findHome({ env: { DRAGSTRIP_HOME: 'state' }, cwd: deep }), join(deep, 'state'));
  // A user who owns nothing above: there may be one in the folder of temporary files.
  assert.equal(findHome({ env: {}, cwd: deep, uid: 4_000_000 }), join(deep, '.dragstrip'));
  mkdirSync(join(folder, 'project', '.dragstrip'));
  assert.equal(findHome({ env: {}, cwd: deep }), join(folder, 'project', '.dragstrip'));
});

test('a .dragstrip of another user is not used: programs in it would be executed', () => {
  const project = join(folder, 'of-another');
  const deep = join(project, 'a');
  mkdirSync(deep, { recursive: true });
  mkdirSync(join(project, '.dragstrip'));
  const uid = 4_000_000; // neither the superuser nor the user of this test
  assert.equal(findHome({ env: {}, cwd: deep, uid }), join(deep, '.dragstrip'));
  assert.throws(() => findHome({ env: {}, cwd: project, uid }), {
    code: 'E_USAGE',
    message: /of-another.\.dragstrip belongs to another user/,
  });
});

test('root trusts only its own .dragstrip and that of the user who called sudo', (t) => {
  const project = join(folder, 'of-somebody');
  const deep = join(project, 'a');
  mkdirSync(join(project, '.dragstrip'), { recursive: true });
  mkdirSync(deep);
  const owner = process.getuid?.() === 0 ? 65_534 : (process.getuid?.() ?? 0);
  if (process.getuid?.() === 0) chownSync(join(project, '.dragstrip'), owner, owner);
  assert.equal(findHome({ env: {}, cwd: deep, uid: 0 }), join(deep, '.dragstrip'));
  assert.throws(() => findHome({ env: {}, cwd: project, uid: 0 }), { code: 'E_USAGE' });
  const env = { SUDO_UID: String(owner) };
  assert.equal(findHome({ env, cwd: deep, uid: 0 }), join(project, '.dragstrip'));
  if (process.getuid?.() !== 0) return notChecked(t, 'links of other users need root');
  symlinkSync(newHome('really-ours'), join(deep, '.dragstrip'));
  lchownSync(join(deep, '.dragstrip'), owner, owner);
  assert.throws(() => findHome({ env: {}, cwd: deep, uid: 0 }), { code: 'E_USAGE' });
});

test('root’s is in /var/lib where the user of its servers could not reach the working directory', () => {
  const closed = join(folder, 'closed');
  const deep = join(closed, 'a');
  mkdirSync(deep, { recursive: true });
  chmodSync(closed, 0o700);
  assert.equal(findHome({ env: {}, cwd: deep, uid: 0 }), '/var/lib/dragstrip');
  const env = { DRAGSTRIP_HOME: 'state' };
  assert.equal(findHome({ env, cwd: deep, uid: 0 }), join(deep, 'state'));
  assert.equal(findHome({ env: {}, cwd: deep, uid: 4_000_000 }), join(deep, '.dragstrip'));
});

test('a .dragstrip that others may write to is refused, with the command as a hint', () => {
  const project = join(folder, 'writable');
  const deep = join(project, 'a');
  const home = join(project, '.dragstrip');
  mkdirSync(deep, { recursive: true });
  mkdirSync(home);
  for (const mode of [0o777, 0o775, 0o1777]) {
    chmodSync(home, mode);
    for (const cwd of [project, deep]) {
      assert.throws(() => findHome({ env: {}, cwd }), {
        code: 'E_USAGE',
        message: /writable by other users/,
        hint: /chmod go-w/,
      });
    }
  }
  chmodSync(home, 0o755);
  assert.equal(findHome({ env: {}, cwd: deep }), home);
});

test('the default address is the port of the original program', async () => {
  const home = newHome('empty');
  const resolved = await resolveAddress('mariadb', { env: {}, home });
  assert.deepEqual(resolved, {
    address: {
      sql: { host: '127.0.0.1', port: 3306 },
      read: { host: '127.0.0.1', port: 9998 },
      write: { host: '127.0.0.1', port: 9999 },
    },
    source: 'default',
    assumed: [],
    credentials: {},
    credentialVariables: mariadb.credentials,
  });
});

test('a flag overrides the environment, the environment a server of Dragstrip', async () => {
  const home = newHome('order');
  record(home, {});
  const env = { DRAGSTRIP_REDIS: 'unix:/run/redis.sock' };
  const flags = { redis: 'db:7000' };
  const byFlag = await resolveAddress('redis', { flags, env, home });
  assert.deepEqual([byFlag.source, byFlag.address['main']], ['flag', { host: 'db', port: 7000 }]);
  const byEnv = await resolveAddress('redis', { env, home });
  assert.deepEqual([byEnv.source, byEnv.address['main']], ['env', { path: '/run/redis.sock' }]);
  const resolved = await resolveAddress('redis', { env: {}, home });
  assert.deepEqual(
    [resolved.source, resolved.address['main']],
    ['dragstrip', { host: '127.0.0.1', port: 7001 }],
  );
  assert.deepEqual(resolved.address['unix'], { path: '/tmp/redis.sock' });
  assert.equal(resolved.running?.pid, process.pid);
});

test('unnamed endpoints are on the host of the named one', async () => {
  const env = { DRAGSTRIP_MYSQL: '10.0.0.5:3307', DRAGSTRIP_HANDLERSOCKET_WRITE: '7:9' };
  await assert.rejects(resolveAddress('mariadb', { env: { ...env, DRAGSTRIP_MYSQL: 'x' } }), {
    code: 'E_USAGE',
    message: /DRAGSTRIP_MYSQL "x"/,
  });
  const { address } = await resolveAddress('mariadb', {
    env: { DRAGSTRIP_MYSQL: '10.0.0.5:3307' },
    home: newHome('hosts'),
  });
  assert.deepEqual(address['sql'], { host: '10.0.0.5', port: 3307 });
  assert.deepEqual(address['read'], { host: '10.0.0.5', port: 9998 });
});

test('a record is valid only while that same process lives and has been ready', async () => {
  const home = newHome('stale');
  const { startTicks } = ownIdentity();
  for (const fields of [
    { startTicks: startTicks - 1 }, // the pid recurs in another process
    { pid: 2 ** 22 + 1 }, // above the kernel's highest pid
    { version: '' }, // its start was cut off
    { address: null },
  ]) {
    record(home, fields);
    const { source } = await resolveAddress('redis', { env: {}, home });
    assert.equal(source, 'default', JSON.stringify(fields));
  }
  writeFileSync(join(home, 'servers', 'redis.json'), '{"pid":');
  assert.equal((await resolveAddress('redis', { env: {}, home })).source, 'default');
});

test('credentials come from the environment or a file; of Dragstrip’s server from its folder', async () => {
  const home = newHome('credentials');
  const secretFile = join(home, 'secret');
  writeFileSync(secretFile, 'from-file\n', { mode: 0o600 });
  const env = { DRAGSTRIP_REDIS_USER: 'ann', DRAGSTRIP_REDIS_PASSWORD_FILE: secretFile };
  const resolved = await resolveAddress('redis', { env, home });
  assert.deepEqual(resolved.credentials, { user: 'ann', password: 'from-file' });
  record(home, { credentials: { password: secretFile } });
  const credentials = { password: 'from-file' };
  assert.deepEqual((await resolveAddress('redis', { env, home })).credentials, credentials);
  // Also if named by its address: other secrets of the environment are not sent to it.
  const named = await resolveAddress('redis', { flags: { redis: '127.0.0.1:7001' }, env, home });
  assert.deepEqual(named.credentials, credentials);
  assert.deepEqual(named.credentialVariables, { password: secretFile });
  const flags = { redis: '127.0.0.1:7002' };
  const other = await resolveAddress('redis', { flags, env, home });
  assert.deepEqual(other.credentials, { user: 'ann', password: 'from-file' });
});

test('a world-readable file of a secret is refused in one line', async () => {
  const home = newHome('readable');
  const file = join(home, 'secret');
  writeFileSync(file, 'from-file\n');
  chmodSync(file, 0o644);
  const env = { DRAGSTRIP_REDIS_PASSWORD_FILE: file };
  const refusal = { code: 'E_USAGE', message: /accessible to other users/, hint: /chmod 600/ };
  await assert.rejects(resolveAddress('redis', { env, home }), refusal);
  chmodSync(file, 0o640); // a group may be meant
  assert.equal((await resolveAddress('redis', { env, home })).credentials.password, 'from-file');
  record(home, { credentials: { password: file } }); // Dragstrip's own: nobody else
  await assert.rejects(resolveAddress('redis', { env: {}, home }), refusal);
});

test('a URL names the host, the port, the database and TLS', async () => {
  const home = newHome('urls');
  const of = async (/** @type {string} */ name, /** @type {Record<string, string>} */ flags) =>
    (await resolveAddress(name, { flags, env: {}, home })).address;
  const redis = async (/** @type {string} */ url) => (await of('redis', { redis: url }))['main'];
  assert.deepEqual(await redis('redis://db'), { host: 'db', port: 6379 });
  assert.deepEqual(await redis('valkey://[::1]:7000/3'), { host: '::1', port: 7000, db: 3 });
  assert.deepEqual(await redis('unix:///run/redis.sock'), { path: '/run/redis.sock' });
  const tls = { serverName: 'db' };
  assert.deepEqual(await redis('rediss://db/'), { host: 'db', port: 6379, tls });
  assert.deepEqual(await redis('rediss://10.1.2.3:1'), { host: '10.1.2.3', port: 1, tls: {} });
  const named = { redis: 'rediss://10.1.2.3:1', 'tls-ca': '/x/ca.pem', 'tls-server-name': 'db' };
  const { main } = await of('redis', named);
  assert.deepEqual(main.tls, { ca: '/x/ca.pem', serverName: 'db' });
  const { sql } = await of('mariadb', { mysql: 'mysql://db/hs_test?ssl-mode=REQUIRED' });
  assert.deepEqual(sql, { host: 'db', port: 3306, tls });
  const both = await of('redis', { redis: '127.0.0.1:1,unix:/a,rediss://127.0.0.1:2' });
  assert.deepEqual(both, {
    main: { host: '127.0.0.1', port: 1 },
    unix: { path: '/a' },
    tls: { host: '127.0.0.1', port: 2, tls: {} },
  });
});

test('a URL of another kind of server is refused in one line', async () => {
  const home = newHome('wrong-urls');
  for (const [flags, message] of /** @type {[Record<string, string>, RegExp][]} */ ([
    [{ redis: 'mysql://db' }, /the scheme mysql:\/\/ belongs to a different server/],
    [{ redis: 'http://db' }, /unknown scheme http/],
    [{ redis: 'redis://db/x' }, /not the number of a database/],
    [{ redis: 'redis://db?timeout=1' }, /unknown query parameter "timeout"/],
    [{ redis: 'redis://db:0' }, /not an address/],
    [{ redis: 'redis://ann@db' }, /"\*\*\*@db": a user or password on the command line/],
    [{ redis: 'redis://:hunter2@db' }, /"\*\*\*@db": a user or password on the command line/],
    [{ redis: 'db:1,unix:/a,unix:/b' }, /too many addresses/],
    [{ redis: 'db:1', 'tls-cert': 'x' }, /--tls-cert and --tls-key/],
  ])) {
    await assert.rejects(resolveAddress('redis', { flags, env: {}, home }), {
      code: 'E_USAGE',
      message,
    });
  }
  const flags = { mysql: 'mysql://db/other' };
  await assert.rejects(resolveAddress('mariadb', { flags, env: {}, home }), {
    message: /Dragstrip uses the database hs_test/,
  });
  const how = { flags, env: {}, home, anyDatabase: true };
  const { address } = await resolveAddress('mariadb', how);
  assert.deepEqual(address['sql'], { host: 'db', port: 3306 });
});

test('user and password of a URL come from the environment or a private file', async () => {
  const home = newHome('logins');
  const url = 'redis://ann:p%40ss@127.0.0.1:7003/1';
  const env = { DRAGSTRIP_REDIS: url, DRAGSTRIP_REDIS_PASSWORD: 'of another' };
  const credentials = { user: 'ann', password: 'p@ss' };
  const resolved = await resolveAddress('redis', { env, home });
  assert.deepEqual(resolved.credentials, credentials);
  assert.deepEqual(resolved.address['main'], { host: '127.0.0.1', port: 7003, db: 1 });
  assert.ok(!JSON.stringify(resolved.credentialVariables).includes('p@ss'));
  assert.deepEqual(await readCredentials(resolved.credentialVariables, env), credentials);
  const file = join(home, 'url');
  writeFileSync(file, `${url}\n`, { mode: 0o600 });
  const byFile = await resolveAddress('redis', { env: { DRAGSTRIP_REDIS_FILE: file }, home });
  assert.deepEqual(byFile.credentials, credentials);
  chmodSync(file, 0o644);
  await assert.rejects(resolveAddress('redis', { env: { DRAGSTRIP_REDIS_FILE: file }, home }), {
    message: /accessible to other users/,
  });
  // An address on the command line is another server: the login of the URL is not sent to it.
  const flags = { redis: '127.0.0.1:7004' };
  const other = await resolveAddress('redis', { flags, env: { DRAGSTRIP_REDIS: url }, home });
  assert.deepEqual(other.credentials, {});
});

test('an unknown server is a usage error that lists the known ones', async () => {
  await assert.rejects(resolveAddress('toString', {}), {
    code: 'E_USAGE',
    hint: /redis, mariadb, tarantool/,
  });
});

test('a process is identified by pid and start time; a zombie is not alive', async () => {
  const ofThisProcess = ownIdentity();
  assert.ok(ofThisProcess.startTicks > 0);
  assert.equal(isAlive(ofThisProcess), true);
  assert.equal(isAlive({ ...ofThisProcess, startTicks: ofThisProcess.startTicks + 1 }), false);
  const child = spawn('sleep', ['60']);
  await once(child, 'spawn');
  const identity = {
    pid: Number(child.pid),
    startTicks: Number(readStartTicks(Number(child.pid))),
  };
  assert.equal(isAlive(identity), true);
  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.equal(isAlive(identity), false);
  // A shell that never reaps leaves a zombie behind: it has ended, though its pid is still there.
  const shell = spawn('sh', ['-c', 'sleep 0 & echo $!; exec sleep 60']);
  const [chunk] = await once(shell.stdout, 'data');
  const zombie = Number(chunk);
  while (readStartTicks(zombie) !== null) await new Promise((turn) => setImmediate(turn));
  assert.equal(readStartTicks(zombie), null);
  shell.kill('SIGKILL');
  await once(shell, 'exit');
});

test('the owner of a folder may live in another container, not in another boot', () => {
  const own = ownerName();
  assert.equal(ownerMayLive(own), true);
  assert.equal(ownerMayLive(`${own}.XXXXXX`), true, 'followed by more');
  const [, ticks, scope] = own.split('.');
  assert.equal(ownerMayLive(`${process.pid}.1.${scope}`), false, 'its pid recurs');
  const [boot, namespace] = [scope.slice(0, 4), scope.slice(4)];
  const other = (/** @type {string} */ text) =>
    text.replace(/./g, (one) => (one === '0' ? '1' : '0'));
  assert.equal(ownerMayLive(`${process.pid}.1.${boot}${other(namespace)}`), true);
  assert.equal(ownerMayLive(`${process.pid}.${ticks}.${other(boot)}${namespace}`), false);
});

test('the listener of a TCP port and of a unix socket is found by its pid', async () => {
  const path = join(folder, 'listener.sock');
  const tcp = createServer().listen(0, '127.0.0.1');
  const unix = createServer().listen(path);
  await Promise.all([once(tcp, 'listening'), once(unix, 'listening')]);
  const { port } = /** @type {import('node:net').AddressInfo} */ (tcp.address());
  try {
    assert.equal(await findListener({ host: '127.0.0.1', port }), process.pid);
    assert.equal(await findListener({ host: 'localhost', port }), process.pid);
    assert.equal(await findListener({ path }), process.pid);
    assert.equal(await findListener({ host: '192.0.2.1', port }), null, 'another machine');
    assert.equal(await findListener({ path: `${path}x` }), null);
  } finally {
    tcp.close();
    unix.close();
  }
  assert.equal(await findListener({ host: '127.0.0.1', port }), null, 'closed');
});

test('a listener on another loopback address is not accepted', async () => {
  const server = createServer().listen(0, '127.0.0.2');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  try {
    assert.equal(await findListener({ host: '127.0.0.1', port }), null);
    assert.equal(await findListener({ host: '127.0.0.2', port }), process.pid);
  } finally {
    server.close();
  }
});
