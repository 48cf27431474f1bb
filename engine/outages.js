/**
 * Outages during a load (`--on-outage continue`): merges those of several connections and processes
 * into one list, and creates the warnings that report them. Pure.
 */

import { formatDuration } from '../lib/format.js';

/** @typedef {import('../lib/result.js').Outage} Outage */
/** @typedef {import('../lib/result.js').Result} Result */

/**
 * @param {readonly Outage[]} all outages of several connections or processes
 * @returns {Outage[]} overlapping outages merged
 */
export function mergeOutages(all) {
  /** @type {Outage[]} */
  const merged = [];
  for (const one of all.toSorted((a, b) => a.startNs - b.startNs)) {
    const last = merged.at(-1);
    if (last === undefined || endOf(last) < one.startNs) {
      merged.push({ ...one });
      continue;
    }
    const endNs = Math.max(endOf(last), endOf(one));
    last.ns = Number.isFinite(endNs) ? endNs - last.startNs : null;
    last.failed += one.failed;
  }
  return merged;
}

/** @param {Outage} outage */
function endOf({ startNs, ns }) {
  return ns === null ? Number.POSITIVE_INFINITY : startNs + ns;
}

/**
 * @param {Result['benchmarks']} benchmarks
 * @returns {Result['warnings']} one per benchmark that had an outage
 */
export function outageWarnings(benchmarks) {
  return benchmarks.flatMap(({ id, rounds }) => {
    const all = rounds.flatMap(({ outages = [] }) => outages);
    if (all.length === 0) return [];
    const lasting = all.find(({ ns }) => ns === null);
    const failed = all.reduce((sum, one) => sum + one.failed, 0);
    const spans = all.flatMap(({ ns }) => (ns === null ? [] : formatDuration(ns)));
    const ended = spans.length === 0 ? '' : `no connection for ${spans.join(', ')}; `;
    const still = lasting ? `not reconnected until the end (${lasting.reason}); ` : '';
    return {
      code: 'W_OUTAGE',
      message: `${ended}${still}${failed.toLocaleString('en-US')} operations failed because of it`,
      hint: lasting ? 'check whether the server is back; not every driver can reconnect' : null,
      benchmark: id,
    };
  });
}
