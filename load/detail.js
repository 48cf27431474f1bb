/**
 * A tally with more beside the latency that every load has: the service time of an open loop, and
 * the latency of each kind of operation in a mix. Apart from Tally so that the closed loops pay
 * nothing for it.
 */

import { Histogram } from '../measure/histogram.js';
import { Tally } from './tally.js';

/**
 * @typedef {object} Kinds the kinds of operation in a mix
 * @property {readonly string[]} names
 * @property {(index: number) => number} of place in `names` of operation `index`
 */

export class DetailedTally extends Tally {
  /**
   * @param {number} startNs
   * @param {{ service: boolean, kinds: Kinds | null }} what
   * @param {number} [windowNs] of the timeline
   */
  constructor(startNs, { service, kinds }, windowNs) {
    super(startNs, windowNs);
    /** From sending to completion; null in a closed loop, where that is the latency itself. */
    this.service = service ? new Histogram() : null;
    /** When the operation was sent that settles next; an open loop sets it before it settles. */
    this.sentNs = startNs;
    this.kinds = kinds;
    /** By kind; in an open loop response times, as in the histogram of all. */
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
