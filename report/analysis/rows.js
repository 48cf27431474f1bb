/**
 * The rows of the tables of a result: one group per workload and load with one row per source.
 * Pure; computed here for all reports.
 *
 * Goals: a state for sources that did not run, null for unknown values, ratios of comparable values
 * only. Non-goals: text (lib/format.js), verdicts (compare.js).
 */

import { diagnose } from '../../engine/diagnostics.js';
import { clientCeilingOf, serverCeilingOf } from '../../lib/ceilings.js';
import { WITNESSES } from '../../lib/comparison.js';
import { labelOf } from '../../lib/label.js';
import { loadName } from '../../lib/load-name.js';
import { OUTCOMES } from '../../lib/outcome.js';
import { mergedHistogram } from '../../measure/hdr.js';
import { bottleneckOf } from '../../stats/bottleneck.js';
import { generatorsOf } from '../../stats/fleet.js';
import { figureOver } from '../../stats/interval.js';
import { figureOf, medianOf, ratioValue } from '../../stats/metrics.js';
import { toRatio } from '../../stats/separation.js';
import { groupBy, sumOf } from './groups.js';
import { isAgainst, pairsOf } from './pairs.js';
import { kindSummaries, loadKey, openSummary, sortByRate } from './rates.js';
import { comparisonOf } from './standings.js';

/** The storage without a store, which measures the harness overhead and is not a contender. */
const OVERHEAD_STORAGE = 'memory';

const REMARKS = Object.freeze({ server: null, embedded: 'embedded', overhead: 'overhead' });

/** @typedef {import('../../lib/result.js').Result} Result */
/** @typedef {import('../../lib/result.js').Benchmark} Benchmark */
/** @typedef {import('../../lib/result.js').Round} Round */

/** @typedef {import('./rates.js').Percentiles} Percentiles */

/**
 * @typedef {object} Row a benchmark: input of the metrics of stats/metrics.js
 * @property {Benchmark} source
 * @property {Record<string, any>} keys storage, workload, load and parameters
 * @property {'wrong' | 'drift' | null} mark
 * @property {string | null} remark its kind, unless it is a storage with a server
 * @property {import('./rates.js').OpenSummary | null} open figures of an open loop
 * @property {import('./rates.js').KindSummary[]} kinds kinds of a mix
 * @property {string} label `ioredis`, `ioredis:tuned`
 * @property {'server' | 'embedded' | 'overhead'} kind kind of storage
 * @property {Benchmark['state']} state
 * @property {number} n completely measured rounds
 * @property {boolean} isSliced it was measured in blocks
 * @property {Standing | null} standing in its comparison; null: excluded, or no comparison
 * @property {import('../../stats/interval.js').Figure | null} throughput geometric mean of the
 *   rounds; null if n is 0
 * @property {Rank | null} rank among the contenders, with ties; null: no rank, or fewer than two
 *   rounds
 * @property {Ratio | null} ratio ratio of its speed to the fastest of its group, or to its
 *   reference
 * @property {string | null} against label of the reference; null: the fastest
 * @property {number[]} gateLimits limits of its gates, on the ratio or on the throughput
 * @property {import('../../engine/diagnostics.js').BenchmarkDiagnostics} diagnostics warnings about
 *   the figure
 * @property {Percentiles | null} latency service time of the ok operations, merged over the rounds
 * @property {() => import('../../measure/histogram.js').Histogram | null} histogram histogram of
 *   these latencies
 * @property {number | null} clientCpuNs user and system, per ok operation
 * @property {number | null} serverCpuNs CPU time of the server; null: embedded or unreadable
 * @property {number | null} rssBytesMax resident memory of the client, maximum of the rounds
 * @property {number | null} pendingBytes burst: client memory per pending request, median
 * @property {import('../../stats/bottleneck.js').Bottleneck | null} bound null: not measured, or
 *   the harness overhead
 * @property {import('../../lib/report-types.js').Value} ofServerCeiling fraction of the server
 *   ceiling
 * @property {number | null} ofClientCeiling fraction of the client ceiling under the same load
 * @property {number} scheduled operations of all rounds, including failed ones
 * @property {Record<import('../../lib/types.js').Outcome, number>} outcomes outcomes of these
 *   operations
 * @property {number} wrong operations with a miss, mismatch, error or timeout
 * @property {number} notRun number of these operations: dropped and unsent
 */

/** @typedef {import('../../stats/standings.js').Row} Standing */
/** @typedef {import('../../stats/separation.js').Ratio} Ratio */
/** @typedef {import('./standings.js').Comparison} Comparison */
/** @typedef {import('./pairs.js').Pair} Pair */
/** @typedef {{ best: number, worst: number }} Rank 1 is the fastest; tied: best < worst */

/**
 * @typedef {object} Group
 * @property {string} key id of its table
 * @property {string} workload
 * @property {import('../../lib/result.js').Load} load
 * @property {Row[]} rows fastest first, then the harness overhead, then rows without a figure
 * @property {Comparison | null} comparison null: an open loop, or nothing was measured
 * @property {Pair[]} pairs contenders with a reference
 * @property {boolean} isAgainst all contenders have a reference, so none is the fastest
 */

/**
 * @param {Result} result
 * @returns {Group[]} in the order of the benchmarks; without skipped benchmarks, and without
 *   variants of a workload, which have separate tables
 * @throws {DragstripError} E_USAGE: a histogram of the result is damaged
 */
export function toGroups(result) {
  const sources = result.benchmarks.filter(
    ({ state, parameters }) => state !== 'skipped' && parameters === undefined,
  );
  const groups = groupBy(sources, ({ workload, load }) => `${workload} ${loadKey(load)}`);
  const compared = [...groups].map(([key, own]) => {
    const all = own.map((source) => measuredOf(source, result));
    return { key, all, comparison: comparisonOf(all, result) };
  });
  const pairs = pairsOf(compared, result);
  return compared.map((one) => {
    const own = pairs.filter(({ comparison }) => comparison === one.comparison);
    return groupOf(one, own, result);
  });
}

/**
 * @param {{ key: string, all: Measured[], comparison: Comparison | null }} compared
 * @param {Pair[]} pairs
 * @param {Result} result
 * @returns {Group}
 */
function groupOf({ key, all, comparison }, pairs, result) {
  const [{ source }] = all;
  const { workload, load } = source;
  const against = comparison !== null && isAgainst(pairs, comparison);
  const rows = all.map((one) => toRow(one, { comparison, pairs: against ? pairs : [], result }));
  if (load.kind === 'rate') sortByRate(rows);
  else rows.sort((a, b) => placeOf(a) - placeOf(b) || speedIn(rows, b) - speedIn(rows, a));
  return { key, workload, load, rows, comparison, pairs, isAgainst: against };
}

/** With a server, embedded, the harness overhead, then rows without a figure. @param {Row} row */
function placeOf({ kind, throughput }) {
  return throughput === null ? 3 : { server: 0, embedded: 1, overhead: 2 }[kind];
}

/**
 * @param {readonly Row[]} rows
 * @param {Row} row
 * @returns {number} value of its rank: its ratio, in operations per second of the fastest
 */
function speedIn(rows, { standing, throughput, kind }) {
  const ratio = standing?.vsFastest?.ratio ?? null;
  const isFirst = (/** @type {Row} */ one) =>
    one.kind === kind && one.standing?.vsFastest?.ratio === 1;
  const first = ratio === null ? undefined : rows.find(isFirst);
  return ratio === null || !first ? perSecondOf(throughput) : perSecondOf(first.throughput) * ratio;
}

/** @param {Row['throughput']} throughput */
function perSecondOf(throughput) {
  return throughput?.value ?? 0;
}

/**
 * @param {Result} result
 * @param {{ skipped?: boolean }} [options]
 * @returns {Row[]} rows of the variants of a workload, in the order of the benchmarks; their tables
 *   compare them
 */
export function variantRows(result, { skipped = false } = {}) {
  return result.benchmarks
    .filter(({ state, parameters }) => (skipped || state !== 'skipped') && parameters !== undefined)
    .map((source) => rowOf(source, result));
}

/** @param {{ name?: string, storage?: string, profile: string }} storage */
function storageKey({ name, storage, profile }) {
  return JSON.stringify([name ?? storage, profile]);
}

/**
 * @param {Benchmark} source
 * @param {Result} result
 * @returns {Row} row of the benchmark alone
 */
export function rowOf(source, result) {
  return toRow(measuredOf(source, result), { comparison: null, pairs: [], result });
}

/**
 * @typedef {object} Measured properties of a single benchmark
 * @property {Benchmark} source
 * @property {string} label
 * @property {Row['kind']} kind
 * @property {string | null} protocol
 * @property {Benchmark['state']} state
 * @property {Round[]} rounds measured
 * @property {Row['outcomes']} outcomes
 * @property {number} wrong
 * @property {number} notRun
 */

/**
 * @param {Benchmark} source
 * @param {Pick<Result, 'storages'>} result
 * @returns {Measured}
 */
function measuredOf(source, { storages }) {
  const outcomes = sumOutcomes(source.rounds);
  const storage = storages.find((one) => storageKey(one) === storageKey(source));
  const isEmbedded = (storage?.server ?? null) === null;
  return {
    source,
    label: labelOf(source),
    kind: source.storage === OVERHEAD_STORAGE ? 'overhead' : isEmbedded ? 'embedded' : 'server',
    protocol: storage?.protocol ?? null,
    state: source.state,
    rounds: source.rounds.filter(({ state }) => state === 'measured'),
    outcomes,
    wrong: outcomes.miss + outcomes.mismatch + outcomes.error + outcomes.timeout,
    notRun: outcomes.dropped + outcomes.unsent,
  };
}

/**
 * @param {Measured} measured
 * @param {{ comparison: Comparison | null, pairs: readonly Pair[], result: Result }} context
 * @returns {Row}
 */
function toRow(measured, { comparison, pairs, result }) {
  const { source, label, kind, state, rounds, outcomes, wrong, notRun } = measured;
  const standing = comparison?.standings.rows.find(({ name }) => name === label) ?? null;
  const throughput = throughputOf(rounds, standing);
  const diagnostics = diagnose(source);
  const limits = limitsOf(measured, throughput, result);
  const ceiling = standing?.ofCeiling ?? null;
  return {
    source,
    label,
    keys: keysOf(source),
    mark: markOf({ wrong, notRun, state, diagnostics, standing }),
    remark: REMARKS[kind],
    kind,
    open: openSummary(source),
    kinds: kindSummaries(source),
    state,
    n: rounds.length,
    isSliced: comparison !== null && comparison.stored !== null,
    standing,
    throughput,
    rank: rankOf(standing, comparison),
    ...versusOf(measured, standing, pairs),
    gateLimits: gateLimitsOf(source, result),
    diagnostics,
    latency: mergedHistogram(source)?.percentiles() ?? null,
    histogram: () => mergedHistogram(source),
    clientCpuNs: witnessOf('clientCpu', rounds, standing),
    serverCpuNs: witnessOf('serverCpu', rounds, standing),
    rssBytesMax: greatest(rounds.map(({ client }) => client?.rssBytesMax ?? null)),
    bound: boundOf(measured, limits, { comparison, cores: result.environment.cores }),
    ofServerCeiling:
      ceiling === null ? figureOf(limits.server, rounds.length) : ratioValue(ceiling),
    ofClientCeiling: limits.client,
    pendingBytes: medianOf(known(rounds.map(({ pendingBytes }) => pendingBytes))),
    scheduled: source.rounds.reduce((sum, round) => sum + round.scheduled, 0),
    outcomes,
    wrong,
    notRun,
  };
}

/**
 * @param {readonly Round[]} rounds
 * @param {Standing | null} standing
 * @returns {Row['throughput']}
 */
function throughputOf(rounds, standing) {
  if (standing === null) return figureOver(rounds.map(({ throughput }) => throughput));
  const { nsPerOperation, halfWidth: spread, n } = standing;
  const value = 1e9 / nsPerOperation;
  const factor = spread === null ? null : 1 + spread;
  const [low, high] = factor === null ? [null, null] : [value / factor, value * factor];
  return { value, low, high, spread, n };
}

/**
 * @param {keyof typeof WITNESSES} name
 * @param {readonly Round[]} rounds
 * @param {Standing | null} standing
 * @returns {number | null} geometric mean over the rounds with a value
 */
function witnessOf(name, rounds, standing) {
  const found = standing?.witnesses[name];
  if (found !== undefined) return found.value;
  const values = known(rounds.map((round) => WITNESSES[name](round) ?? null));
  return figureOver(values.filter(Number.isFinite))?.value ?? null;
}

/**
 * @param {Standing | null} standing
 * @param {Comparison | null} comparison
 * @returns {Rank | null} embedded stores have one only if there are no others
 */
function rankOf(standing, comparison) {
  if (standing === null || standing.rank === null || comparison === null) return null;
  const { rank: best, rankWorst, group } = standing;
  return group === comparison.standings.rows[0].group ? { best, worst: rankWorst ?? best } : null;
}

/**
 * @param {Measured} measured
 * @param {Standing | null} standing
 * @param {readonly Pair[]} pairs pairs of a group whose contenders have a reference
 * @returns {Pick<Row, 'ratio' | 'against'>}
 */
function versusOf({ label }, standing, pairs) {
  const pair = pairs.find(({ a }) => a.label === label);
  if (pair !== undefined) return { ratio: pair.ratios.speed, against: pair.b.label };
  const isReference = pairs.some(({ b }) => b.label === label);
  if (isReference) return { ratio: toRatio(0, 0, standing?.n ?? 0), against: label };
  return { ratio: standing?.vsFastest ?? null, against: null };
}

/**
 * @param {Benchmark} source
 * @param {Result} result
 * @returns {number[]}
 */
function gateLimitsOf({ id }, { gates = [] }) {
  const own = gates.filter(({ benchmark, metric }) => benchmark === id && metric === 'throughput');
  return own.map(({ limit }) => limit);
}

/**
 * @param {Benchmark} source
 * @returns {Record<string, any>} loadGroup: equal for loads in a common table
 */
function keysOf(source) {
  const { id, workload, load, parameters } = source;
  const { inFlight, rate = null, processes = 1, connections } = load;
  const own = { id, storage: labelOf(source), workload, load: loadName(load) };
  const group = { loadGroup: loadKey(load), ...(connections && { connections }) };
  return { ...own, inFlight, rate, processes, ...group, ...parameters };
}

/**
 * @param {Pick<Row, 'wrong' | 'notRun' | 'state' | 'diagnostics' | 'standing'>} row
 * @returns {Row['mark']} wrong replies, failures or drift
 */
function markOf({ wrong, notRun, state, diagnostics, standing }) {
  const bad = wrong + notRun > 0 || state === 'failed' || state === 'aborted';
  if (bad || diagnostics.inconsistent !== null) return 'wrong';
  return (standing?.drift ?? diagnostics.drift)?.marked ? 'drift' : null;
}

/**
 * @typedef {{ server: number | null, client: number | null }} Shares fractions of the ceilings, if
 *   known
 *
 * @param {Measured} measured
 * @param {Row['throughput']} throughput
 * @param {Pick<Result, 'limits'>} result
 * @returns {Shares}
 */
function limitsOf({ source, protocol }, throughput, { limits }) {
  const of = (/** @type {number | null} */ limit) =>
    limit === null || throughput === null ? null : throughput.value / limit;
  // Both are ceilings of the point read only.
  const { connections, valueSize } = source.load;
  const isUsual = source.workload === 'get' && !connections && !valueSize;
  const known = isUsual ? limits : undefined;
  return {
    server: of(serverCeilingOf(known, protocol)),
    // It is the ceiling of one process.
    client: generatorsOf(source) === 1 ? of(clientCeilingOf(known, source)) : null,
  };
}

/**
 * @param {Measured} measured
 * @param {Shares} limits
 * @param {{ comparison: Comparison | null, cores: number }} context
 * @returns {Row['bound']}
 */
function boundOf({ source, kind, label, rounds }, limits, { comparison, cores }) {
  if (rounds.length === 0 || kind === 'overhead') return null;
  const slices = comparison?.stored?.contenders.find(({ name }) => name === label)?.rounds ?? [];
  const bottleneck = bottleneckOf({
    occupancy: slices.flatMap(({ occupancy }) => occupancy ?? []),
    waits: (slices.length > 0 ? slices : rounds).flatMap((one) => one.occupancy?.waiting ?? []),
    embedded: kind === 'embedded',
    cpu: {
      durationNs: sumOf(rounds, ({ durationNs }) => durationNs) ?? 0,
      clientCpuNs: sumOf(rounds, ({ client }) => client && client.userNs + client.systemNs),
      serverCpuNs: sumOf(rounds, ({ server }) => server?.cpuNs ?? null),
      serverThreadNs: sumOf(rounds, ({ server }) => server?.threadNsMax ?? null),
      cores,
      processes: generatorsOf(source),
      ofServerCeiling: limits.server,
      ofClientCeiling: limits.client,
    },
  });
  // An open loop waits for the next due time.
  if (source.load.kind === 'rate' && bottleneck.verdict === 'latency') bottleneck.verdict = null;
  return bottleneck;
}

/**
 * @param {readonly Round[]} rounds
 * @returns {Row['outcomes']}
 */
function sumOutcomes(rounds) {
  const total = (/** @type {import('../../lib/types.js').Outcome} */ name) =>
    rounds.reduce((sum, { outcomes }) => sum + outcomes[name], 0);
  return /** @type {Row['outcomes']} */ (
    Object.fromEntries(OUTCOMES.map((name) => [name, total(name)]))
  );
}

/** @param {readonly (number | null)[]} values */
function known(values) {
  return values.filter((value) => value !== null);
}

/** @param {readonly (number | null)[]} values */
function greatest(values) {
  const numbers = known(values);
  return numbers.length === 0 ? null : Math.max(...numbers);
}
