/**
 * From what a load's recorder has counted to a segment, at the end of a load or while it runs.
 */

import { OK } from '../lib/outcome.js';
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

/** So many windows of the warm-up are kept, at most. */
const CURVE_WINDOWS = 20;

/**
 * @param {LoadReport} report
 * @param {{ originNs: number, series?: readonly import('../lib/types.js').Series[] }} context
 *   originNs: of the clock; series: of a workload that looks at each operation
 * @returns {Segment}
 */
export function segmentOf({ recorder, scheduled, ended, inFlightAreaNs, steady, open }, context) {
  const { originNs, series } = context;
  const at = (/** @type {number} */ ns) => Math.round(originNs + ns);
  return {
    ...emptySegment(),
    state: ended === 'aborted' ? 'aborted' : 'measured',
    scheduled,
    outcomes: Array.from(recorder.outcomes),
    samples: recorder.samples,
    wall: [[at(recorder.startNs), at(recorder.endNs)]],
    inFlightAreaNs: Math.round(inFlightAreaNs),
    steady: steady === null ? [] : [[at(steady.fromNs), at(steady.toNs)]],
    steadyAreaNs: Math.round(steady?.areaNs ?? 0),
    // Those of brief segments are kept until the process closes.
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
 * @param {Segment} segment gets what a recorder of brief segments has
 * @param {Recorder} recorder
 */
export function keepRecorded(segment, recorder) {
  Object.assign(segment.histograms, histogramsOf(recorder));
}

/**
 * @param {Segment} segment gets the waits for a connection of a pool
 * @param {Histogram} waits
 */
export function keepWaits(segment, waits) {
  segment.histograms['poolWait'] = toMessage(waits);
}

/**
 * Time per operation of a closed loop: from the first issue of the last worker to the issue of the
 * last operation, over the operations that were completed in it, which are as many as were issued.
 * The ramp before it and the drain after it, with fewer in flight, are no part of it. With a
 * multiple of the number in flight this is exact both for drivers whose replies come evenly and for
 * those whose replies come a whole window at a time.
 * @param {LoadReport} report
 * @param {import('../lib/result.js').Load} load
 * @param {import('../lib/types.js').CallStyle} calls
 * @returns {{ ns: number, operations: number }} what the time per operation is taken of
 */
export function spanOf({ durationNs, steady, scheduled }, { kind, inFlight }, calls) {
  const complete = scheduled - (inFlight ?? 1);
  const isLong = kind === 'window' && calls !== 'sync' && complete >= scheduled / 2;
  return isLong && steady !== null
    ? { ns: steady.toNs - steady.fromNs, operations: complete }
    : { ns: durationNs, operations: scheduled };
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
 * What a load that still runs has measured: kept in case that nothing comes after it.
 * @param {Recorder} recorder
 * @param {import('../measure/clock.js').Clock} clock
 * @returns {Segment} of the operations that have an outcome
 */
export function segmentSoFar(recorder, { now, originNs = 0 }) {
  const endNs = now();
  const segment = segmentOf(
    {
      recorder,
      scheduled: 0,
      ended: 'aborted',
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
 * @typedef {object} LiveFigures since the load began
 * @property {readonly number[]} outcomes by code; those that are ok are counted when it ends
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
 * The curve of a warm-up. Its windows are as fine as can be while it runs, since nobody knows how
 * long it will take; here they are joined, so that each is wide enough to be compared: replies come
 * in batches as large as the window of requests, and a part of a batch is no throughput.
 * @param {LoadReport} report
 * @param {number} inFlight
 * @returns {import('../lib/result.js').Round['warmup']}
 */
export function curveOf({ recorder, durationNs }, inFlight) {
  const operations = recorder.outcomes[OK];
  const groups = Math.max(1, Math.min(CURVE_WINDOWS, Math.floor(operations / (2 * inFlight))));
  const size = Math.max(1, Math.ceil(recorder.windows.length / groups));
  const curve = [];
  // The incomplete group at the end is left out: it would look like a fall.
  for (let at = 0; at + size <= recorder.windows.length; at += size) {
    curve.push(recorder.windows.slice(at, at + size).reduce((sum, count) => sum + count, 0));
  }
  return { operations, durationNs, curve, windowNs: recorder.windowNs * size };
}

/** @param {Histogram} histogram */
function toMessage(histogram) {
  return histogram.count === 0 ? null : histogram.toMessage();
}
