/**
 * redis.conf, my.cnf and box.lua by hand, as the README starts them, each twice; then loaded
 * and read by both runners. Only the ports are moved, since the default ones may be taken on the
 * machine that tests.
 */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import getPort from 'get-port';
import { runCommand } from '../../servers/command.js';
import { fetchServers, loadServer } from '../../servers/index.js';
import { runCommand as runNode } from '../helpers/command-line.js';
import { makeHome, PACKAGES_HOME } from '../helpers/servers.js';

/** @typedef {import('../../lib/types.js').Address} Address */
/** @typedef {import('../../lib/types.js').Binaries} Binaries */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FILES = ['redis.conf', 'my.cnf', 'box.lua'];

let folder = '';

before(async () => {
  folder = await makeHome();
  for (const file of FILES) copyFileSync(join(ROOT, file), join(folder, file));
  const { failures } = await fetchServers(['redis', 'mariadb', 'tarantool'], {
    home: PACKAGES_HOME,
  });
  assert.deepEqual(failures, []);
});

after(() => rmSync(folder, { recursive: true, force: true }));

/** @param {string} name */
async function binariesOf(name) {
  const binaries = await (await loadServer(name)).find(PACKAGES_HOME);
  assert.ok(binaries !== null);
  return binaries;
}

/**
 * Starts a server in the folder of the files, waits until it answers, does the work, ends it.
 * @param {{ name: string, program: string, args: string[], env?: Record<string, string>,
 *   address: Address, end: NodeJS.Signals, binaries: Binaries }} server
 * @param {() => Promise<void>} [work]
 */
async function runByHand({ name, program, args, env, address, end, binaries }, work) {
  const log = openSync(join(folder, `${name}.log`), 'a');
  const child = spawn(binaries.programs[program], args, {
    cwd: folder,
    env: { ...process.env, ...binaries.env, ...env },
    stdio: ['ignore', log, log],
  });
  const exited = once(child, 'exit');
  try {
    const { probe } = await loadServer(name);
    for (;;) {
      const report = await probe(address, {}).catch((error) => error);
      if (report.pid === child.pid) break;
      assert.equal(child.exitCode, null, readFileSync(join(folder, `${name}.log`), 'utf8'));
      await sleep(20);
    }
    await work?.();
  } finally {
    child.kill(end);
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
  const steps = [
    [`data/${loader}.js`, '--rows', '200'],
    ['async_test.js', '--rows', '200', '--ops', '300', '--storages', storage],
    ['test.js', '--rows', '200', '--ops', '300', '--storages', storage],
  ];
  for (const [script, ...words] of steps) {
    const { status, stdout, stderr } = await runNode(folder, [script, ...words, ...where]);
    assert.equal(status, 0, `${script}: ${stderr}`);
    if (!script.startsWith('data/')) assert.match(stdout, /^Test finished: 300 ops, /m);
  }
}

test('the files have the default ports of the seed', () => {
  /** @param {string} file @param {RegExp} line */
  const has = (file, line) => assert.match(readFileSync(join(ROOT, file), 'utf8'), line);
  has('redis.conf', /^port 6379$/m);
  has('my.cnf', /^port = 3306$/m);
  has('my.cnf', /^handlersocket_port = 9998$/m);
  has('my.cnf', /^handlersocket_port_wr = 9999$/m);
  has('box.lua', /'127\.0\.0\.1:3301'/);
});

test('redis-server redis.conf starts, a second time too, and leaves nothing on disk', async () => {
  const port = await getPort({ host: '127.0.0.1' });
  const server = {
    name: 'redis',
    program: 'redis-server',
    args: ['redis.conf', '--port', String(port)],
    address: { main: { host: '127.0.0.1', port } },
    end: /** @type {const} */ ('SIGINT'),
    binaries: await binariesOf('redis'),
  };
  await runByHand(server);
  await runByHand(server, () => loadAndRead('redis', 'ioredis', { redis: { port } }));
  assert.equal(existsSync(join(folder, 'dump.rdb')), false);
});

test('tarantool box.lua starts, a second time too, with the rows of the first', async () => {
  const port = await getPort({ host: '127.0.0.1' });
  const server = {
    name: 'tarantool',
    program: 'tarantool',
    args: ['box.lua'],
    env: { DRAGSTRIP_BOX_LISTEN: `127.0.0.1:${port}`, DRAGSTRIP_HOME: '' },
    address: { main: { host: '127.0.0.1', port } },
    end: /** @type {const} */ ('SIGINT'),
    binaries: await binariesOf('tarantool'),
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
  assert.ok(existsSync(join(folder, '.dragstrip', 'by-hand', 'tarantool')));
});

test('mariadbd --defaults-file=my.cnf starts with its tables, a second time too', async () => {
  const binaries = await binariesOf('mariadb');
  const [sql, read, write] = await Promise.all(
    [1, 2, 3].map(async () => ({ host: '127.0.0.1', port: await getPort({ host: '127.0.0.1' }) })),
  );
  const base = dirname(dirname(binaries.programs['mariadbd']));
  const moved = [`--handlersocket-port=${read.port}`, `--handlersocket-port-wr=${write.port}`];
  const user = process.getuid?.() === 0 ? ['--user=root'] : [];
  const own = binaries.source === 'fetched' ? [`--basedir=${base}`] : [];
  const plugins =
    binaries.source === 'fetched'
      ? [`--plugin-dir=${base}/lib/mysql/plugin`, `--lc-messages-dir=${base}/share/mysql`]
      : [];
  mkdirSync(join(folder, '.dragstrip', 'by-hand'), { recursive: true });
  const install = [
    '--defaults-file=my.cnf',
    '--auth-root-authentication-method=normal',
    '--skip-test-db',
    '--skip-name-resolve',
  ];
  for (const time of ['first', 'second']) {
    const { ok, output } = await runCommand(
      binaries.programs['mariadb-install-db'],
      [...install, ...own, ...plugins, ...moved, ...user],
      { cwd: folder, env: binaries.env },
    );
    assert.ok(ok, `${time}: ${output}`);
    const server = {
      name: 'mariadb',
      program: 'mariadbd',
      args: ['--defaults-file=my.cnf', ...own, ...plugins, `--port=${sql.port}`, ...moved, ...user],
      address: { sql, read, write },
      end: /** @type {const} */ ('SIGTERM'),
      binaries,
    };
    const flags = { mysql: sql, handlersocket: read, 'handlersocket-write': write };
    await runByHand(server, async () => {
      if (time === 'second') await loadAndRead('mysql', 'manual-hs', flags);
    });
  }
  assert.ok(existsSync(join(folder, '.dragstrip', 'by-hand', 'mariadb', 'mysql')));
});
