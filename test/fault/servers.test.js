/** Real servers when something is killed, stopped, taken or cut off. */
// Needs: redis, mariadb, tarantool, nutcracker

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseEndpoint } from '../../lib/address.js';
import { whileParentLives } from '../../lib/parent-death.js';
import { isAlive, ownerName, ownIdentity, readStartTicks } from '../../lib/process-identity.js';
import { askRedis } from '../../servers/ask-redis.js';
import { ask } from '../../servers/conversation.js';
import { startDaemon } from '../../servers/daemon.js';
import {
  fetchServers,
  loadServer,
  SERVER_NAMES,
  startServers,
  statusServers,
  stopServers,
} from '../../servers/index.js';
import { prepareCassandra } from '../helpers/cassandra.js';
import { notChecked } from '../helpers/not-checked.js';
import { makeHome, PACKAGES_HOME } from '../helpers/servers.js';

/** @typedef {import('../../lib/types.js').RunningServer} RunningServer */

const STARTER = fileURLToPath(new URL('../helpers/start-servers.js', import.meta.url));
const LAUNCHER = fileURLToPath(new URL('../helpers/launch-sleep.js', import.meta.url));
/** A bound for what takes milliseconds: a test that needs it has failed. */
const LIMIT_MS = 20_000;

let home = '';

before(async () => {
  home = await makeHome();
  const { failures } = await fetchServers(['redis', 'mariadb', 'tarantool'], {
    home: PACKAGES_HOME,
  });
  assert.deepEqual(failures, []);
});

after(async () => {
  await stopServers(['redis', 'mariadb', 'tarantool'], { home });
  rmSync(home, { recursive: true, force: true });
});

/**
 * @param {string} script
 * @param {string[]} args
 * @param {{ detached?: boolean, prefix?: string[] }} [options] prefix: what starts it
 */
async function startOwner(script, args, { detached = false, prefix = [] } = {}) {
  const [program, ...words] = [...prefix, process.execPath, script, ...args];
  const owner = spawn(program, words, {
    detached,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: owner.stdout });
  const [line] = await Promise.race([once(lines, 'line'), failAtEnd(owner)]);
  /** @type {RunningServer[]} */
  const servers = JSON.parse(line);
  return { owner, lines, servers };
}

/**
 * @param {import('node:child_process').ChildProcess} owner
 * @returns {Promise<never>} rejects when it ends: then the line that is waited for will not come
 */
async function failAtEnd(owner) {
  const [code, signal] = await once(owner, 'close');
  throw new Error(`the owner ended (${signal ?? code}) without a word`);
}

/** @param {import('../../lib/process-identity.js').ProcessIdentity} identity */
async function endOf(identity) {
  const limit = AbortSignal.timeout(LIMIT_MS);
  while (isAlive(identity)) {
    assert.equal(limit.aborted, false, `process ${identity.pid} lives on`);
    await sleep(5);
  }
}

test('owned servers die with a killed owner, and the next command removes their data', async () => {
  const names = 'redis,mariadb,tarantool';
  const { owner, servers } = await startOwner(STARTER, [home, 'owned', names, 'wait']);
  assert.equal(servers.length, 3);
  for (const server of servers) assert.ok(isAlive(server));
  owner.kill('SIGKILL');
  await Promise.all(servers.map(endOf));
  const sockets = servers.flatMap(socketFolder);
  assert.equal(sockets.length, 2);
  for (const folder of [...servers.map(({ folder }) => folder), ...sockets]) {
    assert.ok(existsSync(folder), folder);
  }
  await stopServers([], { home });
  assert.deepEqual(readdirSync(join(home, 'servers')), []);
  for (const folder of sockets) assert.equal(existsSync(folder), false, folder);
});

/** @param {RunningServer} server @returns {string[]} none of a server without a unix socket */
function socketFolder({ address }) {
  return address['unix'] === undefined ? [] : [dirname(address['unix'].replace(/^unix:/, ''))];
}

const NAMESPACE = ['--pid', '--fork', '--mount-proc', '--kill-child'];
const NO_NAMESPACE = spawnSync('unshare', [...NAMESPACE, 'true']).status !== 0;
test('a command outside a pid namespace does not touch servers of an owner inside it', {
  skip: NO_NAMESPACE && 'this user may not make a pid namespace',
}, async () => {
  const args = [home, 'owned', 'redis', 'wait'];
  const { owner, servers } = await startOwner(STARTER, args, {
    prefix: ['unshare', ...NAMESPACE],
  });
  const [{ folder, address }] = servers;
  const [sockets] = socketFolder(servers[0]);
  try {
    await stopServers([], { home });
    assert.ok(existsSync(folder) && existsSync(sockets));
    const { answer } = await askRedis(parseEndpoint(address['main']), {}, [['PING']]);
    assert.equal(answer.end, 'enough');
  } finally {
    owner.kill('SIGKILL');
    await once(owner, 'exit');
    for (const each of [folder, sockets]) rmSync(each, { recursive: true, force: true });
  }
});

for (const means of ['setpriv', 'watcher']) {
  test(`an owned process dies with a killed owner by ${means}`, async () => {
    const { owner, servers } = await startOwner(LAUNCHER, [home, means]);
    assert.ok(isAlive(servers[0]));
    owner.kill('SIGKILL');
    await endOf(servers[0]);
  });

  test(`an owned process dies with an owner that simply ends, by ${means}`, async () => {
    const { owner, servers } = await startOwner(LAUNCHER, [home, means, 'end']);
    await once(owner, 'exit');
    assert.equal(owner.exitCode, 0, 'an owned process does not keep its owner running');
    await endOf(servers[0]);
  });
}

test('a process whose owner died before they were tied does not start', () => {
  const [program, args] = whileParentLives('/bin/echo', ['started']);
  const outputOf = (/** @type {string} */ file, /** @type {string[]} */ words) =>
    spawnSync(file, words, { encoding: 'utf8' }).stdout;
  assert.equal(outputOf(program, args), 'started\n');
  // The shell between is its parent.
  assert.equal(outputOf('/bin/sh', ['-c', '"$@"; true', 'sh', program, ...args]), '');
});

test('Ctrl-C ends the owner, which then stops its servers cleanly', async () => {
  const { owner, lines, servers } = await startOwner(
    STARTER,
    [home, 'owned', 'redis,tarantool', 'wait'],
    { detached: true },
  );
  // A terminal signals the whole group of processes in the foreground.
  process.kill(-Number(owner.pid), 'SIGINT');
  const [line] = await Promise.race([once(lines, 'line'), failAtEnd(owner)]);
  assert.equal(line, 'stopped 2', 'both were still alive when the owner began to stop them');
  await Promise.all(servers.map(endOf));
  for (const server of servers) {
    for (const folder of [server.folder, ...socketFolder(server)]) {
      assert.equal(existsSync(folder), false, folder);
    }
  }
});

test('a persistent server outlives the process that started it, however that ends', async () => {
  const { owner, servers } = await startOwner(STARTER, [home, 'lasting', 'redis', 'wait']);
  owner.kill('SIGKILL');
  await once(owner, 'exit');
  await sleep(50); // long enough for a signal to its children to arrive
  assert.ok(isAlive(servers[0]));
  const stopped = await stopServers(['redis'], { home });
  assert.deepEqual(stopped, [{ name: 'redis', state: 'ended' }]);
  assert.ok(!isAlive(servers[0]));
});

/** @param {readonly string[]} names */
async function startLasting(names) {
  const { servers, failures } = await startServers(names, { home, packagesHome: PACKAGES_HOME });
  assert.deepEqual(failures, []);
  return servers;
}

test('incomplete system tables are not accepted', async () => {
  const folder = join(home, 'servers', 'mariadb');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, 'data.partial', 'mysql'), { recursive: true, mode: 0o700 });
  const [server] = await startLasting(['mariadb']);
  assert.equal(existsSync(join(folder, 'data.partial')), false);
  assert.ok(isAlive(server)); // the next test kills it
});

test('killed servers are restarted', async () => {
  const names = ['redis', 'mariadb', 'tarantool'];
  const first = await startLasting(names);
  for (const { pid } of first) process.kill(pid, 'SIGKILL');
  await Promise.all(first.map(endOf));
  const states = new Map((await statusServers({ home })).map(({ name, state }) => [name, state]));
  for (const name of names) assert.equal(states.get(name), 'stopped', name);
  const second = await startLasting(names);
  for (const [i, server] of second.entries()) {
    assert.notEqual(server.pid, first[i].pid);
    assert.ok(isAlive(server));
  }
  for (const folder of first.flatMap(socketFolder)) assert.equal(existsSync(folder), false);
  for (const folder of second.flatMap(socketFolder)) assert.equal(existsSync(folder), true);
  for (const { name, state } of await stopServers(names, { home })) {
    assert.equal(state, 'ended', name);
  }
  for (const folder of second.flatMap(socketFolder)) assert.equal(existsSync(folder), false);
});

test('a recycled pid in a record is not signalled', async () => {
  const stranger = spawn('sleep', ['60']);
  await once(stranger, 'spawn');
  const pid = Number(stranger.pid);
  const startTicks = Number(readStartTicks(pid));
  const address = { main: '127.0.0.1:1' };
  const record = {
    name: 'redis',
    pid,
    startTicks: startTicks - 1,
    version: '7',
    folder: home,
    address,
  };
  const path = join(home, 'servers', 'redis.json');
  writeFileSync(path, JSON.stringify(record));
  assert.deepEqual(await stopServers(['redis'], { home }), [{ name: 'redis', state: 'gone' }]);
  assert.equal(existsSync(path), false);
  writeFileSync(path, JSON.stringify(record));
  const [server] = await startLasting(['redis']);
  assert.notEqual(server.pid, pid);
  assert.ok(isAlive({ pid, startTicks }));
  await stopServers(['redis'], { home });
  stranger.kill('SIGKILL');
  await once(stranger, 'exit');
});

test('an interrupted start is cleaned up by the next one', async () => {
  // The record of a process that has not answered yet: written before it is ready, without version.
  const half = spawn('sleep', ['60'], { detached: true });
  await once(half, 'spawn');
  const pid = Number(half.pid);
  const identity = { pid, startTicks: Number(readStartTicks(pid)) };
  const address = { main: '127.0.0.1:1' };
  const record = { name: 'redis', ...identity, version: '', folder: home, address };
  writeFileSync(join(home, 'servers', 'redis.json'), JSON.stringify(record));
  const [server] = await startLasting(['redis']);
  await endOf(identity);
  assert.ok(isAlive(server));
  await stopServers(['redis'], { home });
});

test('a hanging server is not started twice; it is reported, and stop ends it', async () => {
  const [server] = await startLasting(['redis']);
  process.kill(server.pid, 'SIGSTOP');
  // Each waits for the time limit of a probe.
  const [{ servers, failures }, states] = await Promise.all([
    startServers(['redis'], { home, packagesHome: PACKAGES_HOME }),
    statusServers({ home }),
  ]);
  assert.deepEqual(servers, []);
  assert.equal(failures[0].error.code, 'E_TARGET');
  assert.match(failures[0].error.message, /running \(pid \d+\) but not responding/);
  assert.match(String(failures[0].error.hint), /servers stop redis/);
  assert.equal(states.find(({ name }) => name === 'redis')?.state, 'silent');
  const [stopped] = await stopServers(['redis'], { home });
  assert.equal(stopped.state, 'ended');
});

/**
 * @param {(folder: string, ports: Record<string, number>) => string[]} args arguments of
 *   redis-server
 */
async function startRedis(args) {
  const { find } = await loadServer('redis');
  const binaries = await find(PACKAGES_HOME);
  assert.ok(binaries !== null);
  return startDaemon(
    {
      name: 'redis',
      version: '7',
      endpoints: ['main'],
      readyTimeoutMs: 1000,
      socket: 'redis.sock',
      plan: (folder, ports) => ({
        program: binaries.programs['redis-server'],
        args: args(folder, ports),
      }),
      answers: async ({ main }) =>
        (await ask(main, { send: 'PING\r\n', enough: () => true })).end === 'enough',
    },
    { home, binaries, owned: true },
  );
}

test('a port that is occupied between its choice and the start is replaced', async () => {
  const thief = createServer();
  thief.on('error', () => {}); // another process was faster: the port is taken all the same
  /** @type {number[]} */
  const chosen = [];
  const server = await startRedis((_folder, ports) => {
    chosen.push(ports['main']);
    // Without an address it listens before the call returns, and thus before the server starts.
    if (chosen.length === 1) thief.listen(ports['main']);
    return ['--port', String(ports['main']), '--bind', '127.0.0.1', '--save', ''];
  });
  try {
    assert.equal(chosen.length, 2);
    assert.notEqual(chosen[1], chosen[0]);
    assert.equal(server.address['main'], `127.0.0.1:${chosen[1]}`);
  } finally {
    thief.close();
    process.kill(server.pid, 'SIGKILL');
    await endOf(server);
    for (const each of [server.folder, ...socketFolder(server)]) rmSync(each, { recursive: true });
  }
});

test('a server that exits during start-up is an error with the last lines of its log', async () => {
  await assert.rejects(
    startRedis(() => ['--no-such-option', 'x']),
    (/** @type {any} */ error) => {
      assert.equal(error.code, 'E_TARGET');
      assert.match(error.message, /exited during start-up \(exit code 1\)/);
      assert.match(error.message, /no-such-option/);
      return true;
    },
  );
  const prefix = `dragstrip-${ownerName()}.`;
  assert.deepEqual(
    readdirSync('/tmp').filter((leaf) => leaf.startsWith(prefix)),
    [],
    'nor does it leave a folder of sockets',
  );
});

test('a server that never replies is an error in time, and is not left running', async () => {
  const before = children();
  await assert.rejects(
    // It listens, but not at the port that it was given.
    startRedis((folder) => ['--port', '0', '--unixsocket', join(folder, 'elsewhere.sock')]),
    { code: 'E_TARGET', message: /no reply within 1 s/ },
  );
  assert.deepEqual(children(), before);
});

/** @returns {string[]} pids of this process's children that live */
function children() {
  const { pid } = ownIdentity();
  const list = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  return list.filter((child) => readStartTicks(Number(child)) !== null);
}

test('an aborted start leaves nothing running', async () => {
  const before = children();
  const aborting = new AbortController();
  const starting = startServers(['redis', 'mariadb', 'tarantool'], {
    home,
    packagesHome: PACKAGES_HOME,
    owned: true,
    signal: aborting.signal,
    onEvent: ({ server, step }) => {
      if (server === 'redis' && step === 'ready') aborting.abort(new Error('enough'));
    },
  });
  await assert.rejects(starting, /enough/);
  assert.deepEqual(children(), before);
  const left = readdirSync(join(home, 'servers')).filter((leaf) => /\.\d+\./.test(leaf));
  assert.deepEqual(left, []);
});

const WITH_SOCKET = ['redis', 'mariadb', 'nutcracker', 'haproxy', 'valkey', 'coordinator'];
const SPECIAL = `a b\\c;d'e"f#ä`;

test('every server starts, with its socket, in a long path with special characters', async (t) => {
  await prepareCassandra();
  const top = await makeHome();
  const home = join(top, SPECIAL.padEnd(119 - top.length, 'x'));
  assert.equal(home.length, 120, 'longer than the path of a socket may be');
  chmodSync(top, 0o711); // for the user of servers that root starts
  const names = [];
  for (const name of SERVER_NAMES) {
    if ((await (await loadServer(name)).find(PACKAGES_HOME)) !== null) names.push(name);
    else notChecked(t, `${name} is not fetched`);
  }
  const owned = { home, packagesHome: PACKAGES_HOME, owned: true };
  const { servers, failures, stop } = await startServers(names, owned);
  try {
    assert.deepEqual(failures, []);
    assert.deepEqual(servers.map(({ name }) => name).sort(), names.toSorted());
    for (const { name, address } of servers) {
      assert.equal(address['unix'] !== undefined, WITH_SOCKET.includes(name), name);
      if (address['unix'] === undefined) continue;
      const socket = connect({ path: String(parseEndpoint(address['unix']).path) });
      await once(socket, 'connect');
      socket.destroy();
    }
  } finally {
    await stop();
    rmSync(top, { recursive: true, force: true });
  }
});

const FETCHED = join(PACKAGES_HOME, 'packages', 'mariadb');
const skip = existsSync(FETCHED) ? false : 'MariaDB is not fetched, but installed';

test('MariaDB starts with its packages in a folder with a blank as well', { skip }, async () => {
  const top = await makeHome();
  const home = join(top, 'my work');
  chmodSync(top, 0o711);
  const how = { recursive: true, verbatimSymlinks: true };
  cpSync(FETCHED, join(home, 'packages', 'mariadb'), how);
  const { failures, stop } = await startServers(['mariadb'], { home, owned: true });
  try {
    assert.deepEqual(failures, []);
  } finally {
    await stop();
    rmSync(top, { recursive: true, force: true });
  }
});
