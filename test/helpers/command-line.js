/**
 * The command line as its users meet it: a process of its own with an empty state folder, in which
 * every server's address leads nowhere unless a test gives another.
 */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommandLine } from '../../cli/main.js';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Port 1 of loopback, where nothing listens. */
const NOWHERE = '127.0.0.1:1';
export const NO_SERVERS = Object.freeze({
  DRAGSTRIP_REDIS: NOWHERE,
  DRAGSTRIP_MYSQL: NOWHERE,
  DRAGSTRIP_HANDLERSOCKET: NOWHERE,
  DRAGSTRIP_HANDLERSOCKET_WRITE: NOWHERE,
  DRAGSTRIP_TARANTOOL: NOWHERE,
  DRAGSTRIP_CASSANDRA: NOWHERE,
  DRAGSTRIP_REDIS_CLUSTER: NOWHERE,
});

/**
 * @typedef {object} Ended
 * @property {number | null} status
 * @property {NodeJS.Signals | null} signal
 * @property {string} stdout
 * @property {string} stderr
 *
 * @typedef {object} Started
 * @property {import('node:child_process').ChildProcess} child
 * @property {Promise<Ended>} ended
 * @property {() => string} stdout so far
 */

/**
 * @param {string} folder the working directory, where the state folder is made too
 * @param {string[]} words `['test.js', '--ops', '5']`: a script of the project and its arguments
 * @param {{ env?: Record<string, string>, limitBlocks?: number, output?: string,
 *   prefix?: string[] }} [options]
 *   limitBlocks: no file may grow beyond so many blocks of 512 bytes, as on a full disk; output: a
 *   file that standard output goes to; prefix: the program that starts it, with its arguments
 * @returns {Started}
 */
export function startCommand(folder, [script, ...args], options = {}) {
  const { env = {}, limitBlocks, output, prefix = [] } = options;
  const own = Object.fromEntries(
    // The paths of the secrets of the test's own servers stay.
    Object.entries(process.env).filter(
      ([name]) => name.endsWith('_FILE') || !/^(DRAGSTRIP|NODE_TEST|npm_)/.test(name),
    ),
  );
  const node = [...prefix, process.execPath, path.join(ROOT, script), ...args];
  const limit = limitBlocks === undefined ? '' : `ulimit -f ${limitBlocks};`;
  const redirect = output === undefined ? '' : `> ${output}`;
  const shell = ['/bin/sh', '-c', `${limit} exec "$@" ${redirect}`, 'sh', ...node];
  const [program, ...rest] = limit + redirect === '' ? node : shell;
  const child = spawn(program, rest, {
    cwd: folder,
    env: { ...own, ...NO_SERVERS, DRAGSTRIP_HOME: path.join(folder, 'state'), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text) => {
    stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  const ended = new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status, signal) => resolve({ status, signal, stdout, stderr }));
  });
  return { child, ended, stdout: () => stdout };
}

/**
 * @param {string} folder
 * @param {string[]} words
 * @param {Parameters<typeof startCommand>[2]} [options]
 * @returns {Promise<Ended>}
 */
export function runCommand(folder, words, options) {
  return startCommand(folder, words, options).ended;
}

/** The scripts at the top level, as they call the command line themselves. */
const SHIMS = Object.freeze({
  'bin/dragstrip.js': {},
  'async_test.js': { name: 'async_test.js', command: 'async' },
  'test.js': { name: 'test.js', command: 'sync' },
  'data/redis.js': { name: 'data/redis.js', command: 'seed', args: ['redis'] },
});

/**
 * The same in this process, some hundred times as fast: for what ends before a server or a
 * benchmark is touched.
 * @param {string[]} words
 * @returns {Promise<Ended>}
 */
export async function callCommand([script, ...args]) {
  let stdout = '';
  let stderr = '';
  const sink = (/** @type {(text: string) => void} */ write) =>
    /** @type {any} */ (
      Object.assign(new EventEmitter(), { write, isTTY: false, hasColors: () => false })
    );
  // Settings of the `npm test` that this process may be of: a command of its own gets none either.
  for (const name of Object.keys(process.env)) {
    if (name.startsWith('npm_')) delete process.env[name];
  }
  const shim = SHIMS[/** @type {keyof typeof SHIMS} */ (script)];
  const status = await runCommandLine(args, shim, {
    stdout: sink((text) => {
      stdout += text;
    }),
    stderr: sink((text) => {
      stderr += text;
    }),
  });
  return { status, signal: null, stdout, stderr };
}

/**
 * Checks the form of a failure: one line on the error stream, which says what and which option
 * helps; no stack trace.
 * @param {Ended} ended
 * @param {number} expected status
 * @param {RegExp} says
 */
export function assertFailure({ status, stderr, stdout }, expected, says) {
  const seen = `status ${status}, it said: ${stderr}${stdout}`;
  assert.equal(status, expected, seen);
  assert.match(stderr, /^dragstrip: [^\n]+\n$/, seen);
  assert.doesNotMatch(stderr, /internal error|\n\s+at |(?<!it is )undefined|\[object/, seen);
  assert.match(stderr, says);
}

/**
 * @param {number} pid
 * @returns {number[]} pids of its children, as /proc shows them
 */
export function childrenOf(pid) {
  /** @type {number[]} */
  const children = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (Number(fields[1]) === pid && fields[0] !== 'Z') children.push(Number(name));
    } catch {
      // It ended while we looked.
    }
  }
  return children;
}

/**
 * @param {number} pid
 * @returns {boolean} whether it runs; a process that waits to be collected does not
 */
export function isRunning(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return !/^ [ZX]/.test(stat.slice(stat.lastIndexOf(')') + 1));
  } catch {
    return false;
  }
}

/**
 * @template T
 * @param {() => T | Promise<T>} look
 * @param {string} what for the message
 * @param {number} [limitMs]
 * @returns {Promise<NonNullable<T>>} the first answer that is not empty
 */
export async function eventually(look, what, limitMs = 20_000) {
  for (const startMs = performance.now(); performance.now() - startMs < limitMs; ) {
    const found = await look();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`not within ${limitMs / 1000} s: ${what}`);
}
