/**
 * The command line in a separate process with an empty state folder, in which the addresses of
 * servers are closed ports unless a test sets them.
 */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommandLine } from '../../cli/main.js';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Port 1 of loopback, which is closed. */
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
 * @param {string} folder the working directory, with the state folder
 * @param {string[]} words `['test.js', '--ops', '5']`: a script of the project and its arguments
 * @param {{ env?: Record<string, string>, limitBlocks?: number, output?: string, prefix?: string[]
 *   }} [options] limitBlocks: maximum file size in blocks of 512 bytes, to simulate a full disk;
 *   output: file for standard output; prefix: program that starts it, with arguments
 * @returns {Started}
 */
export function startCommand(folder, [script, ...args], options = {}) {
  const { env = {}, limitBlocks, output, prefix = [] } = options;
  const settings = Object.fromEntries(
    // Keeps the paths of secrets of the test's servers.
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
    env: { ...settings, ...NO_SERVERS, DRAGSTRIP_HOME: path.join(folder, 'state'), ...env },
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

/** The scripts at the top level and their calls of the command line. */
const SHIMS = Object.freeze({
  'bin/dragstrip.js': {},
  'async_test.js': { name: 'async_test.js', command: 'async' },
  'test.js': { name: 'test.js', command: 'sync' },
  'data/redis.js': { name: 'data/redis.js', command: 'seed', args: ['redis'] },
});

/**
 * The same in this process, to save the start of one: in its folder, with its addresses.
 * @param {string[]} words
 * @returns {Promise<Ended>}
 */
export async function callCommand([script, ...args]) {
  let stdout = '';
  let stderr = '';
  const stream = (/** @type {(text: string) => void} */ write) =>
    /** @type {any} */ (
      Object.assign(new EventEmitter(), { write, isTTY: false, hasColors: () => false })
    );
  // Settings of `npm test`, which commands do not inherit.
  for (const name of Object.keys(process.env)) {
    if (name.startsWith('npm_')) delete process.env[name];
  }
  const shim = SHIMS[/** @type {keyof typeof SHIMS} */ (script)];
  const status = await runCommandLine(args, shim, {
    stdout: stream((text) => {
      stdout += text;
    }),
    stderr: stream((text) => {
      stderr += text;
    }),
  });
  return { status, signal: null, stdout, stderr };
}

/**
 * Like runCommand, in this process: one at a time, and without signals.
 * @param {string} folder
 * @param {string[]} words
 * @param {{ env?: Record<string, string> }} [options]
 * @returns {Promise<Ended>}
 */
export async function callIn(folder, words, { env = {} } = {}) {
  const { cwd, env: outside } = { cwd: process.cwd(), env: process.env };
  process.chdir(folder);
  process.env = { ...outside, ...NO_SERVERS, DRAGSTRIP_HOME: path.join(folder, 'state'), ...env };
  try {
    return await callCommand(words);
  } finally {
    process.env = outside;
    process.chdir(cwd);
  }
}

/**
 * Checks the form of a failure: one line on the error stream with the problem and a hint at an
 * option; no stack trace.
 * @param {Ended} ended
 * @param {number} expected status
 * @param {RegExp} says
 */
export function assertFailure({ status, stderr, stdout }, expected, says) {
  const seen = `status ${status}, it said: ${stderr}${stdout}`;
  assert.equal(status, expected, seen);
  assert.match(stderr, /^dragstrip: [^\n]+\n$/, seen);
  assert.doesNotMatch(stderr, /internal error|\n\s+at |(?<!it is |, not )undefined|\[object/, seen);
  assert.match(stderr, says);
}

/**
 * @param {number} pid
 * @returns {number[]} pids of its children, from /proc, without the shell of lib/taskset.js
 */
export function childrenOf(pid) {
  /** @type {number[]} */
  const children = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (Number(fields[1]) !== pid || fields[0] === 'Z' || stat.includes('(sh)')) continue;
      children.push(Number(name));
    } catch {
      // It ended meanwhile.
    }
  }
  return children;
}

/**
 * @param {number} pid
 * @returns {boolean} whether it runs; zombies do not
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
 * @param {string} what description for the message
 * @param {number} [limitMs]
 * @returns {Promise<NonNullable<T>>} the first non-empty value
 */
export async function eventually(look, what, limitMs = 20_000) {
  for (const startMs = performance.now(); performance.now() - startMs < limitMs; ) {
    const found = await look();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`not within ${limitMs / 1000} s: ${what}`);
}

const TURN_MS = 100;

/**
 * Counts turns of the event loop: a process without a processor has fewer, so that a bound in turns
 * does not fail on a busy machine.
 * @returns {() => number} function that ends it and returns the ms of all turns
 */
export function startTurns() {
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, TURN_MS);
  return () => {
    clearInterval(timer);
    return turns * TURN_MS;
  };
}
