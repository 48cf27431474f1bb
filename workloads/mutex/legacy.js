/**
 * Legacy output: Test 1 and Test 2 in the table format of Ruby's Benchmark, stress with one line
 * per process.
 */

import { NONE, plainText } from '../../lib/format.js';
import { byLabel, lockRow, toLockRows } from './analysis.js';

/** @typedef {import('../../lib/result.js').Result} Result */
/** @typedef {import('./analysis.js').LockRow} LockRow */

/** @param {LockRow} row */
export function titleOfLock({ source }) {
  const { operations, inFlight } = source.load;
  return `lock/unlock ${operations} times with concurrency: ${inFlight}`;
}

/** @param {LockRow} row */
export function titleOfCount(row) {
  return `${whatIsCounted(row)}, tasks: ${row.source.load.inFlight}`;
}

/** @param {LockRow} row */
function whatIsCounted({ source }) {
  const seconds = (source.load.durationNs ?? 0) / 1e9;
  return `lock/write/incr/read/del/unlock in ${seconds} seconds + cooldown period`;
}

/** Widths of Ruby's Benchmark. */
const CAPTION = '      user     system      total        real';
const FIGURE = 10;

/**
 * The lines of one test, all kinds of lock.
 * @param {Result} result
 * @param {'lock' | 'count'} test
 * @returns {string[]} empty if it was not measured
 */
export function legacyLinesOf(result, test) {
  const rows = toLockRows(result, test);
  if (rows.length === 0) return [];
  const title = test === 'lock' ? titleOfLock(rows[0]) : `${whatIsCounted(rows[0])}:`;
  const width = test === 'lock' ? 14 : 16;
  const lines = [test === 'lock' ? 'Test 1' : 'Test 2'];
  for (const { label, rows: own } of byLabel(rows)) {
    const version = `Version: ${versionOf(own, result)}, handler: ${label}`;
    lines.push('', plainText(version), title, `${' '.repeat(width)}${CAPTION}`);
    lines.push(...own.map((row) => legacyLine(row, test, width)));
  }
  return lines;
}

/**
 * @param {readonly LockRow[]} rows rows of one kind of lock
 * @param {Result} result
 * @returns {string} version of the package of the lock, or of the server for its own lock
 */
function versionOf(rows, { dragstrip, servers = [], storages = [] }) {
  const [{ source, package: name, packageVersion }] = rows;
  if (name === 'dragstrip') return dragstrip ?? UNKNOWN;
  if (packageVersion !== null) return `${name} ${packageVersion}`;
  const storage = storages.find((one) => one.name === source.storage);
  const server = servers.find((one) => one.name === storage?.server);
  return server?.version ? `${server.name} ${server.version}` : UNKNOWN;
}

/** In the wording of the original program. */
const UNKNOWN = 'N/A';

/**
 * @param {readonly Result['benchmarks'][number][]} benchmarks benchmarks of stress, one round each
 * @returns {string[]} one line per process, by end time
 */
export function processLines(benchmarks) {
  return benchmarks.flatMap(({ rounds }) => {
    const metrics = rounds.at(-1)?.metrics ?? {};
    const list = (/** @type {string} */ name) => /** @type {number[]} */ (metrics[name] ?? []);
    const [oks, failures] = [list('processOk'), list('processFailures')];
    return list('processId').map(
      (pid, i) => `[${pid}] Complete; Ok: ${oks[i]}, Failures: ${failures[i]}`,
    );
  });
}

/** @param {Result['benchmarks'][number]} benchmark benchmark of stress */
export function startLine(benchmark) {
  const { label, keys } = lockRow(benchmark);
  const { tries, holdMs = 0 } = /** @type {any} */ (benchmark.parameters);
  const forks = benchmark.load.operations;
  const settings = `forks: ${forks}, tries: ${tries}, sleep: ${holdMs / 1000}, keys: ${keys}`;
  return plainText(`[${process.pid}] Starting with ${label}, ${settings}`);
}

/**
 * @param {LockRow} row
 * @param {string} test
 * @param {number} width width of the label
 */
function legacyLine(row, test, width) {
  const { keys, sections, userNs, systemNs, realNs, notOffered } = row;
  const two = (/** @type {number} */ value) => String(value).padStart(2);
  const label = `keys:${two(keys)}/${two(2 * keys - 1)}`;
  if (notOffered !== null) return `${label}  ${plainText(notOffered)}`;
  if (userNs === null || systemNs === null || realNs === null) return `${label}  not measured`;
  const name = test === 'lock' ? label : `${label}${cycles(sections).padStart(6)}`;
  const figures = [userNs, systemNs, userNs + systemNs].map(seconds).join(' ');
  return `${name.padEnd(width)}${figures} (${seconds(realNs)})`;
}

/** @param {number | null} sections median of the rounds @returns {string} a whole number */
function cycles(sections) {
  return sections === null ? NONE : String(Math.round(sections));
}

/** @param {number} ns */
function seconds(ns) {
  return (ns / 1e9).toFixed(6).padStart(FIGURE);
}
