/**
 * What the tables of an open loop and of a mix show beside the rows that every load has: service
 * times, what was late or dropped, the latency of each kind of operation. Pure.
 */

import { decode } from '../../measure/hdr.js';
import { Histogram } from '../../measure/histogram.js';

/** @typedef {import('../../lib/result.js').Benchmark} Benchmark */
/** @typedef {import('../../lib/result.js').Latency} Latency */

/**
 * @typedef {object} OpenSummary of an open loop, all measured rounds together
 * @property {number} rate operations per second that were due
 * @property {number} offered operations that came due
 * @property {number} dropped
 * @property {number} late
 * @property {number | null} serviceP50Ns null where fewer than 10 values lie above
 * @property {number | null} serviceP99Ns
 */

/**
 * @typedef {object} KindSummary
 * @property {string} name `get`, `set`
 * @property {number} ok
 * @property {number | null} p50Ns
 * @property {number | null} p99Ns
 */

/**
 * @param {Benchmark} source
 * @returns {OpenSummary | null} null for a closed loop
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE where a histogram is damaged
 */
export function openSummary({ load, rounds }) {
  if (load.rate === undefined) return null;
  const opens = rounds.flatMap(({ open }) => (open === undefined ? [] : [open]));
  const service = merged(opens.map((open) => open.service));
  const sum = (/** @type {'offered' | 'dropped' | 'late'} */ field) =>
    opens.reduce((all, open) => all + open[field], 0);
  return {
    rate: load.rate,
    offered: sum('offered'),
    dropped: sum('dropped'),
    late: sum('late'),
    serviceP50Ns: service.printablePercentile(0.5),
    serviceP99Ns: service.printablePercentile(0.99),
  };
}

/**
 * @param {Benchmark} source
 * @returns {KindSummary[]} none where the workload does not mix operations
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE where a histogram is damaged
 */
export function kindSummaries({ rounds }) {
  /** @type {Map<string, (Latency | null)[]>} */
  const byName = new Map();
  for (const { kinds = [] } of rounds) {
    for (const { name, latency } of kinds) {
      byName.set(name, [...(byName.get(name) ?? []), latency]);
    }
  }
  return [...byName].map(([name, latencies]) => {
    const histogram = merged(latencies);
    return {
      name,
      ok: histogram.count,
      p50Ns: histogram.printablePercentile(0.5),
      p99Ns: histogram.printablePercentile(0.99),
    };
  });
}

/** @param {readonly (Latency | null)[]} latencies */
function merged(latencies) {
  const all = new Histogram();
  for (const latency of latencies) {
    if (latency !== null) all.merge(decode(latency.histogram, { count: latency.count }));
  }
  return all;
}

/**
 * The loads that share a table: open loops at different rates do, so that a ramp is one table.
 * @param {import('../../lib/result.js').Load} load
 * @returns {string}
 */
export function loadKey(load) {
  const { rate, operations, ...rest } = load;
  return JSON.stringify(Object.entries(rate === undefined ? load : rest).sort());
}

/**
 * By rate, then by the response time that it had.
 * @param {{ source: Benchmark, latency: { p99Ns: number | null } | null }[]} rows sorted in place
 */
export function sortByRate(rows) {
  const p99Ns = (/** @type {typeof rows[number]} */ { latency }) =>
    latency?.p99Ns ?? Number.MAX_VALUE;
  rows.sort((a, b) => (a.source.load.rate ?? 0) - (b.source.load.rate ?? 0) || p99Ns(a) - p99Ns(b));
}
