/**
 * Consistency of the numbers of a result, beyond its schema: sums of outcomes, counts of latencies,
 * throughput. Pure.
 */

import { OUTCOMES } from './outcome.js';

/** @typedef {import('./result.js').Result} Result */
/** @typedef {import('./result.js').Round} Round */

/** Computed from the same two numbers, except for the last digits. */
const TOLERANCE = 1e-9;

/**
 * @param {Result} result
 * @returns {string | null} the first contradiction; null: none
 */
export function contradictionIn({ benchmarks, comparison, fleet }) {
  // In slices the throughput is a mean over blocks, in a fleet a sum over machines.
  const isWhole = comparison === undefined && fleet === undefined;
  for (const { id, rounds } of benchmarks) {
    for (const round of rounds) {
      const contradiction = contradictionOf(round, isWhole);
      if (contradiction !== null) return `${id}, round ${round.round + 1}: ${contradiction}`;
    }
  }
  return null;
}

/**
 * @param {Round} round
 * @param {boolean} isWhole
 * @returns {string | null}
 */
function contradictionOf({ state, scheduled, outcomes, latency, durationNs, throughput }, isWhole) {
  const sum = OUTCOMES.reduce((all, name) => all + outcomes[name], 0);
  if (sum !== scheduled) return `${scheduled} scheduled, but the outcomes sum to ${sum}`;
  const { ok } = outcomes;
  const count = latency?.count ?? 0;
  // Latencies of brief segments are in the process that measured them, and are lost with it.
  const isLost = !isWhole && state === 'aborted' && latency === null;
  if (count !== ok && !isLost) return `${ok} ok, but ${count} latencies`;
  if (!isWhole) return null;
  const expected = durationNs > 0 ? (ok / durationNs) * 1e9 : 0;
  const differs = Math.abs(throughput - expected) > TOLERANCE * expected;
  return differs ? `throughput ${throughput}, but ok over duration is ${expected}` : null;
}
