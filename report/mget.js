/**
 * Fetches of many keys as tables: one for each storage and way of reading, the latencies, rates and
 * bytes by the number in flight and the number of keys.
 */

import { formatDuration, formatRatio, formatThroughput } from '../lib/format.js';
import { groupName, toFetchGroups } from '../workloads/mget/analysis.js';

/** @typedef {import('../workloads/mget/analysis.js').FetchGroup} FetchGroup */
/** @typedef {import('../workloads/mget/analysis.js').FetchColumn} FetchColumn */
/** @typedef {import('../workloads/mget/analysis.js').FetchRow} FetchRow */
/** @typedef {import('../lib/result.js').Result} Result */
/** @typedef {import('./legacy-row.js').Column} Column */
/** @typedef {import('./legacy-row.js').Table} Table */

/** Numbers of keys that a table shows, where they were measured; the result has all. */
const SHOWN_KEYS = new Set([1, 10, 25, 50, 100]);

/**
 * @typedef {object} Line
 * @property {FetchColumn} column
 * @property {FetchRow} row
 * @property {number | null} ratio of the median of single reads to that of MGET
 */

/**
 * @param {string} name
 * @param {[string, string]} head
 * @param {number} drop
 * @param {(line: Line) => string} text
 * @returns {Column}
 */
function column(name, head, drop, text) {
  return { name, head, align: 'right', drop, text: (/** @type {any} */ row) => text(row.line) };
}

/** @type {readonly Column[]} */
const COLUMNS = [
  column('in flight', ['in', 'flight'], 0, ({ column: { inFlight } }) => String(inFlight)),
  column('achieved', ['', 'achieved'], 4, ({ row }) => row.inFlightMean.toFixed(2)),
  column('keys', ['', 'keys'], 0, ({ row }) => (row.keys === null ? 'all' : String(row.keys))),
  column('p50', ['', 'p50'], 0, ({ row }) => formatDuration(row.medianNs)),
  column('p90', ['', 'p90'], 5, ({ row }) => formatDuration(row.p90Ns)),
  column('p99', ['', 'p99'], 3, ({ row }) => formatDuration(row.p99Ns)),
  column('fetches/s', ['', 'fetches/s'], 2, ({ row }) => formatThroughput(row.fetchesPerSecond)),
  column('keys/s', ['', 'keys/s'], 2, ({ row }) => formatThroughput(row.keysPerSecond)),
  column('MB/s', ['', 'MB/s'], 1, ({ row }) =>
    formatThroughput(row.bytesPerSecond === null ? null : row.bytesPerSecond / 1e6),
  ),
];
const RATIO = column('single / MGET', ['single', '/ MGET'], 1, ({ ratio }) => formatRatio(ratio));

/**
 * @param {Result} result
 * @returns {Table[]} none where nothing of it was a fetch
 */
export function mgetTables(result) {
  const groups = toFetchGroups(result);
  return groups.map((group) => {
    const single = groups.find(
      ({ label, workload }) => label === group.label && workload === 'mget-single',
    );
    const peer = group.workload === 'mget' ? single : undefined;
    const lines = group.columns.flatMap((one) => linesOf(one, peer));
    return {
      title: `${groupName(group)}${fitText(group)}`,
      columns: peer === undefined ? [...COLUMNS] : [...COLUMNS, RATIO],
      rows: lines.map(toRow),
    };
  });
}

/** @param {FetchGroup} group */
function fitText({ columns }) {
  const fits = columns.flatMap(({ inFlight, fit }) =>
    fit === null ? [] : [`${fitEquation(fit)} (${inFlight})`],
  );
  return fits.length === 0 ? '' : `: a fetch of k keys is ${fits.join(', ')}`;
}

/** @param {import('../workloads/mget/analysis.js').Fit} fit */
function fitEquation({ slopeNs, interceptNs }) {
  const key = formatDuration(Math.abs(slopeNs));
  const sign = slopeNs < 0 ? '-' : '+';
  return `${interceptNs < 0 ? '-' : ''}${formatDuration(Math.abs(interceptNs))} ${sign} ${key} k`;
}

/**
 * @param {FetchColumn} one
 * @param {FetchGroup | undefined} peer
 * @returns {Line[]}
 */
function linesOf(one, peer) {
  const other = peer?.columns.find(({ inFlight }) => inFlight === one.inFlight);
  const measured = one.rows.filter(({ warmup }) => !warmup);
  const shown = measured.filter(({ keys }) => keys === null || SHOWN_KEYS.has(keys));
  return (shown.length === 0 ? measured : shown).map((row) => {
    const twin = other?.rows.find(({ keys, warmup }) => keys === row.keys && !warmup);
    const singleNs = twin?.medianNs ?? null;
    const ratio = row.medianNs === null || singleNs === null ? null : singleNs / row.medianNs;
    return { column: one, row, ratio };
  });
}

/**
 * A row as the tables of a race have it, so that a report draws both alike.
 * @param {Line} line
 */
function toRow(line) {
  const neutral = { wrong: 0, notRun: 0, state: 'measured', kind: 'server', ratio: null };
  const doubts = { inconsistent: null };
  return /** @type {any} */ ({ ...neutral, doubts, throughput: {}, line });
}

/**
 * @param {Result} result
 * @returns {string[]} what the figures mean
 */
export function mgetLegend(result) {
  if (toFetchGroups(result).length === 0) return [];
  return [
    'fetches of many keys: p50, p90 and p99 of single fetches, call to last value, all rounds ' +
      'together. achieved: mean number in flight, by area, while they were counted. MB: of ' +
      'values, a million bytes. A fetch of k keys: a line by least squares through the medians ' +
      '(in flight). single / MGET: how many times as long the same keys take as reads of their own.',
  ];
}
