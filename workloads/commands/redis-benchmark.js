/**
 * redis-benchmark, the load generator of Redis, as a baseline: one command over the same
 * connections as Dragstrip's benchmark, and its figures. It reads replies without verifying them.
 * Not for loading other data: it only gets commands on Dragstrip's keys.
 */

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';

/** @typedef {import('../../lib/types.js').Endpoint} Endpoint */

/** It reconnects forever to a server that refuses connections, so the run has a time limit. */
export const BENCHMARK_SECONDS_MAX = 60;
const OUTPUT_CHARS_MAX = 65_536;

/**
 * @typedef {object} BenchmarkProgram
 * @property {string} program path of the program
 * @property {string} [libraries] LD_LIBRARY_PATH for it
 *
 * @typedef {object} BenchmarkShape
 * @property {Endpoint} endpoint
 * @property {number} requests
 * @property {number} clients connections, each with one request in flight
 * @property {number} keyspace `__rand_int__` in a word is a number below it, with twelve digits
 * @property {boolean} keepAlive
 * @property {number} [pipeline] requests in flight per connection; absent: 1
 * @property {readonly string[] | 'ping_inline'} words words of the command
 * @property {{ user: string, password: string }} [login] visible to other users while it runs
 *
 * @typedef {object} BenchmarkFigures
 * @property {number} perSecond
 * @property {number | null} meanNs null: not reported before version 6.2
 * @property {number | null} p50Ns from the first byte of a request, without connecting
 * @property {number | null} p99Ns
 */

const PROGRAM = 'DRAGSTRIP_REDIS_BENCHMARK';
const LIBRARIES = 'DRAGSTRIP_REDIS_BENCHMARK_LIBRARIES';

/**
 * Benchmark processes read its path from the environment, because paths are not part of a result.
 * @param {NodeJS.ProcessEnv} env
 * @returns {BenchmarkProgram | null}
 */
export function programOf(env) {
  const program = env[PROGRAM];
  if (program === undefined || program === '') return null;
  return { program, ...(env[LIBRARIES] && { libraries: env[LIBRARIES] }) };
}

/**
 * @param {BenchmarkProgram} tool
 * @param {NodeJS.ProcessEnv} env changed in place
 */
export function rememberProgram({ program, libraries }, env) {
  env[PROGRAM] = program;
  if (libraries === undefined) delete env[LIBRARIES];
  else env[LIBRARIES] = libraries;
}

/**
 * @param {BenchmarkShape} shape
 * @returns {string[]}
 */
export function benchmarkArgs(shape) {
  const { endpoint, requests, clients, keyspace, keepAlive, pipeline = 1, words, login } = shape;
  const { host, port, path } = endpoint;
  return [
    ...(path === undefined ? ['-h', host, '-p', String(port)] : ['-s', path]),
    ...(login === undefined ? [] : ['--user', login.user, '-a', login.password]),
    ...['-n', String(requests), '-c', String(clients), '-r', String(keyspace)],
    ...['-k', keepAlive ? '1' : '0', ...(pipeline > 1 ? ['-P', String(pipeline)] : []), '--csv'],
    ...(words === 'ping_inline' ? ['-t', words] : words),
  ];
}

/** Reason why it does not run through a proxy that requires the password of Redis. */
export const PASSWORD_NEEDED =
  'it accepts a password only as an argument, which other users can read, and the proxy accepts no other ' +
  'than that of Redis; with --setup Redis needs none of a proxy';

/**
 * It accepts a password only as an argument. Therefore it gets a temporary user without access to
 * other keys and without administrative or dangerous commands.
 * @template T
 * @param {(words: readonly string[]) => Promise<unknown>} send sends a command to the server, with
 *   full access
 * @param {string} prefix prefix of the accessible keys
 * @param {(login: { user: string, password: string }) => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withTemporaryUser(send, prefix, work) {
  const login = {
    user: `dragstrip-benchmark-${randomBytes(4).toString('hex')}`,
    password: randomBytes(24).toString('hex'),
  };
  const rights = [`~${prefix}*`, '+@all', '-@admin', '-@dangerous', '+config|get'];
  await send(['ACL', 'SETUSER', login.user, 'reset', 'on', `>${login.password}`, ...rights]);
  try {
    return await work(login);
  } finally {
    await send(['ACL', 'DELUSER', login.user]);
  }
}

/** Columns of its CSV, with their names here. */
const COLUMNS = Object.freeze({
  rps: ['perSecond', 1],
  avg_latency_ms: ['meanNs', 1e6],
  p50_latency_ms: ['p50Ns', 1e6],
  p99_latency_ms: ['p99Ns', 1e6],
});

/** It counts whole milliseconds, and may divide by zero. */
const TOO_SHORT = 'it ended within a millisecond, which it cannot measure: increase --requests';

/**
 * @param {string} text output with --csv: a line of names and a line of figures; before version 6.2
 *   only name and requests per second
 * @returns {BenchmarkFigures | null} figures of the last line; null: no figures
 */
export function parseBenchmark(text) {
  const lines = text.split(/\r?\n/).filter((line) => line.startsWith('"'));
  // A name is the unescaped command, so it may contain quotes and commas.
  const rows = lines.map((line) => line.replace(/^"|"\s*$/g, '').split('","'));
  const head = rows.find((row) => row.includes('rps')) ?? ['test', 'rps'];
  const last = rows.filter((row) => row !== head).at(-1);
  /** @type {Record<string, number | null>} */
  const figures = { perSecond: null, meanNs: null, p50Ns: null, p99Ns: null };
  for (const [i, name] of head.entries()) {
    const known = /** @type {Record<string, any>} */ (COLUMNS)[name];
    const value = Number(last?.[i]);
    if (known !== undefined && last?.[i] !== undefined && Number.isFinite(value)) {
      // Rounded, since three decimals of a millisecond are whole nanoseconds.
      figures[known[0]] = known[1] === 1 ? value : Math.round(value * known[1]);
    }
  }
  const { perSecond } = figures;
  return perSecond === null || perSecond <= 0 ? null : /** @type {any} */ (figures);
}

/**
 * @param {BenchmarkProgram} tool
 * @param {BenchmarkShape} shape
 * @returns {Promise<{ figures: BenchmarkFigures | null, failure: string | null }>} failure: its
 *   message
 */
export function runBenchmark({ program, libraries }, shape) {
  // timeout(1) ends it even if this process is killed.
  const limit = ['--kill-after=1', String(BENCHMARK_SECONDS_MAX), program];
  return new Promise((resolve) => {
    const child = spawn('timeout', [...limit, ...benchmarkArgs(shape)], {
      env: { ...process.env, ...(libraries && { LD_LIBRARY_PATH: libraries }), LC_ALL: 'C' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const kill = () => child.kill();
    process.once('exit', kill);
    let out = '';
    let output = '';
    child.stdout.on('data', (chunk) => {
      if (out.length < OUTPUT_CHARS_MAX) out += chunk;
    });
    child.stderr.on('data', (chunk) => {
      if (output.length < OUTPUT_CHARS_MAX) output += chunk;
    });
    const end = (/** @type {string | null} */ failure) => {
      process.off('exit', kill);
      resolve({ figures: failure === null ? parseBenchmark(out) : null, failure });
    };
    child.once('error', (error) => end(error.message));
    child.once('close', (status) => {
      if (status === 0 && parseBenchmark(out) !== null) end(null);
      else if (status === 0 && out.includes('"inf"')) end(TOO_SHORT);
      else if (status === 124) end(`it did not end within ${BENCHMARK_SECONDS_MAX} s`);
      else end(lastWords(output) ?? `it ended with status ${status}`);
    });
  });
}

/**
 * @param {string} output
 * @returns {string | null} its last line that is not a warning
 */
function lastWords(output) {
  const lines = output.split('\n').filter((line) => line.trim() !== '' && !/^WARNING/.test(line));
  return lines.at(-1)?.trim() ?? null;
}
