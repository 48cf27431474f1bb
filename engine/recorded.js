/**
 * Converts the counts of a load's recorder into a segment, at the end of a load or while it runs.
 */

import { OK, UNSENT } from '../lib/outcome.js';
import { BufferedRecorder, TimedRecorder } from '../load/buffered-recorder.js';
import { DetailedRecorder } from '../load/detailed-recorder.js';
import { SecondsRecorder } from '../load/seconds-recorder.js';
import { TraceRecorder } from '../load/trace-recorder.js';
import { emptySegment } from './segment.js';
import { summarizeSeries } from './series.js';

/** @typedef {import('./segment.js').Segment} Segment */
/** @typedef {import('../load/recorder.js').Recorder} Recorder */
/** @typedef {import('../load/load.js').LoadReport} LoadReport */
/** @typedef {import('../measure/histogram.js').Histogram} Histogram */

/** Maximum windows of the warm-up to store. */
const CURVE_WINDOWS = 20;

/**
 * @param {LoadReport} report
 * @param {{ originNs: number, series?: readonly import('../lib/types.js').Series[] }} context
 *   originNs: of the clock; series: for a workload that inspects each operation
 * @returns {Segment}
 */
export function segmentOf(report, { originNs, series }) {
  const { recorder, scheduled, ended, inFlightAreaNs, steady, open } = report;
  const at = (/** @type {number} */ ns) => Math.round(originNs + ns);
  const failure = failureOf(report);
  return {
    ...emptySegment(),
    state: ended === 'aborted' ? 'aborted' : failure === null ? 'measured' : 'failed',
    failure,
    scheduled,
    outcomes: Array.from(recorder.outcomes),
    samples: recorder.samples,
    wall: [[at(recorder.startNs), at(recorder.endNs)]],
    inFlightAreaNs: Math.round(inFlightAreaNs),
    steady: steady === null ? [] : [[at(steady.fromNs), at(steady.toNs)]],
    steadyAreaNs: Math.round(steady?.areaNs ?? 0),
    // Histograms of brief segments are kept until the process closes.
    histograms: recorder instanceof BufferedRecorder ? {} : histogramsOf(recorder),
    open: open && { ...open },
    timeline:
      recorder instanceof BufferedRecorder
        ? null
        : { windowNs: recorder.windowNs, operations: recorder.windows },
    series:
      series !== undefined && recorder instanceof TraceRecorder
        ? summarizeSeries(recorder, series)
        : [],
  };
}

/**
 * @param {LoadReport} report
 * @returns {import('./segment.js').Failure | null} reason why the load ended before its last
 *   operation was sent
 */
function failureOf({ ended, lost, open, recorder: { outcomes, samples } }) {
  if (lost !== null) {
    return { code: 'E_CONNECTION', message: `the connection was lost: ${lost.message}` };
  }
  // An open loop that exceeds its server is a result, as in a search for the maximum rate.
  if (ended !== 'stalled' || outcomes[UNSENT] === 0 || open !== null) return null;
  const { message = 'no reply' } = samples.find(({ code }) => code === 'NO_REPLY') ?? {};
  return { code: 'E_NO_REPLY', message: `${message}: the rest was not sent` };
}

/**
 * @param {Recorder} recorder
 * @returns {Segment['histograms']}
 */
function histogramsOf(recorder) {
  /** @type {Segment['histograms']} */
  const histograms = { latency: toMessage(recorder.histogram) };
  if (recorder instanceof SecondsRecorder) {
    for (const [i, second] of recorder.toSeconds().entries()) histograms[`second ${i}`] = second;
  }
  if (recorder instanceof DetailedRecorder || recorder instanceof BufferedRecorder) {
    for (const [i, name] of (recorder.kinds?.names ?? []).entries()) {
      histograms[`kind ${name}`] = toMessage(recorder.byKind[i]);
    }
  }
  if (recorder instanceof DetailedRecorder && recorder.service !== null) {
    histograms['service'] = toMessage(recorder.service);
  }
  return histograms;
}

/**
 * @param {Segment} segment receives the data of a recorder of brief segments
 * @param {Recorder} recorder
 */
export function keepRecorded(segment, recorder) {
  Object.assign(segment.histograms, histogramsOf(recorder));
}

/**
 * @param {Segment} segment receives the waits for a connection of a pool
 * @param {Histogram} waits
 */
export function keepWaits(segment, waits) {
  segment.histograms['poolWait'] = toMessage(waits);
}

/**
 * Time per operation of a closed loop: from the first issue of the last worker to the issue of the
 * last operation, divided by the operations completed in it, which equal those issued. It excludes
 * the ramp before it and the drain after it, which have fewer in flight. With a multiple of the
 * number in flight this is exact both for drivers with evenly spaced replies and for those whose
 * replies arrive in windows.
 * @param {LoadReport} report
 * @param {import('../lib/result.js').Load} load
 * @param {import('../lib/types.js').CallStyle} calls
 * @returns {{ fromNs: number, ns: number, operations: number }} basis of the time per operation;
 *   fromNs: on the clock of the process
 */
export function spanOf({ recorder, durationNs, steady, scheduled }, { kind, inFlight }, calls) {
  const complete = scheduled - (inFlight ?? 1);
  const isLong = kind === 'window' && calls !== 'sync' && complete >= scheduled / 2;
  return isLong && steady !== null
    ? { fromNs: steady.fromNs, ns: steady.toNs - steady.fromNs, operations: complete }
    : { fromNs: recorder.startNs, ns: durationNs, operations: scheduled };
}

/**
 * @param {LoadReport} report
 * @param {import('../lib/result.js').Load} load the share of this process
 * @param {import('./contender.js').Start} times
 * @param {import('../lib/types.js').CallStyle} calls
 * @returns {import('./segment.js').Figures}
 */
export function figuresOf(report, load, { startNs, fromNs, endNs }, calls) {
  const { recorder, scheduled, ended, durationNs } = report;
  const ok = recorder.outcomes[OK];
  const common = {
    valid: ended === 'complete' && ok === scheduled,
    lateNs: startNs === undefined ? 0 : Math.max(0, recorder.startNs - startNs),
    latency: null,
  };
  if (recorder instanceof TimedRecorder) {
    return {
      ...common,
      spanNs: Number(endNs) - Number(fromNs),
      spanOperations: recorder.completed,
      medianNs: recorder.median(),
      valid: common.valid && recorder.completed > 0,
      latency: recorder.lastLatency(),
    };
  }
  if (recorder instanceof BufferedRecorder) {
    const { ns, operations } = spanOf(report, load, calls);
    return { ...common, spanNs: ns, spanOperations: operations, medianNs: recorder.median() };
  }
  const medianNs = recorder.histogram.printablePercentile(0.5);
  return { ...common, spanNs: durationNs, spanOperations: ok, medianNs };
}

/**
 * Partial measurements of a running load, in case the process dies.
 * @param {Recorder} recorder
 * @param {import('../measure/clock.js').Clock} clock
 * @returns {Segment} operations with an outcome
 */
export function segmentSoFar(recorder, { now, originNs = 0 }) {
  const endNs = now();
  const segment = segmentOf(
    {
      recorder,
      scheduled: 0,
      ended: 'aborted',
      lost: null,
      durationNs: endNs - recorder.startNs,
      inFlightAreaNs: 0,
      steady: null,
      open: null,
    },
    { originNs },
  );
  segment.wall = [[Math.round(originNs + recorder.startNs), Math.round(originNs + endNs)]];
  segment.outcomes[OK] = segment.histograms['latency']?.count ?? 0;
  segment.scheduled = segment.outcomes.reduce((sum, count) => sum + count, 0);
  return segment;
}

/**
 * @typedef {object} LiveFigures figures since the load began
 * @property {readonly number[]} outcomes outcomes by code; ok is counted at the end
 * @property {import('./segment.js').HistogramMessage | null} latency
 */

/**
 * @param {Recorder} recorder
 * @returns {LiveFigures}
 */
export function liveOf({ outcomes, histogram }) {
  return { outcomes: Array.from(outcomes), latency: toMessage(histogram) };
}

/**
 * The curve of a warm-up. Its windows are recorded as finely as possible, since its duration is
 * unknown; here they are merged until each is wide enough to be compared: replies arrive in batches
 * as large as the window of requests, and part of a batch is not a throughput.
 * @param {LoadReport} report
 * @param {number} inFlight
 * @returns {import('../lib/result.js').Round['warmup']}
 */
export function curveOf({ recorder, durationNs }, inFlight) {
  const operations = recorder.outcomes[OK];
  const groups = Math.max(1, Math.min(CURVE_WINDOWS, Math.floor(operations / (2 * inFlight))));
  const size = Math.max(1, Math.ceil(recorder.windows.length / groups));
  const curve = [];
  // The incomplete last group is omitted, since it would look like a drop.
  for (let at = 0; at + size <= recorder.windows.length; at += size) {
    curve.push(recorder.windows.slice(at, at + size).reduce((sum, count) => sum + count, 0));
  }
  return { operations, durationNs, curve, windowNs: recorder.windowNs * size };
}

/** @param {Histogram} histogram */
function toMessage(histogram) {
  return histogram.count === 0 ? null : histogram.toMessage();
}

/**
 * @param {import('../lib/types.js').Compared | undefined} now
 * @param {Readonly<Record<string, number | undefined>>} before
 * @returns {import('./segment.js').Counters | null} null if it is not counted
 */
export function sinceOf(now, before) {
  if (now === undefined) return null;
  return Object.fromEntries(
    Object.entries(now).map(([name, count]) => [name, count - (before[name] ?? 0)]),
  );
}
