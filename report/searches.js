/** Searches for the highest rate as tables, one per limit. */

import { formatDuration, formatThroughput, plainText } from '../lib/format.js';
import { labelOf } from '../lib/label.js';
import { metric } from '../stats/metrics.js';
import { upperMedian } from '../stats/percentile.js';
import { groupBy } from './analysis/groups.js';
import { tableOfItems } from './model.js';

/** @typedef {import('../lib/report-types.js').Table} Table */
/** @typedef {import('../lib/result.js').Result} Result */
/** @typedef {import('../lib/result.js').Search} Search */

/**
 * @param {Search} search
 * @param {number | null} rate
 * @returns {number | null} the median of the trials at the last point with that rate
 */
function latencyAt({ points }, rate) {
  const point = points.findLast((one) => one.rate === rate);
  return upperMedian((point?.trials ?? []).flatMap(({ latencyNs }) => latencyNs ?? []));
}

/**
 * @param {Search} search
 * @returns {string | null} null: it never failed
 */
function beyondText(search) {
  const beyond = search.points.findLast(({ phase, passed }) => phase === 'beyond' && !passed);
  if (beyond === undefined || !search.confirmed) return null;
  const latency = formatDuration(latencyAt(search, beyond.rate));
  return `${formatThroughput(beyond.rate)} (${latency})`;
}

const SEARCH = {
  row: [{ key: 'storage', name: 'storage', of: (/** @type {Search} */ one) => labelOf(one) }],
  metrics: [
    metric(
      { key: 'greatest', name: 'greatest\nops/s', unit: 'ops/s', better: 'more' },
      ({ rate }) => rate,
    ),
    metric(
      { key: 'response', name: 'response\nthere', unit: 'ns', better: 'less', drop: 1 },
      (search) => latencyAt(search, search.rate),
    ),
    metric(
      { key: 'fails_at', name: 'fails at', unit: 'text', head: ['fails at', 'ops/s'], drop: 2 },
      beyondText,
    ),
    metric(
      { key: 'confirmed', name: 'confirmed', unit: 'text', align: 'left' },
      ({ confirmed, reason }) => (confirmed ? 'yes' : `no: ${reason ?? 'no reason is recorded'}`),
    ),
    metric(
      { key: 'points', name: 'points', unit: 'count', drop: 3 },
      ({ points }) => points.length,
    ),
  ],
};

/**
 * @param {readonly Search[]} searches
 * @returns {[string, Search[]][]} by limit, with its title; the highest rate first
 */
export function searchesByLimit(searches) {
  const sorted = [...searches].sort((a, b) => (b.rate ?? -1) - (a.rate ?? -1));
  const titleOf = (/** @type {Search} */ { workload, percentile, limitNs }) =>
    `${plainText(workload)}: highest rate with p${Number((percentile * 100).toFixed(3))} ` +
    `response time ≤ ${formatDuration(limitNs)}`;
  return [...groupBy(sorted, titleOf)];
}

/**
 * @param {Result} result
 * @returns {Table[]} one per limit
 */
export function searchTables({ searches = [] }) {
  return searchesByLimit(searches).map(([title, own]) => tableOfItems(title, SEARCH, own));
}
