/**
 * A server's process: started detached from the terminal, optionally bound to the lifetime of its
 * owner, and stopped only after verifying that it is still the process that was started.
 */

import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { targetError } from '../lib/errors.js';
import { untilParentDies, whileParentLives } from '../lib/parent-death.js';
import { isAlive, readStartTicks } from '../lib/process-identity.js';
import { asUser } from './unprivileged.js';

/** @typedef {import('../lib/process-identity.js').ProcessIdentity} ProcessIdentity */

const POLL_MS = 10;
const KILL_WAIT_MS = 10_000;

/**
 * Kills a server when its owner dies, without setpriv: the owner holds the other end of standard
 * input. A line means an orderly end; end of file alone means that the owner died. The start time
 * is compared before the signal, because pids are reused.
 */
const WATCHER = `
if read -r farewell; then exit 0; fi
ticks=$(cut -d')' -f2- "/proc/$1/stat" 2>/dev/null | cut -d' ' -f21)
[ "$ticks" = "$2" ] && kill -KILL "$1"
exit 0`;

/**
 * @typedef {object} Launched
 * @property {ProcessIdentity} identity
 * @property {() => string | null} ended `exit code 1` or `signal SIGKILL` after its end, or null
 */

/**
 * @param {{ program: string, args: string[], cwd: string, env: Record<string, string>, logPath:
 *   string, owned: boolean, user?: import('./unprivileged.js').ServerUser, ownership?: 'setpriv' |
 *   'watcher' }} options owned: the process is killed when this one ends in any way; user: other
 *   than that of this process; ownership: mechanism, for tests
 * @returns {Promise<Launched>}
 * @throws {import('../lib/errors.js').DragstripError} E_TARGET if the program cannot be run
 */
export async function launch({ program, args, cwd, env, logPath, owned, user, ownership }) {
  const bySetprivs = ownership !== 'watcher';
  const inner = owned ? whileParentLives(program, args) : /** @type {const} */ ([program, args]);
  const confined = user && bySetprivs ? asUser(user, ...inner, { owned }) : null;
  const bound = confined ?? (owned && bySetprivs ? untilParentDies(...inner) : null);
  const [file, argv] = bound ?? [program, args];
  const log = openSync(logPath, 'a', 0o600);
  // Detached: Ctrl-C reaches only the owner, which then stops its servers cleanly.
  const child = spawn(file, argv, {
    cwd,
    env: { ...baseEnvironment(cwd), ...env },
    detached: true,
    stdio: ['ignore', log, log],
    ...(confined === null && user),
  });
  closeSync(log);
  /** @type {string | null} */
  let end = null;
  child.once('exit', (code, signal) => {
    end = signal === null ? `exit code ${code}` : `signal ${signal}`;
  });
  const failure = await new Promise((done) => {
    child.once('spawn', () => done(null));
    child.once('error', done);
  });
  if (failure !== null || child.pid === undefined) {
    throw targetError(`${program}: start failed: ${failure?.message}`, undefined, failure);
  }
  child.unref();
  const identity = { pid: child.pid, startTicks: readStartTicks(child.pid) ?? 0 };
  if (owned && bound === null) watch(child, identity);
  return { identity, ended: () => end };
}

/** @param {string} folder folder for temporary files of the server */
function baseEnvironment(folder) {
  // Not the whole environment: MYSQL_HOME, TARANTOOL_*, NOTIFY_SOCKET would affect a server.
  return {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    HOME: folder,
    TMPDIR: folder,
    LANG: 'C.UTF-8',
  };
}

/**
 * @param {import('node:child_process').ChildProcess} child
 * @param {ProcessIdentity} identity
 */
function watch(child, { pid, startTicks }) {
  const watcher = spawn('sh', ['-c', WATCHER, 'watcher', String(pid), String(startTicks)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watcher.on('error', () => child.kill('SIGKILL'));
  watcher.stdin.on('error', () => {}); // already gone
  watcher.unref();
  /** @type {import('node:net').Socket} */ (/** @type {unknown} */ (watcher.stdin)).unref();
  child.once('exit', () => watcher.stdin.end('farewell\n'));
}

/**
 * Sends SIGTERM, waits, then kills the process. Another process with the same pid is left alone.
 * @param {ProcessIdentity} identity
 * @param {{ graceMs?: number }} [options] grace period after SIGTERM, 30 s by default
 * @returns {Promise<'gone' | 'ended' | 'killed'>} gone: it had already ended
 * @throws {import('../lib/errors.js').DragstripError} E_TARGET if it cannot be signalled or
 *   killed
 */
export async function endProcess(identity, { graceMs = 30_000 } = {}) {
  if (!isAlive(identity)) return 'gone';
  signalProcess(identity, 'SIGTERM');
  signalProcess(identity, 'SIGCONT'); // a stopped process handles SIGTERM only when continued
  if (await waitForEnd(identity, graceMs)) return 'ended';
  signalProcess(identity, 'SIGKILL');
  if (await waitForEnd(identity, KILL_WAIT_MS)) return 'killed';
  throw targetError(`process ${identity.pid} is still running after SIGKILL`);
}

/**
 * @param {import('../lib/types.js').RunningServer} server
 * @returns {readonly ProcessIdentity[]} its processes: one, or one per node of a cluster
 */
export function processesOf(server) {
  return server.nodes ?? [server];
}

/**
 * @param {import('../lib/types.js').RunningServer} server
 * @returns {boolean} whether any of its processes lives
 */
export function isRunning(server) {
  return processesOf(server).some(isAlive);
}

/**
 * Ends every process of a server, as endProcess does.
 * @param {import('../lib/types.js').RunningServer} server
 * @param {{ graceMs?: number }} [options]
 * @returns {Promise<'gone' | 'ended' | 'killed'>} killed: at least one had to be; gone: all had
 *   already ended
 * @throws {import('../lib/errors.js').DragstripError} E_TARGET if one cannot be signalled or killed
 */
export async function endServer(server, options) {
  const all = processesOf(server).map((one) => endProcess(one, options));
  // Continues with the others if one cannot be ended.
  await Promise.allSettled(all);
  const states = await Promise.all(all);
  return /** @type {const} */ (['killed', 'ended']).find((one) => states.includes(one)) ?? 'gone';
}

/**
 * @param {ProcessIdentity} identity
 * @param {NodeJS.Signals} signal
 */
function signalProcess(identity, signal) {
  if (!isAlive(identity)) return;
  try {
    process.kill(identity.pid, signal);
  } catch (error) {
    if (error.code === 'ESRCH') return;
    throw targetError(
      `process ${identity.pid} cannot be signalled: ${error.code}`,
      'stop it as the user who started it',
    );
  }
}

/**
 * @param {ProcessIdentity} identity
 * @param {number} limitMs
 */
async function waitForEnd(identity, limitMs) {
  for (let waitedMs = 0; waitedMs < limitMs; waitedMs += POLL_MS) {
    if (!isAlive(identity)) return true;
    await sleep(POLL_MS);
  }
  return !isAlive(identity);
}

/**
 * @param {string} path
 * @param {number} [count]
 * @returns {string} its last lines; empty if unreadable
 */
export function lastLines(path, count = 5) {
  try {
    return readFileSync(path, 'utf8').trimEnd().split('\n').slice(-count).join('\n');
  } catch {
    return '';
  }
}
