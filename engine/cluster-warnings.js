/**
 * Warnings about a cluster during a run: redirections reported by the drivers, and outages. Drivers
 * handle both themselves, so latencies alone do not reveal them.
 */

import { formatElapsed } from '../lib/format.js';
import { longestOutage } from '../stats/outage.js';
import { addRedirects } from './redirects.js';

/** @typedef {import('../lib/result.js').Benchmark} Benchmark */
/** @typedef {import('../lib/result.js').Warning} Warning */

/** Kinds as spelled by the cluster. */
const WORDS = Object.freeze({
  moved: 'MOVED',
  ask: 'ASK',
  tryAgain: 'TRYAGAIN',
  clusterDown: 'CLUSTERDOWN',
});

/**
 * @param {readonly Benchmark[]} benchmarks
 * @returns {Warning[]}
 */
export function clusterWarnings(benchmarks) {
  return benchmarks.flatMap((benchmark) =>
    [
      redirectWarning(benchmark),
      benchmark.rounds.flatMap((round) => outageWarning(benchmark, round)),
    ].flat(),
  );
}

/**
 * @param {Benchmark} benchmark
 * @returns {Warning | []}
 */
function redirectWarning({ id, rounds }) {
  const known = rounds.filter(({ redirects }) => redirects !== undefined);
  const counts = addRedirects(known.map(({ redirects }) => redirects)) ?? {};
  const shown = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => `${count} ${WORDS[/** @type {keyof typeof WORDS} */ (kind)] ?? kind}`);
  if (shown.length === 0) return [];
  return {
    code: 'W_REDIRECTED',
    message: `the cluster redirected requests: ${shown.join(', ')}; the driver sent them again`,
    hint: 'slots moved or a node failed during the run; see CLUSTER NODES',
    benchmark: id,
  };
}

/**
 * @param {Benchmark} benchmark
 * @param {Benchmark['rounds'][number]} round
 * @returns {Warning | []}
 */
function outageWarning({ id, load }, { round, state, timeline, durationNs, outages = [] }) {
  // A trace has its own pauses; outages without any connection are already reported.
  if (load.rate === undefined || load.arrivals === 'trace') return [];
  if (state !== 'measured' || outages.length > 0) return [];
  const outage = longestOutage(timeline, load.rate, load.durationNs ?? durationNs);
  if (outage === null) return [];
  const [length, from] = [outage.durationNs, outage.startNs].map((ns) => formatElapsed(ns / 1e6));
  return {
    code: 'W_OUTAGE',
    message:
      `round ${round + 1}: outage of ${length}, ${from} after the start: ` +
      `${Math.round(outage.share * 100)} % of the offered operations were completed in time`,
    hint: 'see the throughput over time on the HTML page, and the codes of the errors',
    benchmark: id,
  };
}
