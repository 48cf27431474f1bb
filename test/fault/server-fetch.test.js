/**
 * Fetching into an empty folder: as an unprivileged user, by two at once, without network, cut off.
 * These use the network, as the first start of a user does. Where servers are installed on the
 * machine there is nothing to fetch, and the same tests show that these are used.
 */
// Needs: redis, mariadb, tarantool

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { requestRun } from '../../engine/request.js';
import { resolveServers } from '../../engine/targets.js';
import { recordFetched } from '../../servers/fetched.js';
import { loadServer, startServers } from '../../servers/index.js';
import { makeHome, PACKAGES_HOME } from '../helpers/servers.js';

const FETCHER = fileURLToPath(new URL('../helpers/fetch-servers.js', import.meta.url));
const NOBODY = 65534;

let folder = '';
let isInstalled = false;
/** Why nothing can be fetched; '': it can. In CI that is a failure. */
let offline = '';
/** Whether root can hand the work to user nobody: not where node or the checkout is private. */
let canDrop = false;
/** The first fetch, of all servers. @type {Awaited<ReturnType<typeof outcome>>} */
let first;

before(async () => {
  folder = await makeHome();
  chmodSync(folder, 0o711); // another user passes through
  canDrop = process.getuid?.() === 0 && readsAsNobody();
  isInstalled = (await (await loadServer('redis')).find(folder))?.source === 'path';
  first = await outcome(startFetcher(newHome('all'), 'redis,mariadb,tarantool'));
  if (isInstalled || process.env['DRAGSTRIP_TEST_SERVERS'] === 'required') return;
  const [failure] = first.failures;
  if (/resolving|connect/i.test(failure?.message)) offline = failure.message;
});

after(() => rmSync(folder, { recursive: true, force: true }));

function readsAsNobody() {
  const user = { uid: NOBODY, gid: NOBODY };
  return spawnSync(process.execPath, ['--check', FETCHER], user).status === 0;
}

/** @param {string} name */
function newHome(name) {
  const home = join(folder, name);
  mkdirSync(home, { mode: 0o700 });
  if (canDrop) chownSync(home, NOBODY, NOBODY);
  return home;
}

/**
 * As root the child is user nobody, so that it can touch nothing but its folder.
 * @param {string} home
 * @param {string} names
 * @param {Record<string, string>} [env]
 */
function startFetcher(home, names, env = {}) {
  const user = canDrop ? { uid: NOBODY, gid: NOBODY } : {};
  const child = spawn(process.execPath, [FETCHER, home, names], {
    ...user,
    cwd: '/',
    env: { PATH: process.env['PATH'], HOME: '/nonexistent', ...proxies(), ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return { child, lines: createInterface({ input: child.stdout }) };
}

function proxies() {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => /_proxy$/i.test(name)));
}

/** @param {ReturnType<typeof startFetcher>} fetcher */
async function outcome({ lines }) {
  const all = [];
  for await (const line of lines) all.push(JSON.parse(line));
  return { events: all.slice(0, -1), ...all.at(-1) };
}

test('an unprivileged user fetches all servers into an empty folder', async (context) => {
  if (process.getuid?.() === 0 && !canDrop) {
    return context.skip('user nobody can read neither this node nor this checkout');
  }
  if (offline !== '') return context.skip(offline);
  const home = join(folder, 'all');
  const { uid, servers, failures, events } = first;
  assert.notEqual(uid, 0);
  assert.deepEqual(failures, []);
  assert.deepEqual(
    servers.map((/** @type {any} */ { name }) => name),
    ['redis', 'mariadb', 'tarantool'],
  );
  for (const { version } of servers) assert.match(version, /^\d+\.\d+\.\d+/);
  assert.equal(
    events.some((/** @type {any} */ { step }) => step === 'fetched'),
    existsSync(join(home, 'packages')),
  );
  for (const leaf of list(home)) {
    assert.match(leaf, /^(redis|mariadb|tarantool)$/);
    const text = readFileSync(join(home, 'packages', leaf, 'fetched.json'), 'utf8');
    const { packages, files } = JSON.parse(text);
    const main = packages.find((/** @type {string} */ one) => one.startsWith(leaf));
    assert.match(main, /^[a-z-]+_(\d+:)?\d+\.\d+\.\d+\S*_\w+$/, 'its version, for people');
    assert.ok(Object.keys(files).length > 5);
  }
});

test('a server with modified files is not started', async (context) => {
  const known = join(PACKAGES_HOME, 'packages', 'redis');
  if (!existsSync(known)) return context.skip('redis is not fetched');
  const home = join(folder, 'changed');
  const root = join(home, 'packages', 'redis');
  cpSync(known, root, { recursive: true, verbatimSymlinks: true });
  chmodSync(home, 0o711);
  await recordFetched(root, ['redis-server_7']);
  const start = async () => {
    const started = await startServers(['redis'], { home, owned: true, fetch: false });
    await started.stop();
    return started.failures.map(({ error }) => [error.code, error.message, String(error.hint)]);
  };
  assert.deepEqual(await start(), []);
  const record = join(root, 'fetched.json');
  const text = readFileSync(record, 'utf8');
  const changes = [
    () => appendFileSync(join(root, 'usr/bin/redis-benchmark'), ' '),
    () => writeFileSync(join(root, 'usr/lib/libc.so.6'), ''),
    () => rmSync(join(root, 'usr/bin/redis-cli')),
    () => writeFileSync(record, text.slice(0, 500)),
  ];
  for (const [i, change] of changes.entries()) {
    change();
    const [[code, message, hint]] = await start();
    assert.equal(code, 'E_REFUSED', String(i));
    assert.match(message, /^redis: \S+packages\/redis\/\S+.* was changed after the download$/);
    assert.match(hint, /^remove \S+, then run `npx dragstrip servers fetch redis`$/);
    rmSync(root, { recursive: true });
    cpSync(known, root, { recursive: true, verbatimSymlinks: true });
    writeFileSync(record, text);
  }
  assert.deepEqual(await start(), [], 'as it was');
});

/** @param {string} home */
function list(home) {
  const packages = join(home, 'packages');
  return existsSync(packages) ? readdirSync(packages) : [];
}

test('a missing network is reported in one line, and nothing partial is left', async (context) => {
  if (isInstalled) return context.skip('redis is installed on this machine');
  const home = newHome('offline');
  // Port 9 (discard) is closed; apt takes a proxy from these variables (apt-transport-http(1)).
  const closed = 'http://127.0.0.1:9';
  const { failures } = await outcome(
    startFetcher(home, 'redis', { http_proxy: closed, https_proxy: closed }),
  );
  assert.equal(failures.length, 1);
  assert.equal(failures[0].code, 'E_TARGET');
  assert.match(failures[0].message, /redis-server redis-tools are not available: .*127\.0\.0\.1:9/);
  assert.match(failures[0].hint, /install the server yourself/);
  assert.deepEqual(list(home), []);
});

test('a killed fetch leaves nothing usable; of two later ones one fetches', async (context) => {
  if (offline !== '') return context.skip(offline);
  const home = newHome('killed');
  if (!isInstalled) {
    const { child, lines } = startFetcher(home, 'redis');
    for await (const line of lines) {
      if (JSON.parse(line).text.includes('redis-server')) break;
    }
    child.kill('SIGKILL');
    await once(child, 'exit');
    const left = list(home);
    assert.equal(left.length, 1);
    assert.match(left[0], /^\.partial-/);
  }
  const results = await Promise.all([1, 2].map(() => outcome(startFetcher(home, 'redis'))));
  for (const { servers, failures } of results) {
    assert.deepEqual(failures, []);
    assert.equal(servers.length, 1);
    assert.equal(servers[0].name, 'redis');
  }
  const fetched = results.flatMap(({ events }) => events).filter(({ step }) => step === 'fetched');
  assert.equal(fetched.length, isInstalled ? 0 : 1);
  assert.deepEqual(list(home), isInstalled ? [] : ['redis']);
});

describe('Cassandra, which needs a Java and Maven', () => {
  /**
   * A folder for PATH with these programs and no other.
   * @param {string} name
   * @param {Record<string, string>} programs name to text
   */
  function pathOf(name, programs) {
    const bin = join(folder, name);
    mkdirSync(bin);
    for (const [program, text] of Object.entries(programs)) {
      writeFileSync(join(bin, program), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    }
    return bin;
  }

  const java = (/** @type {string} */ version) => `echo 'openjdk version "${version}"' >&2`;
  const tries = {
    'no Java': [{}, /^cassandra requires Java 17, none found$/, /JAVA_HOME/],
    'another Java': [{ java: java('11.0.2') }, /requires Java 17, found 11\.0\.2$/, /JAVA_HOME/],
    'no Maven': [{ java: java('17.0.9') }, /mvn is not on PATH$/, /package maven/],
    'a Maven that fails': [
      { java: java('17.0.9'), mvn: 'echo "[ERROR] no such host"; exit 1' },
      /downloading its jars failed: no such host$/,
      /--cassandra/,
    ],
    'a Maven that brings nothing': [
      { java: java('17.0.9'), mvn: 'exit 0' },
      /its jar is missing from the Maven download$/,
      /--cassandra/,
    ],
  };
  for (const [what, [programs, message, hint]] of Object.entries(tries)) {
    test(`with ${what}: one line with a hint, and nothing is left`, async () => {
      const name = what.replaceAll(' ', '-');
      const home = newHome(name);
      const env = { PATH: pathOf(`${name}-bin`, /** @type {any} */ (programs)), JAVA_HOME: '' };
      const { failures } = await outcome(startFetcher(home, 'cassandra', env));
      assert.equal(failures.length, 1);
      assert.equal(failures[0].code, 'E_TARGET');
      assert.match(failures[0].message, /** @type {RegExp} */ (message));
      assert.match(failures[0].hint, /** @type {RegExp} */ (hint));
      assert.deepEqual(list(home), []);
    });
  }
});

test('after a failed start the reason is shown; its default port is not tried', async (context) => {
  const home = newHome('reasons');
  const { find, endpoints } = await loadServer('tarantool');
  if ((await find(home)) !== null) return context.skip('Tarantool is installed');
  let connections = 0;
  const other = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  // If another program listens there already, only the reason shows that no request was sent.
  other.on('error', () => {});
  other.listen(Number(endpoints['main'].default.split(':')[1]), '127.0.0.1');
  context.after(() => other.close());
  const { failures } = await startServers(['tarantool'], { home, fetch: false });
  assert.equal(failures.length, 1);
  const { plan } = await requestRun({ home });
  const [server] = await resolveServers(['tarantool'], { ...plan, home });
  assert.match(String(server.unavailable?.reason), /^tarantool: not installed/);
  assert.match(String(server.unavailable?.hint), /servers fetch tarantool/);
  assert.equal(connections, 0);
});
