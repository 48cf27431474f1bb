/**
 * Rows of the mutex tests of a result: one per kind of lock, storage and number of keys, over all
 * rounds. Pure; computed here for the command's lines, all reports and the plot.
 */

import { labelOf } from '../../lib/label.js';
import { decode } from '../../measure/hdr.js';
import { Histogram } from '../../measure/histogram.js';
import { medianOfAll } from '../../stats/metrics.js';
import { packageOf } from './packages.js';

/** @typedef {import('../../lib/result.js').Result} Result */
/** @typedef {import('../../lib/result.js').Benchmark} Benchmark */
/** @typedef {import('../../lib/result.js').Round} Round */

/**
 * @typedef {object} LockRow medians of rounds unless stated otherwise
 * @property {Benchmark} source
 * @property {string} label `ioredis script`
 * @property {string} test lock, count, killed or stress
 * @property {number} keys n of n/m
 * @property {string | null} package package of the lock; null: a lock of the server
 * @property {string | null} packageVersion
 * @property {string | null} notOffered reason
 * @property {number} n rounds
 * @property {number | null} sections critical sections
 * @property {number | null} userNs user CPU time of the client
 * @property {number | null} systemNs
 * @property {number | null} realNs
 * @property {number | null} waitP50Ns
 * @property {number | null} waitP99Ns
 * @property {number | null} waitMaxNs the longest of all rounds
 * @property {number | null} fairness Jain's index over tasks
 * @property {number | null} sleepMeanNs
 * @property {number} violations violations of all rounds
 * @property {number} timeouts keys, or calls, not locked in time, over all rounds
 * @property {number} overruns
 * @property {number} kills
 * @property {number[]} firstWaitNs from the kill to the first lock, per kill, over all rounds
 * @property {number[]} lastWaitNs to the lock of the last waiting task
 * @property {number[]} expiryLeftNs remaining TTL of the killed holder's lock
 */

/**
 * @param {Result} result
 * @param {string} [test] name of a test: only its rows
 * @returns {LockRow[]} in the order of the benchmarks
 */
export function toLockRows({ benchmarks }, test = undefined) {
  return benchmarks
    .filter(({ workload, parameters }) => workload === 'mutex' && parameters !== undefined)
    .map(lockRow)
    .filter((row) => test === undefined || row.test === test);
}

/**
 * @param {LockRow[]} rows
 * @returns {{ label: string, rows: LockRow[] }[]} by kind of lock, in their order
 */
export function byLabel(rows) {
  const labels = [...new Set(rows.map(({ label }) => label))];
  return labels.map((label) => ({ label, rows: rows.filter((row) => row.label === label) }));
}

/**
 * @param {Benchmark} source
 * @returns {LockRow}
 */
export function lockRow(source) {
  const { test = 'lock', handler = '', keys = 1 } = source.parameters ?? {};
  const rounds = source.rounds.filter(
    ({ metrics, state }) => metrics !== undefined && state !== 'failed',
  );
  const median = (/** @type {(round: Round) => unknown} */ valueIn) =>
    medianOfAll(rounds.map(valueIn));
  const metric =
    (/** @type {string} */ name) =>
    (/** @type {Round} */ { metrics }) =>
      metrics?.[name];
  const sum = (/** @type {string} */ name) =>
    rounds.reduce((all, { metrics }) => all + Number(metrics?.[name] ?? 0), 0);
  const list = (/** @type {string} */ name) =>
    rounds.flatMap(({ metrics }) => /** @type {number[]} */ (metrics?.[name] ?? []));
  const waits = rounds.map(metric('waitMaxNs')).filter((ns) => typeof ns === 'number');
  return {
    source,
    label: `${labelOf(source)} ${handler}`,
    test: String(test),
    keys: Number(keys),
    package: packageOf(String(handler)),
    packageVersion: textOf(rounds.map(metric('packageVersion'))),
    notOffered: source.state === 'skipped' ? source.reason : null,
    n: rounds.length,
    sections: median(metric('sections')),
    userNs: median(({ client }) => client?.userNs),
    systemNs: median(({ client }) => client?.systemNs),
    realNs: median(({ durationNs }) => durationNs),
    waitP50Ns: median(metric('waitP50Ns')),
    waitP99Ns: median(metric('waitP99Ns')),
    waitMaxNs: waits.length === 0 ? null : Math.max(.../** @type {number[]} */ (waits)),
    fairness: median(metric('fairness')),
    sleepMeanNs: median(metric('sleepMeanNs')),
    violations: sum('violations'),
    timeouts:
      test === 'stress'
        ? sum('timeouts')
        : rounds.reduce((all, { outcomes }) => all + outcomes.timeout, 0),
    overruns: sum('overruns'),
    kills: sum('kills'),
    firstWaitNs: list('firstWaitNs'),
    lastWaitNs: list('lastWaitNs'),
    expiryLeftNs: list('expiryLeftNs'),
  };
}

/**
 * @param {Pick<Benchmark, 'rounds'>} source
 * @returns {Histogram | null} waits for a lock over all measured rounds; null: unknown for all
 *   rounds
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE: a histogram is damaged
 */
export function waitsOf({ rounds }) {
  const texts = rounds
    .filter(({ state }) => state === 'measured')
    .map(({ metrics }) => metrics?.['waitHistogram'])
    .filter((text) => typeof text === 'string');
  if (texts.length === 0) return null;
  const merged = new Histogram();
  for (const text of texts) merged.merge(decode(text));
  return merged;
}

/** @param {unknown[]} values @returns {string | null} the first text */
function textOf(values) {
  return /** @type {string | undefined} */ (values.find((one) => typeof one === 'string')) ?? null;
}

/** @typedef {'held' | 'broken' | 'open'} Verdict */

/**
 * Verdict of a stress run.
 * @param {Result} result
 * @returns {{ verdict: Verdict, text: string }} held: every process locked every key and read back
 *   its value; broken: violations; open: some process did not finish
 */
export function stressVerdict(result) {
  const rows = toLockRows(result, 'stress');
  const total = (/** @type {(row: LockRow) => number} */ valueIn) =>
    rows.reduce((sum, row) => sum + valueIn(row), 0);
  const sections = total((row) => row.sections ?? 0);
  const violations = total((row) => row.violations);
  const timeouts = total((row) => row.timeouts);
  const overruns = total((row) => row.overruns);
  const kills = total((row) => row.kills);
  const locks = [...new Set(rows.map(({ label }) => label))].join(', ');
  const of = locks === '' ? '' : `${locks}: `;
  const counts =
    `${sections} critical sections, ${violations} violations, ${timeouts} timeouts` +
    (overruns > 0 ? `, ${overruns} sections whose lock expired while held` : '') +
    (kills > 0 ? `, ${kills} processes killed` : '');
  if (violations > 0) {
    const diagnostic = overruns > 0 ? '; some may be due to locks that expired while held' : '';
    return { verdict: 'broken', text: `${of}mutual exclusion violated: ${counts}${diagnostic}` };
  }
  const all = rows.every(({ n, source }) => n > 0 && source.rounds.every(isWhole));
  if (all && sections > 0)
    return { verdict: 'held', text: `${of}mutual exclusion held: ${counts}` };
  return { verdict: 'open', text: `${of}not every process completed: ${counts}` };
}

/** @param {Round} round */
function isWhole({ outcomes, scheduled, state }) {
  return state === 'measured' && outcomes.ok === scheduled;
}
