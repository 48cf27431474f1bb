/**
 * From a result to the figures of the command list: for each storage, whether connections are kept,
 * and test, one figure for each way to Redis, and the ratios between them, paired by round. Pure.
 */

import { geometricMean, median } from 'simple-statistics';
import { ratioInterval } from '../../stats/ratio.js';
import { labelOf, toRow } from './rows.js';

/** @typedef {import('../../lib/result.js').Result} Result */
/** @typedef {import('../../lib/result.js').Benchmark} Benchmark */
/** @typedef {import('../../lib/result.js').Round} Round */
/** @typedef {import('../../stats/ratio.js').RatioInterval} RatioInterval */

/** The ways in the order of columns: whose, and over what. */
export const WAYS = /** @type {const} */ ([
  ['direct', 'tcp'],
  ['proxied', 'tcp'],
  ['direct', 'unix'],
  ['proxied', 'unix'],
]);

/** The server's name under which the proxy's processor time is recorded. */
const PROXY = 'nutcracker';

/**
 * @typedef {object} Figure of one test on one way
 * @property {Benchmark} benchmark
 * @property {'measured' | 'refused' | 'skipped' | 'failed' | 'aborted' | 'planned'} state
 * @property {string | null} refusal why, in the words of who refuses
 * @property {(number | null)[]} rounds operations a second, by round
 * @property {number | null} perSecond median of these
 * @property {number | null} p50Ns of an operation, all rounds together; null where fewer than ten
 *   values lie above, as for the others
 * @property {number | null} p99Ns
 * @property {number | null} connectNs median of connecting, median of the rounds
 * @property {number | null} commandNs the same of the command on a connection of its own
 * @property {number | null} clientCpuNs for each operation
 * @property {number | null} proxyCpuNs
 * @property {number | null} serverCpuNs
 * @property {number | null} reached how many of the operations Redis itself has seen: 0 where the
 *   proxy answers by itself
 * @property {(number | null)[]} baseline redis-benchmark's requests a second, by round
 * @property {number | null} baselinePerSecond median of these
 * @property {number | null} baselineP50Ns
 * @property {string | null} baselineFailure its last words
 *
 * @typedef {object} TestFigures
 * @property {string} test
 * @property {(Figure | null)[]} figures in the order of WAYS; null: no such benchmark
 *
 * @typedef {object} CommandGroup a storage with connections that are kept, or with one for each
 *   request
 * @property {string} label
 * @property {boolean} keepAlive
 * @property {TestFigures[]} tests
 */

/**
 * @param {Result} result
 * @returns {CommandGroup[]} in the order of the benchmarks, kept connections first
 */
export function toCommandGroups({ benchmarks }) {
  /** @type {Map<string, CommandGroup>} */
  const groups = new Map();
  for (const benchmark of benchmarks) {
    if (benchmark.workload !== 'commands' || benchmark.parameters === undefined) continue;
    const { test, way, transport, keepAlive } = benchmark.parameters;
    const label = labelOf(benchmark);
    const key = JSON.stringify([label, keepAlive]);
    const group = groups.get(key) ?? { label, keepAlive: keepAlive === true, tests: [] };
    groups.set(key, group);
    let own = group.tests.find((one) => one.test === test);
    if (own === undefined) {
      own = { test: String(test), figures: WAYS.map(() => null) };
      group.tests.push(own);
    }
    const at = WAYS.findIndex(([whose, over]) => whose === way && over === transport);
    if (at >= 0) own.figures[at] = toFigure(benchmark);
  }
  return [...groups.values()];
}

/**
 * @param {Pick<Benchmark, 'rounds'>} benchmark
 * @returns {string | null} the words of the refusal, where every round was refused
 */
export function refusalOf({ rounds }) {
  const words = rounds.map(({ facts }) => facts?.['refusal']);
  return words.length > 0 && words.every((text) => typeof text === 'string')
    ? String(words[0])
    : null;
}

/** @param {Benchmark} benchmark */
function isProxied({ parameters }) {
  return parameters?.['way'] === 'proxied';
}

/**
 * @param {Benchmark} benchmark
 * @returns {boolean} a proxy that does not know a command is no fault of the run
 */
export function isRefusedByProxy(benchmark) {
  return isProxied(benchmark) && refusalOf(benchmark) !== null;
}

/**
 * @param {Benchmark} benchmark
 * @returns {Figure}
 */
function toFigure(benchmark) {
  const refusal = refusalOf(benchmark);
  const row = toRow(benchmark, 'redis');
  const { rounds } = benchmark;
  const right = rounds.map(({ state, throughput, outcomes }) =>
    state === 'measured' && outcomes.ok > 0 ? throughput : null,
  );
  const factOf = (/** @type {string} */ name) => medianOf(rounds.map((one) => number(one, name)));
  const baseline = rounds.map((round) => number(round, 'benchmarkPerSecond'));
  const failure = rounds.map(({ facts }) => facts?.['benchmarkFailure']).find(Boolean);
  return {
    benchmark,
    state: refusal === null ? benchmark.state : 'refused',
    refusal,
    rounds: right,
    perSecond: medianOf(right),
    p50Ns: row.latency?.p50Ns ?? null,
    p99Ns: row.latency?.p99Ns ?? null,
    connectNs: factOf('connectNsP50'),
    commandNs: factOf('commandNsP50'),
    clientCpuNs: row.clientCpuNs,
    proxyCpuNs: proxyCpu(rounds),
    serverCpuNs: row.serverCpuNs,
    reached: reachedOf(rounds),
    baseline,
    baselinePerSecond: medianOf(baseline),
    baselineP50Ns: factOf('benchmarkNsP50'),
    baselineFailure: failure === undefined ? null : String(failure),
  };
}

/**
 * @param {Round} round
 * @param {string} name
 * @returns {number | null}
 */
function number({ facts }, name) {
  const value = facts?.[name];
  return typeof value === 'number' ? value : null;
}

/** @param {readonly (number | null)[]} values */
function medianOf(values) {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : median(known);
}

/**
 * @param {readonly Round[]} rounds
 * @returns {number | null} for each right answer; null where there is none, or it is not readable
 */
function proxyCpu(rounds) {
  let ns = 0;
  let ok = 0;
  for (const { others, outcomes } of rounds) {
    const used = others?.[PROXY];
    if (used === undefined) continue;
    ns += used.cpuNs;
    ok += outcomes.ok;
  }
  return ok === 0 ? null : ns / ok;
}

/** @param {readonly Round[]} rounds */
function reachedOf(rounds) {
  const known = rounds.filter(({ outcomes, facts }) => outcomes.ok > 0 && facts !== undefined);
  if (known.length === 0 || known.some((round) => number(round, 'reached') === null)) return null;
  return known.reduce((sum, round) => sum + Number(number(round, 'reached')), 0);
}

/**
 * @param {readonly (number | null)[] | undefined} a by round
 * @param {readonly (number | null)[] | undefined} b
 * @returns {RatioInterval | null} null where one of them has no figure
 */
export function pairedRatio(a, b) {
  if (a === undefined || b === undefined || a.length !== b.length) return null;
  const found = ratioInterval(a, b);
  return found.ratio === null ? null : found;
}

/**
 * @typedef {object} Summary of a way, over the tests that every way of the group has answered
 * @property {boolean} keepAlive
 * @property {number} way index in WAYS
 * @property {number} tests how many
 * @property {number | null} perSecond geometric mean of the tests, as the others
 * @property {number | null} ratio to the first way that has figures
 * @property {number | null} p50Ns
 * @property {number | null} connectNs
 * @property {number | null} commandNs
 * @property {number | null} clientCpuNs arithmetic mean, as of the other processor times
 * @property {number | null} proxyCpuNs
 * @property {number | null} serverCpuNs
 * @property {number | null} baselinePerSecond
 */

/**
 * @param {CommandGroup} group
 * @returns {Summary[]} one for each way that has figures
 */
export function summarizeWays({ keepAlive, tests }) {
  const used = WAYS.map((_, way) => way).filter((way) =>
    tests.some(({ figures }) => figures[way]?.perSecond),
  );
  const common = tests.filter(({ figures }) => used.every((way) => figures[way]?.perSecond));
  const geometric = (/** @type {number} */ way, /** @type {keyof Figure} */ field) =>
    meanOf(common, way, field, geometricMean);
  const arithmetic = (/** @type {number} */ way, /** @type {keyof Figure} */ field) =>
    meanOf(common, way, field, (all) => all.reduce((sum, one) => sum + one, 0) / all.length);
  const [first] = used;
  return used.map((way) => {
    const perSecond = geometric(way, 'perSecond');
    const base = geometric(first, 'perSecond');
    return {
      keepAlive,
      way,
      tests: common.length,
      perSecond,
      ratio: perSecond === null || base === null ? null : perSecond / base,
      p50Ns: geometric(way, 'p50Ns'),
      connectNs: geometric(way, 'connectNs'),
      commandNs: geometric(way, 'commandNs'),
      clientCpuNs: arithmetic(way, 'clientCpuNs'),
      proxyCpuNs: arithmetic(way, 'proxyCpuNs'),
      serverCpuNs: arithmetic(way, 'serverCpuNs'),
      baselinePerSecond: geometric(way, 'baselinePerSecond'),
    };
  });
}

/**
 * @param {readonly TestFigures[]} tests
 * @param {number} way
 * @param {keyof Figure} field
 * @param {(values: number[]) => number} mean
 * @returns {number | null} null where one of them is not known
 */
function meanOf(tests, way, field, mean) {
  const values = tests.map(({ figures }) => figures[way]?.[field]);
  if (values.length === 0 || values.some((value) => typeof value !== 'number' || value <= 0)) {
    return null;
  }
  return mean(/** @type {number[]} */ (values));
}
