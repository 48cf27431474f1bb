/**
 * What speaks against a figure: a benchmark whose counters contradict each other, whose speed
 * drifted while it was measured, or with rounds far from the others; a machine that changed its
 * speed
 * or took time away. Pure: from a result to marks and warnings, each with what helps.
 *
 * Goals: every diagnostic is reported once. Non-goals: deleting anything; every round counts.
 */

import { median } from 'simple-statistics';
import { driftOf, DRIFT_MAX as SPEED_DRIFT_MAX, windowsOf } from '../stats/drift.js';
import { LITTLE_TOLERANCE, littleCheck } from '../stats/little.js';
import { findOutliers } from '../stats/outlier.js';
import { clusterWarnings } from './cluster-warnings.js';

/** @typedef {import('../lib/result.js').Result} Result */
/** @typedef {import('../lib/result.js').Benchmark} Benchmark */
/** @typedef {import('../lib/result.js').Round} Round */
/** @typedef {import('../lib/result.js').Warning} Warning */

/** A fixed loop that takes so much longer or shorter shows another machine. */
export const DRIFT_MAX = 0.05;
/** Processor time taken by the hypervisor, as a share, that is worth a warning. */
export const STEAL_MAX = 0.01;
/** All benchmarks of a result are looked at: at 95 % each, one of twenty would be marked by chance. */
const DRIFT_CONFIDENCE = 0.995;
/** What is not ok has no latency, but was in flight: above this share the law says nothing. */
const NOT_OK_MAX = 0.001;

/**
 * @typedef {object} BenchmarkDiagnostics
 * @property {import('../stats/little.js').LittleCheck | null} inconsistent the worst round of
 *   those in
 *   which Little's law does not hold; null: it holds, or cannot be checked
 * @property {import('../stats/drift.js').Drift | null} drift of a closed loop over the windows of
 *   its
 *   timelines; null: of fewer than two rounds of a second
 * @property {number[]} outliers round numbers, from 0, far from the others in throughput
 * @property {number} n measured rounds
 */

/**
 * @param {Pick<Benchmark, 'load' | 'rounds'>} benchmark
 * @returns {BenchmarkDiagnostics}
 */
export function diagnose({ load, rounds }) {
  const measured = rounds.filter(({ state }) => state === 'measured');
  /** @type {BenchmarkDiagnostics['inconsistent']} */
  let inconsistent = null;
  for (const round of measured) {
    const law = lawOf(round);
    if (law === null || law.holds) continue;
    if (Math.abs(law.difference ?? 0) >= Math.abs(inconsistent?.difference ?? 0)) {
      inconsistent = law;
    }
  }
  // A burst and an open loop have no speed of their own that could stay the same.
  const isClosed = load.kind === 'sync' || load.kind === 'window';
  const indexes = findOutliers(measured.map(({ throughput }) => throughput));
  return {
    inconsistent,
    drift: isClosed ? driftOf(windowsOf(measured), { confidence: DRIFT_CONFIDENCE }) : null,
    // Of two or three values one is always far from the others, by some measure.
    outliers: measured.length < 4 ? [] : indexes.map((index) => measured[index].round),
    n: measured.length,
  };
}

/**
 * @param {Round} round
 * @returns {import('../stats/little.js').LittleCheck | null} null: cannot be checked
 */
export function lawOf({ latency, open, outcomes, scheduled, durationNs, inFlightMean }) {
  // In an open loop unsent operations are not in flight: there the service time is the latency.
  const own = open === undefined ? latency : open.service;
  if (own === null || durationNs === 0) return null;
  const { miss, mismatch, error, timeout } = outcomes;
  if (miss + mismatch + error + timeout > scheduled * NOT_OK_MAX) return null;
  return littleCheck({
    throughputPerSecond: (own.count / durationNs) * 1e9,
    latencyNsMean: own.meanNs,
    inFlightMean,
  });
}

/**
 * @param {Pick<Result, 'benchmarks' | 'searches'>} result
 * @returns {Warning[]} to be stored with the result
 */
export function diagnosticWarnings({ benchmarks, searches }) {
  const looked = benchmarks
    .filter(({ rounds }) => rounds.length > 0)
    .map((benchmark) => ({ benchmark, diagnostics: diagnose(benchmark) }));
  return [
    looked.flatMap(inconsistentWarning),
    // The rounds of a search are trials, and of different loads by intention.
    searches === undefined ? looked.flatMap(outlierWarning) : [],
    benchmarks.flatMap(staleWarning),
    looked.flatMap(driverLimitWarning),
    clusterWarnings(searches === undefined ? benchmarks : []),
    driftWarning(looked),
    machineWarnings(benchmarks),
  ].flat();
}

/**
 * @param {Benchmark} benchmark
 * @returns {Warning | []}
 */
function staleWarning({ id, rounds }) {
  const stale = rounds.reduce((sum, { compared }) => sum + (compared?.stale ?? 0), 0);
  if (stale === 0) return [];
  const replies = rounds.reduce((sum, { compared }) => sum + (compared?.replies ?? 0), 0);
  return {
    code: 'W_STALE',
    message: `${stale} of ${replies} reads were stale: older than the last acknowledged write`,
    hint: 'look for a replica or a cache between driver and server',
    benchmark: id,
  };
}

/** @typedef {{ benchmark: Benchmark, diagnostics: BenchmarkDiagnostics }} Looked */

/**
 * @param {Looked} looked
 * @returns {Warning | []}
 */
function inconsistentWarning({ benchmark, diagnostics: { inconsistent } }) {
  if (inconsistent === null) return [];
  const { measured, expected } = inconsistent;
  return {
    code: 'W_LITTLE',
    message:
      `inconsistent: ${shown(measured)} in flight were counted, throughput × latency gives ` +
      `${shown(expected)}; more than ${percent(LITTLE_TOLERANCE)} apart`,
    hint: 'discard this result; check whether the driver calls back twice or too early',
    benchmark: benchmark.id,
  };
}

/**
 * @param {Looked} looked
 * @returns {Warning | []}
 */
function outlierWarning({ benchmark, diagnostics: { outliers } }) {
  if (outliers.length === 0) return [];
  const rounds = outliers.map((round) => round + 1).join(', ');
  return {
    code: 'W_OUTLIER',
    message: `round ${rounds} is an outlier; no round is excluded`,
    hint: 'stop other programs and use more --rounds',
    benchmark: benchmark.id,
  };
}

/**
 * A driver with a time limit of its own per request rejects what it has not even sent.
 * @param {Looked} looked
 * @returns {Warning | []}
 */
function driverLimitWarning({ benchmark }) {
  const { storage, profile, load, rounds, id } = benchmark;
  const isOwn = rounds.some(
    ({ outcomes, samples }) =>
      outcomes.timeout > 0 && samples.some(({ code }) => code === 'TimeoutError'),
  );
  if (!isOwn || load.kind !== 'burst') return [];
  const count = rounds.reduce((sum, { outcomes }) => sum + outcomes.timeout, 0);
  const tuned = storage === 'redis' && profile === 'default' ? '--storages redis:tuned, ' : '';
  return {
    code: 'W_DRIVER_TIMEOUT',
    message: `the driver’s own time limit per request rejected ${count} requests, sent or not`,
    hint: `use ${tuned}--in-flight K, or fewer --ops`,
    benchmark: id,
  };
}

/**
 * One for all: on a busy machine it would be one for each benchmark.
 * @param {Looked[]} looked
 * @returns {Warning | []}
 */
function driftWarning(looked) {
  const marked = looked.filter(({ diagnostics }) => diagnostics.drift?.marked);
  if (marked.length === 0) return [];
  const which = marked.length === looked.length ? 'all' : `${marked.length}`;
  return {
    code: 'W_UNSTEADY',
    message:
      `still warming up, or slowing down, in ${which} of ${looked.length} benchmarks: the last ` +
      `third of the time was more than ${percent(SPEED_DRIFT_MAX)} faster or slower than the first`,
    hint: 'use a longer --warmup on an idle machine',
    benchmark: null,
  };
}

/**
 * @param {readonly Benchmark[]} benchmarks
 * @returns {Warning[]} of the machine while measuring
 */
function machineWarnings(benchmarks) {
  const { drift, drifted, stealShare, throttledCount, throttledNs, n } =
    summarizeConditions(benchmarks);
  /** @type {Warning[]} */
  const warnings = [];
  const warn = (/** @type {string} */ code, /** @type {string} */ message, hint = '') =>
    warnings.push({ code, message, hint, benchmark: null });
  if (drift !== null && drift > DRIFT_MAX) {
    warn(
      'W_CANARY',
      `machine speed changed: a fixed loop took up to ${percent(drift)} more or less ` +
        `than usual (${drifted} of ${n} times more than ${percent(DRIFT_MAX)})`,
      'stop other programs, fix the processor frequency, use more --rounds',
    );
  }
  if (stealShare !== null && stealShare > STEAL_MAX) {
    warn(
      'W_STEAL',
      `steal time: the hypervisor took up to ${percent(stealShare)} of the processor time`,
      'run on a dedicated machine, or when the host is less busy',
    );
  }
  if (throttledCount !== null && throttledCount > 0) {
    const ms = Math.round((throttledNs ?? 0) / 1e6);
    warn(
      'W_THROTTLED',
      `the container’s CPU limit throttled this program ${throttledCount} times, ${ms} ms`,
      'raise the limit (docker run --cpus, resources.limits.cpu), or remove it',
    );
  }
  return warnings;
}

/**
 * @typedef {object} ConditionsSummary
 * @property {number} n rounds that were looked at
 * @property {number | null} drift the farthest canary from the median of all; null: unknown
 * @property {number} drifted canaries that were more than 5 % from it
 * @property {number | null} stealShare the greatest; null: unknown
 * @property {number | null} busyShare median; null: unknown
 * @property {number | null} throttledCount sum; null: unknown
 * @property {number | null} throttledNs sum
 * @property {number | null} loadAverage the greatest; null: unknown
 */

/**
 * @param {readonly Pick<Benchmark, 'rounds'>[]} benchmarks
 * @returns {ConditionsSummary}
 */
export function summarizeConditions(benchmarks) {
  const all = benchmarks.flatMap(({ rounds }) =>
    rounds.flatMap(({ conditions }) => conditions ?? []),
  );
  const known = (/** @type {keyof typeof all[number]} */ name) =>
    all.map((one) => one[name]).filter((value) => typeof value === 'number');
  const greatest = (/** @type {number[]} */ values) =>
    values.length === 0 ? null : Math.max(...values);
  const sum = (/** @type {number[]} */ values) =>
    values.length === 0 ? null : values.reduce((total, value) => total + value, 0);
  const canaries = known('canaryNs').filter((value) => value > 0);
  const centre = canaries.length === 0 ? 0 : median(canaries);
  const drifts = canaries.map((value) => Math.abs(value / centre - 1));
  const busy = known('busyShare');
  return {
    n: all.length,
    drift: greatest(drifts),
    drifted: drifts.filter((drift) => drift > DRIFT_MAX).length,
    stealShare: greatest(known('stealShare')),
    busyShare: busy.length === 0 ? null : median(busy),
    throttledCount: sum(known('throttledCount')),
    throttledNs: sum(known('throttledNs')),
    loadAverage: greatest(known('loadAverage')),
  };
}

/** @param {number} share */
function percent(share) {
  return `${Number((share * 100).toPrecision(2))} %`;
}

/** @param {number} value */
function shown(value) {
  return String(Number(value.toPrecision(3)));
}
