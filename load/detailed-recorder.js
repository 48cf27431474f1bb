/**
 * A recorder with additional histograms: the service time of an open loop, and the latency of each
 * kind of operation in a mix. A separate class, so that closed loops do not pay for it.
 */

import { Histogram } from '../measure/histogram.js';
import { Recorder } from './recorder.js';

/**
 * @typedef {object} Kinds the kinds of operation in a mix
 * @property {readonly string[]} names
 * @property {(index: number) => number} of index in `names` of operation `index`
 */

export class DetailedRecorder extends Recorder {
  /**
   * @param {number} startNs
   * @param {{ service: boolean, kinds: Kinds | null }} what
   * @param {number} [windowNs] window of the timeline
   */
  constructor(startNs, { service, kinds }, windowNs) {
    super(startNs, windowNs);
    /** Time from sending to completion; null in a closed loop, where the latency is the same. */
    this.service = service ? new Histogram() : null;
    /** Send time of the operation about to settle; the open loop sets it before settling. */
    this.sentNs = startNs;
    this.kinds = kinds;
    /** One histogram per kind; in an open loop of response times, like the main histogram. */
    this.byKind = kinds === null ? [] : kinds.names.map(() => new Histogram());
  }

  /**
   * @param {number} startNs
   * @param {number} endNs
   * @param {number} index
   */
  ok(startNs, endNs, index) {
    super.ok(startNs, endNs, index);
    if (this.service !== null) this.service.record(endNs - this.sentNs);
    if (this.kinds !== null) this.byKind[this.kinds.of(index)].record(endNs - startNs);
  }
}
