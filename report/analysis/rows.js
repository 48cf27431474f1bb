/**
 * From a result to the rows of its tables: one group for each workload and load, in it one row for
 * each source. Pure; every report shows the same numbers because they are made here.
 *
 * Goals: a state for what did not run, null for what is not known, a ratio that compares like with
 * like. Non-goals: text (lib/format.js), verdicts (compare.js).
 */

import { diagnose, isUnsteady } from '../../engine/diagnostics.js';
import { clientCeilingOf, serverCeilingOf } from '../../lib/ceilings.js';
import { DragstripError } from '../../lib/errors.js';
import { labelOf } from '../../lib/label.js';
import { loadName } from '../../lib/load-name.js';
import { OUTCOMES } from '../../lib/outcome.js';
import { decode } from '../../measure/hdr.js';
import { Histogram } from '../../measure/histogram.js';
import { boundOf } from '../../stats/bottleneck.js';
import { generatorsOf } from '../../stats/fleet.js';
import { summarizeRounds } from '../../stats/summary.js';
import { mergedHistogram } from './curve.js';
import { noiseOf, ranksOf } from './ranks.js';
import { kindSummaries, loadKey, openSummary, sortByRate } from './rates.js';
import { applyStandings } from './standings.js';

/**
 * The storage with nothing behind it: what the harness costs. It is a harnessOverhead, not a
 * contender.
 */
const OVERHEAD_STORAGE = 'memory';

const REMARKS = Object.freeze({ server: null, embedded: 'embedded', overhead: 'overhead' });

/** @typedef {import('../../lib/result.js').Result} Result */
/** @typedef {import('../../lib/result.js').Benchmark} Benchmark */
/** @typedef {import('../../lib/result.js').Round} Round */

/**
 * @typedef {object} Percentiles service time of the ok operations, merged over the rounds
 * @property {number} count
 * @property {number | null} p50Ns null where fewer than 10 values lie above
 * @property {number | null} p99Ns
 * @property {number | null} p999Ns
 */

/**
 * @typedef {object} Row a benchmark: what the metrics of stats/metrics.js are taken from
 * @property {Benchmark} source
 * @property {Record<string, any>} keys storage, workload, load and parameters
 * @property {'wrong' | 'unsteady' | 'drift' | null} mark
 * @property {boolean} unsteady still warming up when measurement started
 * @property {string | null} remark what it is, where it is no storage with a server
 * @property {import('./rates.js').OpenSummary | null} open of an open loop
 * @property {import('./rates.js').KindSummary[]} kinds of a mix
 * @property {string} label `ioredis`, `ioredis:tuned`
 * @property {'server' | 'embedded' | 'overhead'} kind what is behind it
 * @property {Benchmark['state']} state
 * @property {number} n rounds measured whole
 * @property {import('../../stats/summary.js').RoundSummary | null} throughput of these; null where
 *   n is 0
 * @property {import('./ranks.js').Rank | null} rank among its contenders, ties as ties; null: none,
 *   or fewer than two rounds
 * @property {import('../../engine/diagnostics.js').BenchmarkDiagnostics} diagnostics what speaks
 *   against the figure
 * @property {number | null} ratio median throughput against that of the group's reference
 * @property {import('../../stats/standings.js').Row} [standing] of a comparison by slices
 * @property {Percentiles | null} latency
 * @property {() => Histogram | null} histogram of the same
 * @property {number | null} clientCpuNs user and system, for each ok operation
 * @property {number | null} serverCpuNs the same of the server; null: embedded or not readable
 * @property {number | null} rssBytesMax of the client, greatest of the rounds
 * @property {number | null} pendingBytes burst: client memory for each pending request, median
 * @property {import('../../stats/bottleneck.js').Bound | null} bound null: nothing was measured, or
 *   the harnessOverhead
 * @property {number | null} ofServerCeiling median throughput over the wire's; null: not known
 * @property {number | null} ofClientCeiling the same over the driver's, under the same load
 * @property {number} scheduled operations of all rounds, also of those that failed
 * @property {Record<import('../../lib/types.js').Outcome, number>} outcomes of the same
 * @property {number} wrong of the same: miss, mismatch, error and timeout
 * @property {number} notRun of the same: dropped and unsent
 */

/**
 * @typedef {object} Group
 * @property {string} key the id of its table
 * @property {string} workload
 * @property {import('../../lib/result.js').Load} load
 * @property {Row[]} rows fastest first, the harnessOverhead after them, then what gave no number
 * @property {import('../../stats/noise.js').NoiseFloor} noise how far apart equal tests came out
 * @property {import('./standings.js').Comparison} [comparison] by slices
 * @property {Row | null} reference the fastest that talks to a server, else the fastest embedded
 */

/**
 * @param {Result} result
 * @returns {Group[]} in the order of the benchmarks; skipped benchmarks are in no group, nor are
 *   variants of a workload, which have tables of their own
 * @throws {DragstripError} E_USAGE where a histogram of the result is damaged
 */
export function toGroups(result) {
  const servers = new Map(result.storages.map((storage) => [storageKey(storage), storage.server]));
  /** @type {Map<string, Group>} */
  const groups = new Map();
  for (const source of result.benchmarks) {
    if (source.state === 'skipped' || source.parameters !== undefined) continue;
    const { workload, load } = source;
    const key = JSON.stringify([workload, loadKey(load)]);
    const group = groups.get(key) ?? newGroup(workload, load);
    groups.set(key, group);
    const row = toRow(source, servers.get(storageKey(source)) ?? null);
    addBound(row, result);
    group.rows.push(row);
  }
  for (const group of groups.values()) {
    rank(group);
    group.noise = noiseOf(group.rows);
    const ranks = ranksOf(group.rows, group.noise.noise);
    for (const [i, row] of group.rows.entries()) row.rank = ranks[i];
    applyStandings(group, result);
  }
  return [...groups.values()];
}

/**
 * @param {Result} result
 * @param {{ skipped?: boolean }} [options]
 * @returns {Row[]} of the variants of a workload, in the order of the benchmarks
 */
export function variantRows({ benchmarks, storages }, { skipped = false } = {}) {
  const servers = new Map(storages.map((storage) => [storageKey(storage), storage.server]));
  return (
    benchmarks
      .filter(
        ({ state, parameters }) => (skipped || state !== 'skipped') && parameters !== undefined,
      )
      .map((source) => toRow(source, servers.get(storageKey(source)) ?? null))
      // Requests of a strategy, or locks, have a warm-up of their own kind.
      .map((row) => ({ ...row, mark: row.mark === 'unsteady' ? null : row.mark }))
  );
}

/**
 * @param {string} workload
 * @param {import('../../lib/result.js').Load} load
 * @returns {Group}
 */
function newGroup(workload, load) {
  const key = `${workload} ${loadKey(load)}`;
  return { key, workload, load, rows: [], noise: { noise: null, pairs: 0, n: 0 }, reference: null };
}

/** @param {{ name?: string, storage?: string, profile: string }} storage */
function storageKey({ name, storage, profile }) {
  return JSON.stringify([name ?? storage, profile]);
}

/**
 * @param {Benchmark} source
 * @param {string | null} server
 * @returns {Row}
 */
export function toRow(source, server) {
  const measured = source.rounds.filter(({ state }) => state === 'measured');
  const outcomes = sumOutcomes(source.rounds);
  const diagnostics = diagnose(source);
  const kind =
    source.storage === OVERHEAD_STORAGE ? 'overhead' : server === null ? 'embedded' : 'server';
  const sums = {
    wrong: outcomes.miss + outcomes.mismatch + outcomes.error + outcomes.timeout,
    notRun: outcomes.dropped + outcomes.unsent,
  };
  return {
    source,
    label: labelOf(source),
    keys: keysOf(source),
    mark: markOf({ ...sums, state: source.state, diagnostics }),
    unsteady: isUnsteady(diagnostics),
    remark: REMARKS[kind],
    kind,
    open: openSummary(source),
    kinds: kindSummaries(source),
    state: source.state,
    n: measured.length,
    throughput:
      measured.length === 0 ? null : summarizeRounds(measured.map(({ throughput }) => throughput)),
    rank: null,
    diagnostics,
    ratio: null,
    latency: mergeLatency(source, measured),
    histogram: () => mergedHistogram(source),
    clientCpuNs: perOperation(measured, ({ client }) =>
      client === null ? null : client.userNs + client.systemNs,
    ),
    serverCpuNs: perOperation(measured, (round) => round.server?.cpuNs ?? null),
    rssBytesMax: greatest(measured.map(({ client }) => client?.rssBytesMax ?? null)),
    bound: null,
    ofServerCeiling: null,
    ofClientCeiling: null,
    pendingBytes: medianOf(measured.map(({ pendingBytes }) => pendingBytes)),
    scheduled: source.rounds.reduce((sum, round) => sum + round.scheduled, 0),
    outcomes,
    ...sums,
  };
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
 * @param {Pick<Row, 'wrong' | 'notRun' | 'state' | 'diagnostics'>} row
 * @returns {Row['mark']} something is wrong, or it was still warming up
 */
function markOf({ wrong, notRun, state, diagnostics }) {
  const bad = wrong + notRun > 0 || state === 'failed' || state === 'aborted';
  if (bad || diagnostics.inconsistent !== null) return 'wrong';
  return isUnsteady(diagnostics) ? 'unsteady' : null;
}

/**
 * What the row was bound by, and how near it came to the limits where those are known.
 * @param {Row} row is completed
 * @param {Result} result
 */
function addBound(row, { limits, storages, environment }) {
  const { source, kind, throughput } = row;
  if (throughput === null || kind === 'overhead') return;
  const of = (/** @type {number | null} */ limit) =>
    limit === null || throughput.median === null ? null : throughput.median / limit;
  const storage = storages.find((one) => storageKey(one) === storageKey(source));
  // Both are limits of the point read, and of none else.
  const { connections, valueSize } = source.load;
  const isUsual = source.workload === 'get' && !connections && !valueSize;
  const known = isUsual ? limits : undefined;
  row.ofServerCeiling = of(serverCeilingOf(known, storage?.protocol ?? null));
  const processes = generatorsOf(source);
  // It is the limit of one process.
  row.ofClientCeiling = processes === 1 ? of(clientCeilingOf(known, source)) : null;
  const rounds = source.rounds.filter(({ state }) => state === 'measured');
  row.bound = boundOf({
    durationNs: sumOf(rounds, ({ durationNs }) => durationNs) ?? 0,
    clientCpuNs: sumOf(rounds, ({ client }) => client && client.userNs + client.systemNs),
    serverCpuNs: sumOf(rounds, ({ server }) => server?.cpuNs ?? null),
    serverThreadNs: sumOf(rounds, ({ server }) => server?.threadNsMax ?? null),
    embedded: kind === 'embedded',
    cores: environment.cores,
    processes,
    ofServerCeiling: row.ofServerCeiling,
    ofClientCeiling: row.ofClientCeiling,
  });
  // What an open loop waits for is the next time that one is due.
  if (source.load.kind === 'rate' && row.bound.verdict === 'latency') row.bound.verdict = null;
}

/**
 * @param {readonly Round[]} rounds
 * @param {(round: Round) => number | null} valueIn
 * @returns {number | null} null where one is not known
 */
function sumOf(rounds, valueIn) {
  let sum = 0;
  for (const round of rounds) {
    const value = valueIn(round);
    if (value === null) return null;
    sum += value;
  }
  return sum;
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

/**
 * Whole-phase differences over all ok operations of the rounds where it is known.
 * @param {readonly Round[]} rounds
 * @param {(round: Round) => number | null} valueIn
 * @returns {number | null}
 */
function perOperation(rounds, valueIn) {
  let [sum, ok] = [0, 0];
  for (const round of rounds) {
    const value = valueIn(round);
    if (value === null) continue;
    sum += value;
    ok += round.outcomes.ok;
  }
  return ok === 0 ? null : sum / ok;
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

/** @param {readonly (number | null)[]} values */
function medianOf(values) {
  const numbers = known(values);
  return numbers.length === 0 ? null : summarizeRounds(numbers).median;
}

/**
 * @param {Benchmark} source
 * @param {readonly Round[]} rounds
 * @returns {Percentiles | null}
 */
function mergeLatency(source, rounds) {
  const merged = new Histogram();
  let any = false;
  for (const { round, latency } of rounds) {
    if (latency === null) continue;
    any = true;
    merged.merge(readHistogram(latency, `benchmark ${source.id}, round ${round}`));
  }
  if (!any) return null;
  return {
    count: merged.count,
    p50Ns: merged.printablePercentile(0.5),
    p99Ns: merged.printablePercentile(0.99),
    p999Ns: merged.printablePercentile(0.999),
  };
}

/**
 * @param {import('../../lib/result.js').Latency} latency
 * @param {string} where for the message
 */
function readHistogram({ histogram, count }, where) {
  try {
    return decode(histogram, { count });
  } catch (error) {
    throw new DragstripError('E_USAGE', `${where}: ${error.message}`, {
      hint: error.hint,
      cause: error,
    });
  }
}

/**
 * Orders the rows and gives them their ratios. One denominator for the whole table, so that a ratio
 * means the same in each row: the fastest storage that talks to a server. An embedded store, which
 * has neither server nor wire, is then seen to be so many times that. What gave wrong answers or
 * failed cannot be the measure of others.
 * @param {Group} group
 */
function rank(group) {
  if (group.load.kind === 'rate') {
    sortByRate(group.rows); // their throughput is what was offered, and no merit
    return;
  }
  const order = (/** @type {Row} */ row) =>
    row.throughput === null ? 2 : row.kind === 'overhead' ? 1 : 0;
  // The sort is stable: ties stay as they are in the result.
  group.rows.sort((a, b) => order(a) - order(b) || medianThroughput(b) - medianThroughput(a));
  const eligible = group.rows.filter(
    ({ throughput, kind, wrong, state }) =>
      (throughput?.median ?? 0) > 0 && kind !== 'overhead' && wrong === 0 && state !== 'failed',
  );
  group.reference = eligible.find(({ kind }) => kind === 'server') ?? eligible[0] ?? null;
  if (group.reference === null) return;
  const base = medianThroughput(group.reference);
  for (const row of group.rows) {
    if (row.throughput !== null) row.ratio = medianThroughput(row) / base;
  }
}

/** @param {Row} row */
function medianThroughput({ throughput }) {
  return throughput?.median ?? 0;
}
