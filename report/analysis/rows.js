/**
 * From a result to the rows of its tables: one group for each workload and load, in it one row for
 * each source. Pure; every report shows the same numbers because they are made here.
 *
 * Goals: a state for what did not run, null for what is not known, a ratio that compares like with
 * like. Non-goals: text (lib/format.js), verdicts (compare.js).
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

/**
 * The storage with nothing behind it: what the harness costs. It is a harnessOverhead, not a
 * contender.
 */
const OVERHEAD_STORAGE = 'memory';

const REMARKS = Object.freeze({ server: null, embedded: 'embedded', overhead: 'overhead' });

/** @typedef {import('../../lib/result.js').Result} Result */
/** @typedef {import('../../lib/result.js').Benchmark} Benchmark */
/** @typedef {import('../../lib/result.js').Round} Round */

/** @typedef {import('./rates.js').Percentiles} Percentiles */

/**
 * @typedef {object} Row a benchmark: what the metrics of stats/metrics.js are taken from
 * @property {Benchmark} source
 * @property {Record<string, any>} keys storage, workload, load and parameters
 * @property {'wrong' | 'drift' | null} mark
 * @property {string | null} remark what it is, where it is no storage with a server
 * @property {import('./rates.js').OpenSummary | null} open of an open loop
 * @property {import('./rates.js').KindSummary[]} kinds of a mix
 * @property {string} label `ioredis`, `ioredis:tuned`
 * @property {'server' | 'embedded' | 'overhead'} kind what is behind it
 * @property {Benchmark['state']} state
 * @property {number} n rounds measured whole
 * @property {boolean} isSliced it was measured by slices
 * @property {Standing | null} standing in its comparison; null: it takes no part, or there is none
 * @property {import('../../stats/interval.js').Figure | null} throughput geometric mean of the
 *   rounds; null where n is 0
 * @property {Rank | null} rank among its contenders, ties as ties; null: none, or fewer than two
 *   rounds
 * @property {Ratio | null} ratio of its speed to that of its group's fastest, or to its reference
 * @property {string | null} against label of the reference; null: the fastest
 * @property {number[]} gateLimits of its gates, on the ratio or on the throughput by itself
 * @property {import('../../engine/diagnostics.js').BenchmarkDiagnostics} diagnostics what speaks
 *   against the figure
 * @property {Percentiles | null} latency service time of the ok operations, merged over the rounds
 * @property {() => import('../../measure/histogram.js').Histogram | null} histogram of the same
 * @property {number | null} clientCpuNs user and system, per ok operation
 * @property {number | null} serverCpuNs the same of the server; null: embedded or not readable
 * @property {number | null} rssBytesMax of the client, greatest of the rounds
 * @property {number | null} pendingBytes burst: client memory for each pending request, median
 * @property {import('../../stats/bottleneck.js').Bottleneck | null} bound null: nothing was
 *   measured, or the overhead
 * @property {import('../../lib/report-types.js').Value} ofServerCeiling share of the server's
 *   ceiling
 * @property {number | null} ofClientCeiling the same of the driver's, under the same load
 * @property {number} scheduled operations of all rounds, also of those that failed
 * @property {Record<import('../../lib/types.js').Outcome, number>} outcomes of the same
 * @property {number} wrong of the same: miss, mismatch, error and timeout
 * @property {number} notRun of the same: dropped and unsent
 */

/** @typedef {import('../../stats/standings.js').Row} Standing */
/** @typedef {import('../../stats/separation.js').Ratio} Ratio */
/** @typedef {import('./standings.js').Comparison} Comparison */
/** @typedef {import('./pairs.js').Pair} Pair */
/** @typedef {{ best: number, worst: number }} Rank 1 is the fastest; tied: best < worst */

/**
 * @typedef {object} Group
 * @property {string} key the id of its table
 * @property {string} workload
 * @property {import('../../lib/result.js').Load} load
 * @property {Row[]} rows fastest first, the harnessOverhead after them, then what gave no number
 * @property {Comparison | null} comparison null: of an open loop, or nothing was measured
 * @property {Pair[]} pairs contenders that are held against another one
 * @property {boolean} isAgainst all of its contenders are: none is the fastest
 */

/**
 * @param {Result} result
 * @returns {Group[]} in the order of the benchmarks; skipped benchmarks are in no group, nor are
 *   variants of a workload, which have tables of their own
 * @throws {DragstripError} E_USAGE where a histogram of the result is damaged
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
  else rows.sort((a, b) => placeOf(a) - placeOf(b) || perSecond(b) - perSecond(a));
  return { key, workload, load, rows, comparison, pairs, isAgainst: against };
}

/** With a server, embedded, the overhead, then what gave no number. @param {Row} row */
function placeOf({ kind, throughput }) {
  return throughput === null ? 3 : { server: 0, embedded: 1, overhead: 2 }[kind];
}

/** @param {Row} row */
function perSecond({ throughput }) {
  return throughput?.value ?? 0;
}

/**
 * @param {Result} result
 * @param {{ skipped?: boolean }} [options]
 * @returns {Row[]} of the variants of a workload, in the order of the benchmarks; their tables
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
 * @returns {Row} of it by itself
 */
export function rowOf(source, result) {
  return toRow(measuredOf(source, result), { comparison: null, pairs: [], result });
}

/**
 * @typedef {object} Measured what is known of a benchmark by itself
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
 * @returns {number | null} geometric mean over the rounds where it is known
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
 * @returns {Rank | null} of embedded stores only where there is nothing else
 */
function rankOf(standing, comparison) {
  if (standing === null || standing.rank === null || comparison === null) return null;
  const { rank: best, rankWorst, group } = standing;
  return group === comparison.standings.rows[0].group ? { best, worst: rankWorst ?? best } : null;
}

/**
 * @param {Measured} measured
 * @param {Standing | null} standing
 * @param {readonly Pair[]} pairs of a group whose contenders are held against a reference
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
 * @returns {Record<string, any>} loadGroup: the same where loads share a table
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
 * @returns {Row['mark']} something is wrong, or its speed drifted
 */
function markOf({ wrong, notRun, state, diagnostics, standing }) {
  const bad = wrong + notRun > 0 || state === 'failed' || state === 'aborted';
  if (bad || diagnostics.inconsistent !== null) return 'wrong';
  return (standing?.drift ?? diagnostics.drift)?.marked ? 'drift' : null;
}

/**
 * @typedef {{ server: number | null, client: number | null }} Shares of the limits where known
 *
 * @param {Measured} measured
 * @param {Row['throughput']} throughput
 * @param {Pick<Result, 'limits'>} result
 * @returns {Shares}
 */
function limitsOf({ source, protocol }, throughput, { limits }) {
  const of = (/** @type {number | null} */ limit) =>
    limit === null || throughput === null ? null : throughput.value / limit;
  // Both are limits of the point read, and of none else.
  const { connections, valueSize } = source.load;
  const isUsual = source.workload === 'get' && !connections && !valueSize;
  const known = isUsual ? limits : undefined;
  return {
    server: of(serverCeilingOf(known, protocol)),
    // It is the limit of one process.
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
  const found = bottleneckOf({
    occupancy: slices.flatMap(({ occupancy }) => occupancy ?? []),
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
  // What an open loop waits for is the next time that one is due.
  if (source.load.kind === 'rate' && found.verdict === 'latency') found.verdict = null;
  return found;
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
