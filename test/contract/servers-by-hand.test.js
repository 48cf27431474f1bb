/**
 * The lines of `servers command`, run by a shell in a state folder whose path has a blank and a
 * quote, each twice; then the server is loaded and read by both runners. Only the ports are moved,
 * since the default ones may be taken on the machine that tests.
 */
// Needs: redis, mariadb, tarantool, nutcracker

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import getPort from 'get-port';
import { fetchServers, loadServer } from '../../servers/index.js';
import { runCommand as runNode } from '../helpers/command-line.js';
import { makeHome, PACKAGES_HOME } from '../helpers/servers.js';

/** @typedef {import('../../lib/types.js').Address} Address */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

let folder = '';
let home = '';

before(async () => {
  folder = await makeHome();
  home = join(folder, "by hand's");
  mkdirSync(home);
  symlinkSync(join(PACKAGES_HOME, 'packages'), join(home, 'packages'));
  const { failures } = await fetchServers(['redis', 'mariadb', 'tarantool'], {
    home: PACKAGES_HOME,
  });
  assert.deepEqual(failures, []);
});

after(() => rmSync(folder, { recursive: true, force: true }));

/**
 * Runs the printed line in a shell, waits until the server answers, does the work, ends it.
 * @param {{ name: string, more?: string[], env?: Record<string, string>, address: Address }} server
 *   more: arguments after the printed ones
 * @param {() => Promise<void>} [work]
 */
async function runByHand({ name, more = [], env, address }, work) {
  const variables = { DRAGSTRIP_HOME: home, ...env };
  const printed = await runNode(folder, ['bin/dragstrip.js', 'servers', 'command', name], {
    env: variables,
  });
  assert.equal(printed.status, 0, printed.stderr);
  const log = openSync(join(folder, `${name}.log`), 'a');
  const child = spawn('sh', ['-c', [printed.stdout.trim(), ...more].join(' ')], {
    cwd: '/',
    env: { ...process.env, ...variables },
    stdio: ['ignore', log, log],
  });
  const exited = once(child, 'exit');
  /** @type {number | null} */
  let pid = null;
  try {
    const { probe } = await loadServer(name);
    while (pid === null) {
      ({ pid } = await probe(address, {}).catch(() => ({ pid: null })));
      assert.equal(child.exitCode, null, readFileSync(join(folder, `${name}.log`), 'utf8'));
      await sleep(20);
    }
    await work?.();
  } finally {
    if (pid === null) child.kill();
    else process.kill(pid, 'SIGTERM');
    await exited;
  }
}

/**
 * The README's next steps: the loader, then both runners, every reply verified.
 * @param {string} loader
 * @param {string} storage
 * @param {Record<string, { port: number }>} flags addresses
 */
async function loadAndRead(loader, storage, flags) {
  const where = Object.entries(flags).flatMap(([flag, { port }]) => [
    `--${flag}`,
    `127.0.0.1:${port}`,
  ]);
  const few = ['--ops', '300', '--warmup', '50', '--storages', storage];
  const steps = [
    [`data/${loader}.js`, '--rows', '200'],
    ['async_test.js', '--rows', '200', ...few],
    ['test.js', '--rows', '200', ...few],
  ];
  for (const [script, ...words] of steps) {
    const { status, stdout, stderr } = await runNode(folder, [script, ...words, ...where]);
    assert.equal(status, 0, `${script}: ${stderr}`);
    if (!script.startsWith('data/')) assert.match(stdout, /^Test finished: 300 ops, /m);
  }
}

test('the files have the default ports of the original program', () => {
  /** @param {string} file @param {RegExp} line */
  const has = (file, line) => assert.match(readFileSync(join(ROOT, file), 'utf8'), line);
  has('redis.conf', /^port 6379$/m);
  has('my.cnf', /^port = 3306$/m);
  has('my.cnf', /^handlersocket_port = 9998$/m);
  has('my.cnf', /^handlersocket_port_wr = 9999$/m);
  has('box.lua', /'127\.0\.0\.1:3301'/);
});

test('the command for redis starts it, also a second time, and leaves nothing on disk', async () => {
  const port = await getPort({ host: '127.0.0.1' });
  const address = { main: { host: '127.0.0.1', port } };
  const server = { name: 'redis', more: ['--port', String(port)], address };
  await runByHand(server);
  await runByHand(server, () => loadAndRead('redis', 'ioredis', { redis: { port } }));
  assert.equal(existsSync(join(home, 'by-hand', 'dump.rdb')), false);
});

test('the command for tarantool starts it, also a second time, with the rows of the first', async () => {
  const port = await getPort({ host: '127.0.0.1' });
  const server = {
    name: 'tarantool',
    env: { DRAGSTRIP_BOX_LISTEN: `127.0.0.1:${port}` },
    address: { main: { host: '127.0.0.1', port } },
  };
  // @ts-expect-error the driver has no types
  const { default: Tarantool } = await import('tarantool-driver');
  /** @param {(client: any) => Promise<unknown>} work */
  const ask = async (work) => {
    const client = new Tarantool({ host: '127.0.0.1', port, lazyConnect: true });
    await client.connect();
    const reply = await work(client);
    client.disconnect();
    return reply;
  };
  await runByHand(server, async () => {
    await ask((client) => client.call('dragstrip_load', [[7, 'seven']]));
  });
  await runByHand(server, async () => {
    const rows = await ask((client) => client.select('dragstrip_rows', 0, 1, 0, 'eq', [7]));
    assert.deepEqual(rows, [[7, 'seven']]);
    await ask((client) => client.call('dragstrip_reset'));
    await loadAndRead('tarantool', 'tarantool', { tarantool: { port } });
  });
  assert.ok(existsSync(join(home, 'by-hand', 'tarantool')));
});

test('the command for mariadb creates its tables and starts it, also a second time', async () => {
  const [sql, read, write] = await Promise.all(
    [1, 2, 3].map(async () => ({ host: '127.0.0.1', port: await getPort({ host: '127.0.0.1' }) })),
  );
  const ports = { port: sql, 'handlersocket-port': read, 'handlersocket-port-wr': write };
  const more = Object.entries(ports).map(([name, { port }]) => `--${name}=${port}`);
  // A temporary table of another server of this user, which a mariadbd with that folder removes.
  const temporary = join(folder, 'temporary');
  const table = join(temporary, '#sql-temptable-1-1-1.MAI');
  mkdirSync(temporary);
  writeFileSync(table, '');
  const env = { TMPDIR: temporary };
  const server = { name: 'mariadb', more, env, address: { sql, read, write } };
  await runByHand(server);
  assert.ok(existsSync(table));
  const flags = { mysql: sql, handlersocket: read, 'handlersocket-write': write };
  await runByHand(server, () => loadAndRead('mysql', 'manual-hs', flags));
  assert.ok(existsSync(join(home, 'by-hand', 'mariadb', 'mysql')));
});

test('a server that needs generated settings has no command, with a hint', async () => {
  const args = ['bin/dragstrip.js', 'servers', 'command', 'nutcracker'];
  const { status, stderr } = await runNode(folder, args);
  assert.equal(status, 2);
  assert.match(stderr, /^dragstrip: .*servers start nutcracker`?$/m);
});
