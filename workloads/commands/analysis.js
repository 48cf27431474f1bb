/**
 * Figures of the command list: rates by round, refusals, ratios between routes paired by round,
 * means over the tests that every route supports. Pure.
 */

import { geometricMean, median } from 'simple-statistics';
import { plainText } from '../../lib/format.js';
import { figureOver } from '../../stats/interval.js';

/** @typedef {readonly (number | null)[]} Rounds figure per round; null: no figure */

/** In the order of columns. */
export const ROUTES = Object.freeze(['direct TCP', 'proxied TCP', 'direct unix', 'proxied unix']);
/** The server's name under which the proxy's CPU time is recorded. */
const PROXY = 'nutcracker';

/** @param {any} benchmark @returns {string} */
export function routeOf({ keys: { way, transport } }) {
  return `${way} ${transport === 'tcp' ? 'TCP' : transport}`;
}

/**
 * @param {Pick<import('../../lib/result.js').Benchmark, 'rounds'>} source
 * @returns {string | null} the message of the refusal, if every round was refused
 */
export function refusalOf({ rounds }) {
  const words = rounds.map(({ metrics }) => metrics?.['refusal']);
  return words.length > 0 && words.every((text) => typeof text === 'string')
    ? String(words[0])
    : null;
}

/**
 * @param {import('../../lib/result.js').Benchmark} source
 * @returns {boolean} a command unknown to a proxy is not a failure of the run
 */
export function isRefusedByProxy(source) {
  return source.parameters?.['way'] === 'proxied' && refusalOf(source) !== null;
}

/** @param {any} benchmark @returns {Rounds} verified operations per second */
export function ratesOf({ source }) {
  return source.rounds.map((/** @type {any} */ { state, throughput, outcomes }) =>
    state === 'measured' && outcomes.ok > 0 ? throughput : null,
  );
}

/**
 * @param {any} benchmark
 * @param {string} name name of a workload metric
 * @returns {Rounds}
 */
export function metricValues({ source }, name) {
  return source.rounds.map((/** @type {any} */ { metrics }) => {
    const value = metrics?.[name];
    return typeof value === 'number' ? value : null;
  });
}

/**
 * @param {Rounds} rounds
 * @returns {number | null} mean of the rounds with a figure
 */
export function medianOf(rounds) {
  const known = rounds.filter((value) => value !== null);
  return known.length === 0 ? null : median(known);
}

/** @param {any} benchmark @returns {number | null} operations per second */
export function rateOf(benchmark) {
  return rateFigure(benchmark)?.value ?? null;
}

/** @param {any} benchmark */
export function rateFigure(benchmark) {
  return figureOver(ratesOf(benchmark).filter((one) => one !== null));
}

/** @param {any} benchmark @returns {number | null} redis-benchmark's requests per second */
export function baselineOf(benchmark) {
  return medianOf(metricValues(benchmark, 'benchmarkPerSecond'));
}

/** @param {any} benchmark @returns {string | null} last message of a failed redis-benchmark */
export function baselineFailureOf({ source }) {
  /** @type {any[]} */
  const rounds = source.rounds;
  const failure = rounds.map(({ metrics }) => metrics?.benchmarkFailure).find(Boolean);
  return failure === undefined ? null : String(failure);
}

/** @param {any} benchmark @returns {number | null} ns per verified operation */
export function proxyCpuOf({ source }) {
  let [ns, ok] = [0, 0];
  for (const { others, outcomes } of source.rounds) {
    const used = others?.[PROXY];
    if (used === undefined) continue;
    ns += used.cpuNs;
    ok += outcomes.ok;
  }
  return ok === 0 ? null : ns / ok;
}

/** @param {any} benchmark @returns {boolean} whether the proxy replied without Redis */
export function isAnsweredByProxy(benchmark) {
  /** @type {any[]} */
  const rounds = benchmark.source.rounds;
  const known = rounds.filter(({ outcomes, metrics }) => outcomes.ok > 0 && metrics !== undefined);
  return (
    rateOf(benchmark) !== null &&
    known.length > 0 &&
    known.every(({ metrics }) => metrics.reached === 0)
  );
}

/**
 * @param {readonly any[]} benchmarks @returns {string[]} routes of these benchmarks, in the order
 *   of ROUTES
 */
export function routesIn(benchmarks) {
  const used = new Set(benchmarks.map(routeOf));
  return ROUTES.filter((route) => used.has(route));
}

/**
 * @param {readonly any[]} benchmarks benchmarks of one storage and kind of connection
 * @returns {Set<string>} tests with figures on every route
 */
export function commonTests(benchmarks) {
  const answered = benchmarks.filter((benchmark) => rateOf(benchmark) !== null);
  const routes = routesIn(answered);
  const tests = [...new Set(answered.map(({ keys }) => keys.test))];
  const own = (/** @type {string} */ test) => answered.filter(({ keys }) => keys.test === test);
  return new Set(tests.filter((test) => routesIn(own(test)).length === routes.length));
}

/**
 * @param {readonly (number | null)[]} values
 * @param {'geometric' | 'arithmetic'} kind
 * @returns {number | null} null if one of them is unknown
 */
export function meanOf(values, kind) {
  const known = values.filter((value) => value !== null && value > 0);
  if (known.length === 0 || known.length < values.length) return null;
  const numbers = /** @type {number[]} */ (known);
  if (kind === 'geometric') return geometricMean(numbers);
  return numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
}

/**
 * @param {string | undefined} version `7.0.15`, or with its name: `8.0.1 (valkey-benchmark)`
 * @returns {string | null} name and version; null: not run
 */
export function toolName(version) {
  if (version === undefined) return null;
  const [, number, name] = /^(.*?)(?: \((.+)\))?$/.exec(version) ?? [];
  return `${name ?? 'redis-benchmark'} ${number}`;
}

/**
 * @param {import('../../lib/result.js').Result} result
 * @returns {{ name: string, text: string }} name of the load generator beside the drivers:
 *   redis-benchmark or its replacement
 */
export function toolOf({ options: { workloadOptions } }) {
  const { redisBenchmark } = /** @type {any} */ (workloadOptions)?.commands ?? {};
  const tool = plainText(toolName(redisBenchmark) ?? '');
  const [name] = tool.split(' ');
  if (tool === '' || name === 'redis-benchmark') {
    return { name: 'redis-benchmark', text: 'redis-benchmark' };
  }
  return { name, text: `redis-benchmark, here ${tool}` };
}

/** @typedef {import('../../stats/metrics.js').Shown} Shown */

/** @param {string} name @returns {Shown} */
function shownTime(name) {
  return { key: `${name}_p50`, name, unit: 'ns', better: 'less', head: [name, 'p50'] };
}

export const CONNECT_P50 = shownTime('connect');
export const COMMAND_P50 = shownTime('command');

/**
 * @param {string} side process whose CPU time is shown
 * @returns {Shown & { head: [string, string] }}
 */
export function cpuShown(side) {
  const key = `${side.toLowerCase()}_cpu`;
  const shown = { unit: 'ns/op', as: 'µs', better: /** @type {const} */ ('less') };
  return { key, name: `${side} CPU`, ...shown, head: ['CPU µs', side] };
}
