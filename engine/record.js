/**
 * What a benchmark's process gives back: plain data for a message between processes, and how a
 * load's recorder becomes part of it. Percentiles are made of it in round.js.
 */

import { OK, OUTCOMES } from '../lib/outcome.js';
import { DetailedRecorder } from '../load/detailed-recorder.js';
import { SecondsRecorder } from '../load/seconds-recorder.js';
import { TraceRecorder } from '../load/trace-recorder.js';
import { busiestThreadNs } from '../measure/usage.js';
import { summarizeSeries } from './series.js';

/**
 * @typedef {ReturnType<import('../measure/histogram.js').Histogram['toMessage']>}
 * HistogramMessage
 */

/**
 * @typedef {object} BenchmarkRecord what a benchmark gives back; the runner makes a round of the
 *   result of it
 * @property {'measured' | 'failed' | 'aborted'} state
 * @property {{ code: string, message: string } | null} failure
 * @property {number | null} createdNs
 * @property {number} scheduled
 * @property {number[]} outcomes by code of lib/outcome.js
 * @property {import('../lib/result.js').Sample[]} samples
 * @property {number | null} startedNs on the system's monotonic clock
 * @property {number | null} endedNs
 * @property {number} durationNs
 * @property {number} inFlightMean counted, apart from the latencies
 * @property {import('../lib/result.js').Conditions | null} conditions
 * @property {HistogramMessage | null} latency
 * @property {HistogramMessage[]} [seconds] the same of each second
 * @property {(import('../load/rate.js').OpenCounts & { service: HistogramMessage | null }) | null
 *   } open of an open loop
 * @property {{ name: string, latency: HistogramMessage | null }[] | null} kinds of a mix
 * @property {import('../lib/result.js').Round['client']} client
 * @property {import('../lib/result.js').Round['server']} server
 * @property {import('../lib/result.js').Round['others']} [others] further servers, by name
 * @property {import('../lib/types.js').WorkloadMetrics} [metrics] of the workload
 * @property {[number, number] | null} serverSpanNs its CPU time before and after, since it started
 * @property {number | null} pendingBytes
 * @property {import('../lib/result.js').Outage[]} [outages] with --on-outage continue
 * @property {import('../lib/types.js').Compared} [compared] with the dataset, of the measurement
 * @property {Record<string, number>} [redirects] by kind, of a cluster client that tells
 * @property {HistogramMessage | null} [poolWait] of a pool whose driver shows it
 * @property {import('../lib/result.js').Round['warmup']} warmup
 * @property {import('../lib/result.js').Round['timeline']} timeline
 * @property {import('../lib/result.js').SeriesResult[]} [series] where the workload looks at each
 *   operation
 * @property {number | null} workNs
 * @property {import('../lib/fleet.js').RoundAgent[]} [agents] of several load machines
 */

/** @returns {BenchmarkRecord} of a benchmark that has not begun */
export function emptyRecord() {
  return {
    state: 'failed',
    failure: null,
    createdNs: null,
    scheduled: 0,
    outcomes: OUTCOMES.map(() => 0),
    samples: [],
    startedNs: null,
    endedNs: null,
    durationNs: 0,
    inFlightMean: 0,
    conditions: null,
    latency: null,
    open: null,
    kinds: null,
    client: null,
    server: null,
    serverSpanNs: null,
    pendingBytes: null,
    warmup: { operations: 0, durationNs: 0, curve: [], windowNs: 0 },
    timeline: { windowNs: 0, operations: [] },
    workNs: null,
  };
}

/**
 * What a load gave, into the record.
 * @param {BenchmarkRecord} record
 * @param {import('../load/load.js').LoadReport} load
 * @param {number} originNs of the clock
 */
export function recordLoad(record, load, originNs) {
  const { recorder, scheduled, ended, durationNs, inFlightMean, open } = load;
  const { histogram } = recorder;
  record.state = ended === 'aborted' ? 'aborted' : 'measured';
  record.scheduled = scheduled;
  record.outcomes = Array.from(recorder.outcomes);
  record.samples = recorder.samples;
  record.startedNs = originNs + recorder.startNs;
  record.endedNs = originNs + recorder.endNs;
  record.durationNs = durationNs;
  record.inFlightMean = inFlightMean;
  record.timeline = { windowNs: recorder.windowNs, operations: recorder.windows };
  record.latency = toMessage(histogram);
  if (recorder instanceof SecondsRecorder) record.seconds = recorder.toSeconds();
  if (!(recorder instanceof DetailedRecorder)) return;
  const { service, kinds, byKind } = recorder;
  if (open !== null) record.open = { ...open, service: toMessage(service) };
  if (kinds === null) return;
  record.kinds = byKind.map((own, i) => ({ name: kinds.names[i], latency: toMessage(own) }));
}

/**
 * @typedef {object} LiveFigures since the load began
 * @property {readonly number[]} outcomes by code; those that are ok are counted when it ends
 * @property {HistogramMessage | null} latency
 */

/**
 * @param {import('../load/recorder.js').Recorder} recorder
 * @returns {LiveFigures}
 */
export function liveOf({ outcomes, histogram }) {
  return { outcomes: Array.from(outcomes), latency: toMessage(histogram) };
}

/**
 * What a load that still runs has measured: kept in case that nothing comes after it.
 * @param {import('../load/recorder.js').Recorder} recorder
 * @param {import('../measure/clock.js').Clock} clock
 * @returns {BenchmarkRecord} of the operations that have an outcome
 */
export function recordSoFar(recorder, { now, originNs = 0 }) {
  const nowNs = now();
  const record = emptyRecord();
  const load = { recorder, scheduled: 0, durationNs: nowNs - recorder.startNs, inFlightMean: 0 };
  recordLoad(record, { ...load, ended: 'aborted', open: null, steady: null }, originNs);
  record.endedNs = originNs + nowNs;
  record.outcomes[OK] = recorder.histogram.count;
  record.scheduled = record.outcomes.reduce((sum, count) => sum + count, 0);
  return record;
}

/**
 * @param {BenchmarkRecord} record
 * @param {import('../load/load.js').LoadReport} load
 * @param {readonly import('../lib/types.js').Series[] | undefined} series of the workload, if any
 */
export function recordSeries(record, { recorder }, series) {
  if (series === undefined || !(recorder instanceof TraceRecorder)) return;
  record.series = summarizeSeries(recorder, series);
}

/** So many windows of the warm-up are kept, at most. */
const CURVE_WINDOWS = 20;

/**
 * The curve of a warm-up. Its windows are as fine as can be while it runs, since nobody knows how
 * long it will take; here they are joined, so that each is wide enough to be compared: replies come
 * in batches as large as the window of requests, and a part of a batch is no throughput.
 * @param {BenchmarkRecord} record
 * @param {import('../load/load.js').LoadReport} load
 * @param {number} inFlight
 */
export function recordWarmup(record, { recorder, durationNs }, inFlight) {
  const operations = recorder.outcomes[OK];
  const groups = Math.max(1, Math.min(CURVE_WINDOWS, Math.floor(operations / (2 * inFlight))));
  const size = Math.max(1, Math.ceil(recorder.windows.length / groups));
  const curve = [];
  // What is left over at the end is part of a window: it would look like a fall.
  for (let at = 0; at + size <= recorder.windows.length; at += size) {
    curve.push(recorder.windows.slice(at, at + size).reduce((sum, count) => sum + count, 0));
  }
  record.warmup = { operations, durationNs, curve, windowNs: recorder.windowNs * size };
}

/**
 * @param {import('../measure/histogram.js').Histogram | null} histogram
 * @returns {HistogramMessage | null} null where nothing was recorded
 */
function toMessage(histogram) {
  return histogram === null || histogram.count === 0 ? null : histogram.toMessage();
}

/**
 * @param {import('../measure/usage.js').ServerUsage | null} before
 * @param {import('../measure/usage.js').ServerUsage | null} after
 * @returns {import('../lib/result.js').Round['server']} null where one of them is not known
 */
export function serverBetween(before, after) {
  if (before === null || after === null) return null;
  return {
    cpuNs: Math.max(0, after.cpuNs - before.cpuNs),
    rssBytes: after.rssBytes,
    threadNsMax: busiestThreadNs(before, after),
  };
}
