/** Hooks of a run of fetches: legacy output and warnings. */

import { usageError } from '../../lib/errors.js';
import { concurrencyWarnings, scatterPoints, toFetchGroups } from './analysis.js';
import { gnuplotScript } from './gnuplot.js';

/** @typedef {import('../../lib/result.js').Result} Result */
/** @typedef {import('../../lib/types.js').RunHooks} RunHooks */
/** @typedef {import('./analysis.js').FetchGroup} FetchGroup */

/**
 * Benchmark processes read it from the environment.
 * @type {NonNullable<RunHooks['setUp']>}
 */
export async function setUp({ options, env }) {
  const { passwordFromEnv: variable } = options;
  if (variable === undefined) return undefined;
  const password = env[variable];
  if (password === undefined || password === '') {
    throw usageError(`--password-from-env ${variable}: unknown variable`, 'export it');
  }
  env['DRAGSTRIP_REDIS_PASSWORD'] = password;
  delete env['DRAGSTRIP_REDIS_PASSWORD_FILE'];
  return undefined;
}

/** @type {NonNullable<RunHooks['warnings']>} */
export const warnings = concurrencyWarnings;

/**
 * A scatter prints points or a script, so its lines about keys go to stderr.
 * @type {NonNullable<RunHooks['legacyLines']>}
 */
export function legacyLines({ test, quiet }) {
  const isScatter = test === 'scatter';
  const say = (/** @type {string[]} */ ...lines) =>
    isScatter ? lines.map((error) => ({ error })) : lines;
  /** @type {Result | null} */
  let result = null;
  /** @type {Set<string>} */
  const shown = new Set();
  const tableLines = (/** @type {boolean} */ all) => {
    /** @type {string[]} */
    const lines = [];
    if (isScatter || result === null) return lines;
    for (const group of toFetchGroups(result)) {
      const { label, workload } = group;
      const key = `${label} ${workload}`;
      if (shown.has(key)) continue;
      if (!all && !isComplete(group, result)) break; // in fixed order
      shown.add(key);
      const many = countGroups(result) > 1;
      if (many) lines.push(`${label}${workload === 'mget' ? '' : ', single reads at once'}`);
      lines.push(...concurrencyLines(group));
    }
    return lines;
  };
  return (event) => {
    if (event.type === 'planned') result = event.result;
    if (event.type === 'held' && !quiet) return say(`Holding ${event.rows} keys`);
    if (event.type === 'benchmark-end') return say(...tableLines(false));
    if (event.type !== 'removed') return [];
    const whole = !quiet && event.left.length === 0;
    return say(...tableLines(true), ...(whole ? [`Deleted ${event.rows} test keys`] : []));
  };
}

/** @param {Result} result */
function countGroups({ benchmarks }) {
  const ran = benchmarks.filter(({ state }) => state !== 'skipped');
  return new Set(ran.map(({ storage, profile, workload }) => `${storage}:${profile} ${workload}`))
    .size;
}

/**
 * @param {FetchGroup} group
 * @param {Result} result
 * @returns {boolean} whether all rounds of all its benchmarks have ended
 */
function isComplete({ label, workload, columns }, { benchmarks, options, comparison }) {
  // The number of rounds is unknown before the end.
  if (comparison !== undefined) return false;
  const [{ source: first }] = columns;
  const series = benchmarks.filter(
    (benchmark) =>
      benchmark.storage === first.storage &&
      benchmark.profile === first.profile &&
      benchmark.workload === workload,
  );
  const rounds = Number(options['rounds']);
  return label !== '' && series.every((benchmark) => benchmark.rounds.length >= rounds);
}

/**
 * A row per number of keys, the first one twice; a column per number in flight; medians in ms.
 * @param {FetchGroup} group
 * @returns {string[]}
 */
function concurrencyLines({ columns }) {
  const [longest] = [...columns].sort((a, b) => b.rows.length - a.rows.length);
  const head = ['keys', ...columns.map(({ inFlight }) => `c=${inFlight}`)].join('\t');
  const rows = longest.rows.map(({ keys }, i) =>
    [keys, ...columns.map(({ rows: own }) => millis(own[i]?.medianNs ?? null))].join('\t'),
  );
  return [head, ...rows];
}

/** @param {number | null} ns */
function millis(ns) {
  return ns === null ? '–' : (ns / 1e6).toFixed(3);
}

/** @type {NonNullable<RunHooks['output']>} */
export function output(result, { test, options, quiet }) {
  const isScatter = test === 'scatter';
  const tables = quiet ? 'none' : isScatter ? 'error' : undefined;
  if (!isScatter) return { tables };
  const { gnuplot, gnuplotExtra: extra } = options;
  return { before: gnuplot ? gnuplotScript(result, { extra }) : scatterText(result), tables };
}

/**
 * @param {Result} result
 * @returns {string} lines of keys TAB ms; with a comment line before each of several storages or
 *   methods
 */
function scatterText(result) {
  const groups = toFetchGroups(result);
  const texts = groups.map(({ label, workload, columns }) => {
    const points = scatterPoints(columns[0].source);
    const head = groups.length > 1 ? `# ${label}, ${workload}\n` : '';
    return `${head}${points.map(([keys, ns]) => `${keys}\t${millis(ns)}\n`).join('')}`;
  });
  return texts.join('');
}
