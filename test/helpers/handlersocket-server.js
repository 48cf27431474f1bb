/**
 * A private MariaDB for tests with special settings, a restart on the same data, or a crash. For
 * other tests use withServers of servers.js.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import getPort from 'get-port';
import { createConnection } from 'mysql2/promise';
import mariadb, { baseFolder, installData } from '../../servers/mariadb.js';
import { launch } from '../../servers/process.js';
import { makeHome, PACKAGES_HOME } from './servers.js';

const START_TIMEOUT_MS = 60_000;

/**
 * @typedef {object} PrivateServer
 * @property {number} port SQL, user root without a password
 * @property {number} read HandlerSocket's ports
 * @property {number} write
 * @property {() => number} pid
 * @property {(signal?: NodeJS.Signals) => Promise<void>} kill SIGKILL; resolves when it has ended
 * @property {() => Promise<void>} pause SIGSTOP; resolves when every thread has stopped
 * @property {() => void} resume
 * @property {() => Promise<void>} start restart with the same ports and data
 * @property {() => Promise<import('mysql2/promise').Connection>} sql a connection, to be closed by
 *   the caller
 * @property {() => Promise<void>} stop stop it and remove its folder
 */

/**
 * @param {{ settings?: Record<string, string | number>, sockets?: boolean }} [options] settings:
 *   settings of mysqld by name; sockets: HandlerSocket listens on unix sockets in the folder
 *   (read.sock …)
 * @returns {Promise<PrivateServer & { folder: string }>}
 */
export async function startMariadb({ settings = {}, sockets = false } = {}) {
  const folder = await makeHome();
  const binaries = await findBinaries();
  const { programs, env } = binaries;
  const base = baseFolder(binaries);
  const root = process.getuid?.() === 0 ? ['--user=root'] : [];
  const data = join(folder, 'data');
  await installData({ binaries }, base, folder);
  const [port, read, write] = [await getPort(), await getPort(), await getPort()];
  const defaults = {
    'plugin-maturity': 'beta',
    'plugin-load-add': 'handlersocket.so',
    handlersocket_address: sockets ? '/' : '127.0.0.1',
    handlersocket_port: sockets ? join(folder, 'read.sock') : read,
    handlersocket_port_wr: sockets ? join(folder, 'write.sock') : write,
    handlersocket_plain_secret: '',
    handlersocket_plain_secret_wr: '',
    handlersocket_threads: 2,
    'character-set-server': 'utf8mb4',
    innodb_flush_log_at_trx_commit: 2,
    innodb_buffer_pool_size: '64M',
    ...settings,
  };
  const args = [
    ...['--no-defaults', '--bind-address=127.0.0.1', `--port=${port}`, '--skip-name-resolve'],
    ...['--skip-log-bin', '--performance-schema=OFF', '--innodb-log-file-size=8M'],
    ...[`--datadir=${data}`, '--socket=mysql.sock', `--tmpdir=${folder}`, ...root],
    ...(base === null
      ? []
      : [
          ...[`--basedir=${base}`, `--plugin-dir=${join(base, 'lib/mysql/plugin')}`],
          `--lc-messages-dir=${base}/share/mysql`,
        ]),
    ...Object.entries(defaults).map(([name, value]) => `--${name}=${value}`),
  ];
  /** @type {import('../../servers/process.js').Launched | undefined} */
  let launched;
  const pid = () => launched?.identity.pid ?? 0;
  const sql = () => createConnection({ host: '127.0.0.1', port, user: 'root' });
  async function start() {
    const program = programs['mariadbd'];
    const logPath = join(folder, 'mysqld.log');
    // Owned: it ends with this process in any way.
    launched = await launch({ program, args, cwd: folder, env, logPath, owned: true });
    await answers(sql, launched);
  }
  /** @param {NodeJS.Signals} [signal] */
  async function kill(signal = 'SIGKILL') {
    if (launched === undefined || launched.ended() !== null) return;
    process.kill(pid(), signal);
    while (launched.ended() === null) await sleep(2);
  }
  async function pause() {
    process.kill(pid(), 'SIGSTOP');
    const folder = `/proc/${pid()}/task`;
    const states = () =>
      readdirSync(folder).map((task) =>
        readFileSync(`${folder}/${task}/stat`, 'latin1')
          .replace(/^.*\) /, '')
          .charAt(0),
      );
    while (!states().every((state) => state === 'T')) await sleep(1);
  }
  async function stop() {
    await kill();
    await rm(folder, { recursive: true, force: true });
  }

  try {
    await start();
  } catch (error) {
    await stop();
    throw error;
  }
  const resume = () => process.kill(pid(), 'SIGCONT');
  return { folder, port, read, write, pid, kill, pause, resume, start, sql, stop };
}

async function findBinaries() {
  const programs = await mariadb.find(PACKAGES_HOME);
  if (programs !== null) return programs;
  const { startServers } = await import('../../servers/index.js');
  // Not on PATH and not fetched yet, so a start fetches it.
  const home = await makeHome();
  const started = await startServers(['mariadb'], {
    home,
    packagesHome: PACKAGES_HOME,
    owned: true,
  });
  await started.stop();
  await rm(home, { recursive: true, force: true });
  const fetched = await mariadb.find(PACKAGES_HOME);
  if (fetched === null) throw new Error('MariaDB cannot be found, nor fetched');
  return fetched;
}

/**
 * @param {() => Promise<import('mysql2/promise').Connection>} sql
 * @param {import('../../servers/process.js').Launched} launched
 */
async function answers(sql, launched) {
  const overdue = AbortSignal.timeout(START_TIMEOUT_MS);
  for (;;) {
    try {
      const connection = await sql();
      await connection.query('SELECT 1');
      await connection.end();
      return;
    } catch (error) {
      if (launched.ended() !== null || overdue.aborted) throw error;
      await sleep(20);
    }
  }
}
