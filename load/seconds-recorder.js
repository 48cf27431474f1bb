/**
 * A recorder with an additional histogram for each second of the load: results of several machines
 * for the same second are merged, and a round that lost a process keeps the seconds before the
 * loss.
 */

import { Histogram } from '../measure/histogram.js';
import { DetailedRecorder } from './detailed-recorder.js';

export const SECOND_NS = 1e9;
/** Seconds of an hour; later operations are counted in the last one. */
const SECONDS_MAX = 3600;
/** A histogram takes 360 KB of address space until it is packed, which takes about 50 µs. */
const UNPACKED_MAX = 120;

/** @typedef {ReturnType<Histogram['toMessage']>} HistogramMessage */

export class SecondsRecorder extends DetailedRecorder {
  /**
   * @param {number} startNs
   * @param {{ service: boolean, kinds: import('./detailed-recorder.js').Kinds | null }} what
   * @param {number} [windowNs] window of the timeline
   */
  constructor(startNs, what, windowNs) {
    super(startNs, what, windowNs);
    /** @type {(Histogram | HistogramMessage)[]} */
    this.past = [];
    this.second = new Histogram();
    this.secondEndNs = startNs + SECOND_NS;
  }

  /**
   * @param {number} startNs
   * @param {number} endNs
   * @param {number} index
   */
  ok(startNs, endNs, index) {
    if (endNs >= this.secondEndNs) this.turnSecond(endNs);
    super.ok(startNs, endNs, index);
    this.second.record(endNs - startNs);
  }

  /** @param {number} nowNs */
  turnSecond(nowNs) {
    while (nowNs >= this.secondEndNs) {
      if (this.past.length + 1 >= SECONDS_MAX) {
        this.secondEndNs = Number.POSITIVE_INFINITY;
        return;
      }
      const isFull = this.past.length >= UNPACKED_MAX;
      this.past.push(isFull ? this.second.toMessage() : this.second);
      this.second = new Histogram();
      this.secondEndNs += SECOND_NS;
    }
  }

  /**
   * @returns {HistogramMessage[]} histograms of each second since the start, by the end of
   *   operations
   */
  toSeconds() {
    return [...this.past, this.second].map((one) =>
      one instanceof Histogram ? one.toMessage() : one,
    );
  }
}
