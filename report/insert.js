/** Inserts as tables: one for each storage, a line for each strategy and load. */

import {
  formatCount,
  formatDuration,
  formatInterval,
  formatMicroseconds,
  formatRatio,
  formatThroughput,
  NONE,
  plainText,
} from '../lib/format.js';
import { toInsertGroups } from './analysis/inserts.js';
import { NEUTRAL_ROW, needsMark } from './legacy-row.js';

/** @typedef {import('./analysis/inserts.js').InsertLine} InsertLine */
/** @typedef {import('./analysis/inserts.js').InsertGroup} InsertGroup */
/** @typedef {import('../lib/result.js').Result} Result */
/** @typedef {import('./legacy-row.js').Column} Column */
/** @typedef {import('./legacy-row.js').Table} Table */

/**
 * @param {string} name
 * @param {[string, string]} head
 * @param {number} drop
 * @param {(line: InsertLine) => string} text
 * @param {'left' | 'right'} [align]
 * @returns {Column}
 */
function column(name, head, drop, text, align = 'right') {
  return { name, head, align, drop, text: (/** @type {any} */ row) => text(row.line) };
}

/** @type {readonly Column[]} */
const COLUMNS = [
  column('strategy', ['', 'strategy'], 0, (line) => strategyText(line), 'left'),
  column('rows of a request', ['rows of', 'a request'], 2, ({ batch, rowsPerRequest }) =>
    // The last request of a worker may have fewer than was chosen.
    formatCount(batch ?? Math.round(rowsPerRequest ?? 0)),
  ),
  column('in flight', ['in', 'flight'], 1, ({ inFlight }) => String(inFlight ?? NONE)),
  column('rows/s', ['', 'rows/s'], 0, (line) => rateText(line)),
  column('seconds', ['', 'seconds'], 1.5, ({ secondsMedian }) =>
    secondsMedian === null ? NONE : secondsMedian.toFixed(2),
  ),
  column('against the plainest', ['', 'ratio'], 3, ({ ratio }) => formatRatio(ratio)),
  column('p50', ['', 'p50'], 4, ({ row }) => formatDuration(row.latency?.p50Ns ?? null)),
  column('p99', ['', 'p99'], 5, ({ row }) => formatDuration(row.latency?.p99Ns ?? null)),
  column('client CPU µs', ['client', 'CPU µs'], 6, ({ clientCpuNs }) =>
    formatMicroseconds(clientCpuNs),
  ),
  column('server CPU µs', ['server', 'CPU µs'], 7, ({ serverCpuNs }) =>
    formatMicroseconds(serverCpuNs),
  ),
  column('how', ['', 'how'], 8, ({ how }) => plainText(how === '' ? NONE : how), 'left'),
];

/** @param {InsertLine} line */
function strategyText({ strategy, row }) {
  return plainText(`${needsMark(row) ? '! ' : ''}${strategy}`);
}

/** @param {InsertLine} line */
function rateText({ rate, row }) {
  if (rate.median === null) return row.state;
  const spread = formatInterval(rate.interval.relativeHalfWidth);
  // A single round has no interval.
  return [formatThroughput(rate.median), spread, `(n ${rate.n})`].filter((text) => text).join(' ');
}

/**
 * @param {Result} result
 * @returns {Table[]} none where nothing of it was an insert
 */
export function insertTables(result) {
  return toInsertGroups(result).map((group) => ({
    title: groupTitle(group),
    columns: [...COLUMNS],
    rows: group.lines.map((line) => /** @type {any} */ ({ ...NEUTRAL_ROW, line })),
  }));
}

/**
 * @param {InsertGroup} group
 * @returns {string} with what the store says of when a row is safe
 */
function groupTitle({ label, rows, durability }) {
  const safety = durability.length === 0 ? '' : `; durability: ${durability.join(' and ')}`;
  return plainText(`${label}, ${formatCount(rows)} rows (a int primary key, b int)${safety}`);
}

/**
 * @param {Result} result
 * @returns {string[]} what the figures mean
 */
export function insertLegend(result) {
  if (toInsertGroups(result).length === 0) return [];
  return [
    'inserts: rows/s, median of the rounds ± the 95 % interval of their mean (n rounds), from the ' +
      'first request to the last acknowledgement; every row was read back and was right. seconds: ' +
      'for all rows. ratio: against async of the same storage, or one. p50, p99: of a request, ' +
      'whatever rows it has. CPU: for each row, without reading back.',
  ];
}
