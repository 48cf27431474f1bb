/** Waits and fairness, as workload metrics of a round. Pure. */

import { encode } from '../../measure/hdr.js';
import { Histogram } from '../../measure/histogram.js';
import { printablePercentile } from '../../stats/percentile.js';

/**
 * @param {readonly number[]} waitsNs
 * @returns {{ waitP50Ns: number | null, waitP99Ns: number | null, waitMaxNs: number | null,
 *   waitMeanNs: number | null, waitHistogram: string | null }} the encoded histogram, as for
 *   latencies
 */
export function waitMetrics(waitsNs) {
  const sorted = Float64Array.from(waitsNs).sort();
  const { length } = sorted;
  const histogram = new Histogram();
  for (const ns of sorted) histogram.record(ns);
  return {
    waitP50Ns: printablePercentile(sorted, 0.5),
    waitP99Ns: printablePercentile(sorted, 0.99),
    waitMaxNs: length === 0 ? null : sorted[length - 1],
    waitMeanNs: length === 0 ? null : sorted.reduce((sum, ns) => sum + ns, 0) / length,
    waitHistogram: length === 0 ? null : encode(histogram),
  };
}

/**
 * R. Jain, D. Chiu and W. Hawe, "A quantitative measure of fairness and discrimination for resource
 * allocation in shared computer systems", DEC-TR-301, 1984: (Σx)² / (n Σx²). 1: all have the same;
 * 1/n: one has everything.
 * @param {readonly number[]} shares shares of the n tasks
 * @returns {number | null} null if all shares are zero
 */
export function jainIndex(shares) {
  const sum = shares.reduce((all, share) => all + share, 0);
  const squares = shares.reduce((all, share) => all + share * share, 0);
  return squares === 0 ? null : (sum * sum) / (shares.length * squares);
}
