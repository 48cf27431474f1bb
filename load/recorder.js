/**
 * Counts the outcomes, latencies, timeline and failure samples of one measurement. The loops call
 * it; it knows no storage and no report.
 *
 * Invariant once closed: scheduled = the sum of the outcomes.
 */

import { codeOfError } from '../lib/error-code.js';
import { ERROR, OK, OUTCOMES, TIMEOUT, UNSENT } from '../lib/outcome.js';
import { Histogram } from '../measure/histogram.js';

/** Number of failure samples kept. */
export const SAMPLES_MAX = 10;

/** This many consecutive failures end a load, because the server is unreachable. */
export const FAILURES_IN_A_ROW_MAX = 1000;

/** Width of a timeline window. Beyond WINDOWS_MAX windows, pairs are merged. */
export const WINDOW_NS = 100e6;
const WINDOWS_MAX = 1200;

export class Recorder {
  /**
   * @param {number} startNs start of the load
   * @param {number} [windowNs] window of the timeline
   */
  constructor(startNs, windowNs = WINDOW_NS) {
    this.histogram = new Histogram();
    this.outcomes = new Float64Array(OUTCOMES.length);
    /** @type {import('../lib/result.js').Sample[]} */
    this.samples = [];
    this.failuresInARow = 0;
    this.settled = 0;
    this.startNs = startNs;
    this.endNs = startNs;
    this.windowNs = windowNs;
    this.windowEndNs = startNs + windowNs;
    this.windowCount = 0;
    /** @type {number[]} */
    this.windows = [];
    this.closed = false;
  }

  /**
   * Records a verified reply.
   * @param {number} startNs
   * @param {number} endNs
   * @param {number} _index index of the operation; used by subclasses
   */
  ok(startNs, endNs, _index) {
    if (endNs >= this.windowEndNs) this.turnWindow(endNs);
    this.windowCount += 1;
    this.histogram.record(endNs - startNs);
    this.failuresInARow = 0;
  }

  /**
   * Records a wrong reply or a driver error.
   * @param {number} outcome a code of lib/outcome.js other than OK
   * @param {number} operation
   * @param {{ code?: unknown, name?: unknown, message?: unknown } | null} error
   */
  wrong(outcome, operation, error) {
    this.outcomes[outcome] += 1;
    this.failuresInARow += 1;
    if (this.samples.length >= SAMPLES_MAX) return;
    this.samples.push({
      outcome: OUTCOMES[outcome],
      operation,
      code: codeOfError(error),
      message: error === null ? '' : String(error?.message ?? error).slice(0, 300),
    });
  }

  /** @param {number} nowNs */
  turnWindow(nowNs) {
    while (nowNs >= this.windowEndNs) {
      this.windows.push(this.windowCount);
      this.windowCount = 0;
      this.windowEndNs += this.windowNs;
      if (this.windows.length >= WINDOWS_MAX) this.mergeWindows();
    }
  }

  /** Halves the resolution of the timeline, which bounds its size for any duration. */
  mergeWindows() {
    const merged = [];
    for (let i = 0; i + 1 < this.windows.length; i += 2) {
      merged.push(this.windows[i] + this.windows[i + 1]);
    }
    this.windows = merged;
    this.windowNs *= 2;
    this.windowEndNs = this.startNs + (merged.length + 1) * this.windowNs;
  }

  /**
   * Closes the recorder: outstanding operations get `pendingOutcome`, unissued ones are unsent.
   * Later replies are not counted.
   * @param {{ endNs: number, issued: number, scheduled: number, pendingOutcome: number,
   *   pendingError: { code?: string, message: string } | null }} end
   */
  close({ endNs, issued, scheduled, pendingOutcome, pendingError }) {
    this.closed = true;
    this.endNs = endNs;
    this.outcomes[OK] = this.histogram.count;
    const pending = issued - this.total();
    if (pending > 0) {
      this.wrong(pendingOutcome, issued - pending, pendingError);
      this.outcomes[pendingOutcome] += pending - 1;
    }
    this.outcomes[UNSENT] += scheduled - issued;
    if (this.windowCount > 0) this.windows.push(this.windowCount);
  }

  /** @returns {number} number of operations with an outcome */
  total() {
    let sum = 0;
    for (const n of this.outcomes) sum += n;
    return sum;
  }
}

/**
 * Classifies a driver's error: a timeout if its class, name or code says so.
 * @param {{ name?: unknown, code?: unknown } | null | undefined} error
 * @returns {number} TIMEOUT or ERROR
 */
export function outcomeOfError(error) {
  const label = `${error?.name ?? ''} ${error?.constructor?.name ?? ''} ${error?.code ?? ''}`;
  return /timeout|timedout/i.test(label) ? TIMEOUT : ERROR;
}
