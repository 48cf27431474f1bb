/** nutcracker like the other servers: behind Redis, on TCP and a unix socket, private, stopped. */
// Needs: redis, nutcracker

import assert from 'node:assert/strict';
import { readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { resolveAddress } from '../../engine/addresses.js';
import { isAlive } from '../../lib/process-identity.js';
import { findListener } from '../../measure/listener.js';
import { loadServer, startServers, statusServers, stopServers } from '../../servers/index.js';
import { startProxyCommand } from '../../servers/proxy-command.js';
import { addressOf, credentialsOf, makeHome, PACKAGES_HOME } from '../helpers/servers.js';

let home = '';
/** @type {Record<string, import('../../lib/types.js').RunningServer>} */
let running = {};

/** @param {readonly string[]} names @param {string} [where] */
const start = (names, where = home) =>
  startServers(names, { home: where, packagesHome: PACKAGES_HOME });

before(
  async () => {
    home = await makeHome();
    // Although named first, it is started after the server that it forwards to.
    const { servers, failures } = await start(['nutcracker', 'redis']);
    assert.deepEqual(failures, []);
    running = Object.fromEntries(servers.map((server) => [server.name, server]));
  },
  { timeout: 180_000 },
);

after(async () => {
  await stopServers(['nutcracker', 'redis'], { home });
  rmSync(home, { recursive: true, force: true });
});

test('forwards to Redis, and reports its version; both endpoints are its own', async () => {
  const address = addressOf(running['nutcracker']);
  const { probe } = await loadServer('nutcracker');
  const report = await probe(address, credentialsOf(running['nutcracker']));
  assert.match(report.version, /^\d+\.\d+/);
  assert.equal(report.pid, running['nutcracker'].pid);
  for (const name of ['main', 'unix', 'stats']) {
    assert.equal(await findListener(address[name]), running['nutcracker'].pid, name);
  }
  const { version } = await probe({ main: address['unix'] }, credentialsOf(running['nutcracker']));
  assert.match(version, /unknown version/, 'of an address alone it is not known which proxy it is');
});

test('its file is private, and it forwards to Redis by TCP and by the socket', () => {
  const file = join(running['nutcracker'].folder, 'nutcracker.yml');
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const text = readFileSync(file, 'utf8');
  const redis = addressOf(running['redis']);
  assert.match(text, new RegExp(`tcp:\n[\\s\\S]*- 127\\.0\\.0\\.1:${redis['main'].port}:1`));
  assert.ok(text.includes(`- ${redis['unix'].path}:1`), text);
  assert.doesNotMatch(text, /0\.0\.0\.0:[^\d]|listen: (?!127\.|\/)/);
});

test('is reused, is in the status, and is the address of --proxy', async () => {
  const { reused } = await start(['redis', 'nutcracker']);
  assert.deepEqual(reused.sort(), ['nutcracker', 'redis']);
  const states = await statusServers({ home });
  assert.equal(states.find(({ name }) => name === 'nutcracker')?.state, 'running');
  const { source, address } = await resolveAddress('nutcracker', { env: {}, home });
  assert.equal(source, 'dragstrip');
  assert.deepEqual(address, addressOf(running['nutcracker']));
});

test('a missing Redis is reported in one line', async () => {
  const other = await makeHome();
  try {
    const { failures, servers } = await start(['nutcracker'], other);
    assert.deepEqual(servers, []);
    assert.match(failures[0].error.message, /^nutcracker requires a Redis, and none is running$/);
    assert.match(String(failures[0].error.hint), /servers start redis nutcracker/);
  } finally {
    rmSync(other, { recursive: true, force: true });
  }
});

test('it is not ready without its Redis, and passes on the error', async () => {
  const other = await makeHome();
  try {
    const { servers } = await start(['redis', 'nutcracker'], other);
    const proxy = servers.find(({ name }) => name === 'nutcracker');
    await stopServers(['redis'], { home: other });
    const { probe } = await loadServer('nutcracker');
    const credentials = credentialsOf(/** @type {any} */ (proxy));
    await assert.rejects(probe(addressOf(/** @type {any} */ (proxy)), credentials), {
      code: 'E_TARGET',
      message: /cannot reach its Redis: "?ERR/,
    });
    const stopped = await stopServers(['nutcracker'], { home: other });
    assert.deepEqual(stopped, [{ name: 'nutcracker', state: 'ended' }]);
    assert.ok(!isAlive(/** @type {any} */ (proxy)));
  } finally {
    await stopServers(['nutcracker', 'redis'], { home: other });
    rmSync(other, { recursive: true, force: true });
  }
});

test('a server that is not a proxy is reported by its kind', async () => {
  const http = createServer((socket) => {
    socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    socket.on('error', () => {});
  });
  await new Promise((done) => http.listen(0, '127.0.0.1', () => done(null)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (http.address());
  const { probe } = await loadServer('nutcracker');
  await assert.rejects(probe({ main: { host: '127.0.0.1', port } }, {}), {
    code: 'E_TARGET',
    message: /^A proxy at .*: an HTTP server is listening there$/,
  });
  http.close();
});

test('a user’s nutcracker is started by its path, and ended', async () => {
  const binaries = await (await loadServer('nutcracker')).find(PACKAGES_HOME);
  const command = `"${binaries?.programs['nutcracker']}"`; // its path may have blanks
  const { pid, address, stop } = await startProxyCommand(command, {
    home,
    redis: addressOf(running['redis']),
    credentials: credentialsOf(running['redis']),
  });
  const [tcp, unix] = address.split(',');
  assert.match(tcp, /^127\.0\.0\.1:\d+$/);
  assert.match(unix, /^unix:\//);
  assert.notEqual(pid, running['nutcracker'].pid);
  await stop();
  assert.equal(await findListener({ path: unix.slice(5) }), null);
});
