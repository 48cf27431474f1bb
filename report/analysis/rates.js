/**
 * Columns of open loops and mixes beside those of every load: service times, late and dropped
 * operations, the latency of each kind of operation. Pure.
 */

import { mergedHistogram } from '../../measure/hdr.js';

/** @typedef {import('../../lib/result.js').Benchmark} Benchmark */
/** @typedef {import('../../measure/histogram.js').Percentile} Percentile */
/**
 * @typedef {Record<Percentile, number | null>} Percentiles null if fewer than 10 values lie above
 */

/**
 * @typedef {object} OpenSummary summary of an open loop, over all measured rounds
 * @property {number} rate due operations per second
 * @property {number} offered due operations
 * @property {number} dropped
 * @property {number} late
 * @property {Percentiles | null} service
 */

/**
 * @typedef {Partial<Percentiles> & { name: string }} KindSummary name: `get`, `set`
 */

/**
 * @param {Benchmark} source
 * @returns {OpenSummary | null} null for a closed loop
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE: a histogram is damaged
 */
export function openSummary(source) {
  const { load, rounds } = source;
  if (load.rate === undefined) return null;
  const opens = rounds.flatMap(({ open }) => (open === undefined ? [] : [open]));
  const sum = (/** @type {'offered' | 'dropped' | 'late'} */ field) =>
    opens.reduce((all, open) => all + open[field], 0);
  return {
    rate: load.rate,
    offered: sum('offered'),
    dropped: sum('dropped'),
    late: sum('late'),
    service: mergedHistogram(source, ({ open }) => open?.service)?.percentiles() ?? null,
  };
}

/**
 * @param {Benchmark} source
 * @returns {KindSummary[]} empty if the workload does not mix operations
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE: a histogram is damaged
 */
export function kindSummaries(source) {
  const names = source.rounds.flatMap(({ kinds = [] }) => kinds.map(({ name }) => name));
  return [...new Set(names)].map((name) => {
    const own = mergedHistogram(
      source,
      ({ kinds }) => kinds?.find((kind) => kind.name === name)?.latency,
    );
    return { name, ...own?.percentiles() };
  });
}

/**
 * Loads in a common table: open loops at different rates, so that a ramp is one table.
 * @param {import('../../lib/result.js').Load} load
 * @returns {string}
 */
export function loadKey(load) {
  const { rate, operations, ...rest } = load;
  return JSON.stringify(Object.entries(rate === undefined ? load : rest).sort());
}

/**
 * By rate, then by response time.
 * @param {{ source: Benchmark, latency: { p99Ns: number | null } | null }[]} rows sorted in place
 */
export function sortByRate(rows) {
  const p99Ns = (/** @type {typeof rows[number]} */ { latency }) =>
    latency?.p99Ns ?? Number.MAX_VALUE;
  rows.sort((a, b) => (a.source.load.rate ?? 0) - (b.source.load.rate ?? 0) || p99Ns(a) - p99Ns(b));
}
