/**
 * From what a benchmark's process gave back to a round of the result: percentiles and the
 * histogram.
 */

import { OK, OUTCOMES } from '../lib/outcome.js';
import { encode } from '../measure/hdr.js';
import { Histogram } from '../measure/histogram.js';

/**
 * @param {import('./executor.js').Execution} execution
 * @param {{ round: number, position: number }} place
 * @returns {Promise<import('../lib/result.js').Round>}
 */
export async function toRound({ record, failure, processNs }, place) {
  if (record === null) return failedRound(failure, processNs, place);
  const { latency, outcomes, durationNs, open, kinds, conditions, ...others } = record;
  const { seconds, poolWait, ...more } = others;
  const { startedNs: _from, endedNs: _to, serverSpanNs: _span, ...rest } = more;
  const ok = outcomes[OK];
  return {
    ...rest,
    ...place,
    outcomes: /** @type {import('../lib/result.js').Round['outcomes']} */ (
      Object.fromEntries(OUTCOMES.map((name, code) => [name, outcomes[code]]))
    ),
    durationNs,
    throughput: durationNs > 0 ? (ok / durationNs) * 1e9 : 0,
    ...(conditions && { conditions }),
    latency: await fromMessage(latency),
    ...(poolWait !== undefined && { poolWait: await fromMessage(poolWait) }),
    ...(seconds && { seconds: seconds.map(toSecond) }),
    ...(open && { open: { ...open, service: await fromMessage(open.service) } }),
    ...(kinds && {
      kinds: await Promise.all(
        kinds.map(async ({ name, latency: own }) => ({
          name,
          ok: own?.count ?? 0,
          latency: await fromMessage(own),
        })),
      ),
    }),
    processNs,
  };
}

/** @param {import('./record.js').HistogramMessage} message */
function toSecond(message) {
  const histogram = Histogram.fromSparse(message);
  return {
    ok: histogram.count,
    p50Ns: histogram.printablePercentile(0.5),
    p99Ns: histogram.printablePercentile(0.99),
    maxNs: histogram.max,
  };
}

/** @param {import('./record.js').HistogramMessage | null} message */
async function fromMessage(message) {
  return message === null ? null : toLatency(Histogram.fromSparse(message));
}

/**
 * @param {Histogram} histogram
 * @returns {Promise<import('../lib/result.js').Latency>}
 */
export async function toLatency(histogram) {
  const percentile = (/** @type {number} */ q) =>
    histogram.printable(q) ? histogram.percentile(q) : null;
  return {
    count: histogram.count,
    minNs: histogram.min,
    maxNs: histogram.max,
    meanNs: histogram.sum / histogram.count,
    p50Ns: percentile(0.5),
    p90Ns: percentile(0.9),
    p99Ns: percentile(0.99),
    p999Ns: percentile(0.999),
    histogram: await encode(histogram),
  };
}

/**
 * @param {{ code: string, message: string } | null} failure
 * @param {number | null} processNs
 * @param {{ round: number, position: number }} place
 * @returns {import('../lib/result.js').Round}
 */
function failedRound(failure, processNs, place) {
  return {
    ...place,
    // Stopped by us is not a fault of the storage.
    state: failure?.code === 'E_ABORTED' ? 'aborted' : 'failed',
    failure,
    createdNs: null,
    scheduled: 0,
    outcomes: /** @type {import('../lib/result.js').Round['outcomes']} */ (
      Object.fromEntries(OUTCOMES.map((name) => [name, 0]))
    ),
    samples: [],
    durationNs: 0,
    throughput: 0,
    inFlightMean: 0,
    latency: null,
    client: null,
    server: null,
    pendingBytes: null,
    warmup: { operations: 0, durationNs: 0, curve: [], windowNs: 0 },
    timeline: { windowNs: 0, operations: [] },
    processNs,
    workNs: null,
  };
}

/**
 * How the canary loop came out, against the first one of the run.
 * @param {import('../lib/result.js').Round} round
 * @param {import('../lib/result.js').Result} result without that round
 */
export function recordDrift({ conditions }, { benchmarks }) {
  if (conditions === undefined || conditions.canaryNs === null) return;
  const first = benchmarks
    .flatMap(({ rounds }) => rounds)
    .find((other) => other.round === 0 && other.position === 0);
  const referenceNs = first?.conditions?.canaryNs ?? conditions.canaryNs;
  conditions.canaryDrift = referenceNs > 0 ? conditions.canaryNs / referenceNs - 1 : null;
}
