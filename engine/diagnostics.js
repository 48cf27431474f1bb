/**
 * Diagnostics of a figure: a benchmark whose counters contradict each other, whose speed drifted
 * during the measurement, or with outlier rounds; a machine that changed its speed or was
 * preempted. Pure: from a result to marks and warnings, each with a hint.
 *
 * Goals: every diagnostic is reported once. Non-goals: removing data; every round counts.
 */

import { median } from 'simple-statistics';
import { driftOf, DRIFT_MAX as SPEED_DRIFT_MAX, windowsOf } from '../stats/drift.js';
import { LITTLE_TOLERANCE, littleCheck } from '../stats/little.js';
import { memoryGrowthOf } from '../stats/metrics.js';
import { findOutliers } from '../stats/outlier.js';
import { clusterWarnings } from './cluster-warnings.js';

/** @typedef {import('../lib/result.js').Result} Result */
/** @typedef {import('../lib/result.js').Benchmark} Benchmark */
/** @typedef {import('../lib/result.js').Round} Round */
/** @typedef {import('../lib/result.js').Warning} Warning */

/** Relative change of a fixed loop that indicates a change of the machine. */
export const DRIFT_MAX = 0.05;
/** Share of processor time taken by the hypervisor that triggers a warning. */
export const STEAL_MAX = 0.01;
/** All benchmarks of a result are tested: at 95 % each, one in twenty would be marked by chance. */
const DRIFT_CONFIDENCE = 0.995;
/** Caches, code and buffers that a process allocates once after its warm-up. */
const KEPT_BYTES_MAX = 4 * 2 ** 20;
/**
 * Failed operations have no latency but were in flight: above this share Little's law cannot be
 * checked.
 */
const NOT_OK_MAX = 0.001;

/**
 * @typedef {object} BenchmarkDiagnostics
 * @property {import('../stats/little.js').LittleCheck | null} inconsistent the worst round in which
 *   Little's law does not hold; null: it holds, or cannot be checked
 * @property {import('../stats/drift.js').Drift | null} drift drift of a closed loop over the
 *   windows of its timelines; null: fewer than two rounds of a second
 * @property {number[]} outliers indices of rounds with outlying throughput
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
    const little = littleOf(round);
    if (little === null || little.holds) continue;
    if (Math.abs(little.difference ?? 0) >= Math.abs(inconsistent?.difference ?? 0)) {
      inconsistent = little;
    }
  }
  // A burst and an open loop have no speed of their own that should be constant.
  const isClosed = load.kind === 'sync' || load.kind === 'window';
  const indexes = findOutliers(measured.map(({ throughput }) => throughput));
  return {
    inconsistent,
    drift: isClosed ? driftOf(windowsOf(measured), { confidence: DRIFT_CONFIDENCE }) : null,
    // With two or three values, one is always far from the others by some measure.
    outliers: measured.length < 4 ? [] : indexes.map((index) => measured[index].round),
    n: measured.length,
  };
}

/**
 * @param {Round} round
 * @returns {import('../stats/little.js').LittleCheck | null} null if it cannot be checked
 */
export function littleOf({ latency, open, outcomes, scheduled, durationNs, inFlightMean }) {
  // In an open loop unsent operations are not in flight, so the service time is the latency.
  const own = open === undefined ? latency : open.service;
  if (own === null || durationNs === 0) return null;
  const { miss, mismatch, error, timeout, unsent } = outcomes;
  if (miss + mismatch + error + timeout > (scheduled - unsent) * NOT_OK_MAX) return null;
  return littleCheck({
    throughputPerSecond: (own.count / durationNs) * 1e9,
    latencyNsMean: own.meanNs,
    inFlightMean,
  });
}

/**
 * @param {Pick<Result, 'benchmarks' | 'searches'>} result
 * @returns {Warning[]} entries to store with the result
 */
export function diagnosticWarnings({ benchmarks, searches }) {
  const looked = benchmarks
    .filter(({ rounds }) => rounds.length > 0)
    .map((benchmark) => ({ benchmark, diagnostics: diagnose(benchmark) }));
  return [
    looked.flatMap(inconsistentWarning),
    // The rounds of a search are trials under different loads by design.
    searches === undefined ? looked.flatMap(outlierWarning) : [],
    benchmarks.flatMap(staleWarning),
    looked.flatMap(driverLimitWarning),
    memoryWarnings(searches === undefined ? benchmarks : []),
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
    hint: 'check for a replica or a cache between driver and server',
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
 * A driver with its own time limit per request rejects requests that it has not yet sent.
 * @param {Looked} looked
 * @returns {Warning | []}
 */
function driverLimitWarning({ benchmark }) {
  const { storage, profile, load, rounds, id } = benchmark;
  const isGlide = storage.startsWith('valkey-glide');
  const timeoutCode = isGlide ? 'ETIMEDOUT' : 'TimeoutError';
  const isOwn = rounds.some(
    ({ outcomes, samples }) =>
      outcomes.timeout > 0 && samples.some(({ code }) => code === timeoutCode),
  );
  if (!isOwn || load.kind !== 'burst') return [];
  const count = rounds.reduce((sum, { outcomes }) => sum + outcomes.timeout, 0);
  const isRedis = storage === 'redis' && profile === 'default';
  const first = isGlide ? 'a longer --timeout, ' : isRedis ? '--storages redis:tuned, ' : '';
  return {
    code: 'W_DRIVER_TIMEOUT',
    message: `the driver’s own time limit per request rejected ${count} requests, sent or not`,
    hint: `use ${first}--in-flight K, or fewer --ops`,
    benchmark: id,
  };
}

/**
 * Memory retained by processes beyond one-time allocations of a driver.
 * @param {readonly Benchmark[]} benchmarks
 * @returns {Warning[]} one per storage, since the loads of a process in blocks share the figure
 */
function memoryWarnings(benchmarks) {
  /** @type {Map<string, Warning>} */
  const warnings = new Map();
  for (const benchmark of benchmarks) {
    const growth = memoryGrowthOf(benchmark);
    if (growth === null || growth.low * growth.operations <= KEPT_BYTES_MAX) continue;
    const [low, value, high] = [growth.low, growth.value, growth.high].map(shown);
    const key = JSON.stringify([benchmark.storage, benchmark.profile, growth]);
    if (warnings.has(key)) continue;
    warnings.set(key, {
      code: 'W_MEMORY_GROWS',
      message: `memory grows by ${value} bytes per operation (95 % ${low} to ${high})`,
      hint: 'check what the driver retains per request, permanently or until a timer ends',
      benchmark: benchmark.id,
    });
  }
  return [...warnings.values()];
}

/**
 * One warning for all benchmarks; a busy machine would trigger one for each.
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
 * @returns {Warning[]} load of the machine while measuring
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
 * @property {number} n number of rounds examined
 * @property {number | null} drift the canary farthest from the median of all; null: unknown
 * @property {number} drifted canaries that deviate by more than 5 %
 * @property {number | null} stealShare maximum; null: unknown
 * @property {number | null} busyShare median; null: unknown
 * @property {number | null} throttledCount sum; null: unknown
 * @property {number | null} throttledNs sum
 * @property {number | null} loadAverage maximum; null: unknown
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
