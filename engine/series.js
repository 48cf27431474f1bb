/**
 * Results per series of a load: exact latencies, observed in-flight counts, throughput. Pure: from
 * the trace of a load to plain data for the result.
 */

import { medianOfSorted, printablePercentile } from '../stats/percentile.js';

/** @typedef {import('../lib/types.js').Series} Series */
/** @typedef {import('../lib/result.js').SeriesResult} SeriesResult */
/**
 * @typedef {Pick<import('../load/trace-recorder.js').TraceRecorder, 'calledNs' | 'endedNs'>} Trace
 */

/** A longer series has its latencies only in the histogram of the round. */
export const LATENCIES_MAX = 100_000;

/**
 * @param {Trace} trace
 * @param {readonly Series[]} series series in the order of their operations
 * @returns {SeriesResult[]}
 */
export function summarizeSeries(trace, series) {
  return series.map((one, i) =>
    summarizeOne(trace, one, {
      from: series[i - 1]?.to ?? 0,
      to: series[i + 1]?.from ?? trace.endedNs.length,
    }),
  );
}

/**
 * @param {Trace} trace
 * @param {Series} series
 * @param {{ from: number, to: number }} around number of operations that may have been in flight at
 *   the same time
 * @returns {SeriesResult}
 */
function summarizeOne({ calledNs, endedNs }, { keys, warmup, from, to, keysOf }, around) {
  /** @type {number[]} */
  const latenciesNs = [];
  /** @type {number[]} */
  const keysOfOk = [];
  let startNs = Number.POSITIVE_INFINITY;
  let endNs = Number.NEGATIVE_INFINITY;
  for (let i = from; i < to; i += 1) {
    if (calledNs[i] < startNs) startNs = calledNs[i];
    if (endedNs[i] > endNs) endNs = endedNs[i];
    if (Number.isNaN(endedNs[i])) continue;
    latenciesNs.push(endedNs[i] - calledNs[i]);
    if (keysOf !== undefined) keysOfOk.push(keysOf[i - from]);
  }
  const durationNs = Math.max(0, endNs - startNs) || 0;
  const { area, ended } = countBetween({ calledNs, endedNs }, around, startNs, endNs);
  const sorted = Float64Array.from(latenciesNs).sort();
  return {
    keys: keysOf === undefined ? keys : null,
    warmup,
    cycles: to - from,
    ok: latenciesNs.length,
    medianNs: medianOfSorted(sorted),
    p90Ns: printablePercentile(sorted, 0.9),
    p99Ns: printablePercentile(sorted, 0.99),
    minNs: sorted.length === 0 ? null : sorted[0],
    maxNs: sorted.length === 0 ? null : sorted[sorted.length - 1],
    durationNs,
    throughput: durationNs > 0 ? (ended / durationNs) * 1e9 : 0,
    inFlightMean: durationNs > 0 ? area / durationNs : 0,
    latenciesNs: latenciesNs.length > LATENCIES_MAX ? null : latenciesNs,
    ...(keysOf !== undefined && { keysOf: keysOfOk }),
  };
}

/**
 * All operations in flight during a span, including those that began before it or ended after it.
 * Uncounted fetches around a series keep the number in flight at its ends as high as in its middle.
 * @param {Trace} trace
 * @param {{ from: number, to: number }} around
 * @param {number} startNs
 * @param {number} endNs
 * @returns {{ area: number, ended: number }} number in flight × ns; replies in the span
 */
function countBetween({ calledNs, endedNs }, around, startNs, endNs) {
  let area = 0;
  let ended = 0;
  for (let i = around.from; i < around.to; i += 1) {
    const overlapNs = Math.min(endedNs[i], endNs) - Math.max(calledNs[i], startNs);
    if (overlapNs > 0) area += overlapNs;
    if (endedNs[i] > startNs && endedNs[i] <= endNs) ended += 1;
  }
  return { area, ended };
}
