/**
 * The columns of a report's tables: what is in them, in which order, and which go first where a
 * terminal is narrow.
 */

import { isUnsteady } from '../engine/doubts.js';
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatInterval,
  formatMicroseconds,
  formatRatio,
  formatShare,
  formatThroughput,
  NONE,
  plainText,
} from '../lib/format.js';

import { kindColumns, rateColumns } from './rates.js';

/** @typedef {import('./analysis/rows.js').Row} Row */
/** @typedef {import('./analysis/rows.js').Group} Group */

/**
 * @typedef {object} Column
 * @property {string} name in one piece, for sentences and for markdown
 * @property {[string, string]} head in two lines, for a terminal
 * @property {'left' | 'right'} align
 * @property {number} drop the greatest goes first on a narrow terminal; 0 stays
 * @property {(row: Row) => string} text
 * @property {(row: Row) => string} [shortText] the same in fewer characters
 */

/** What a table of other things than cells has in its rows: nothing to mark. */
export const NEUTRAL_ROW = Object.freeze({
  ...{ wrong: 0, notRun: 0, state: 'measured', kind: 'server', ratio: null, throughput: null },
  doubts: Object.freeze({ inconsistent: null, unsteady: 0, outliers: [], n: 0 }),
});

/** @param {Row} row */
export function needsMark({ wrong, notRun, state, doubts }) {
  return (
    wrong + notRun > 0 || state === 'failed' || state === 'aborted' || doubts.inconsistent !== null
  );
}

/**
 * @param {Row} row
 * @returns {string} before the name: something is wrong, or the warm-up did not come to rest
 */
function markOf(row) {
  if (needsMark(row)) return '! ';
  return isUnsteady(row.doubts) ? '~ ' : '';
}

/**
 * @param {Row} row
 * @returns {string} `1`, `2–4` where three share these places
 */
function placeText({ place }) {
  if (place === null) return NONE;
  return place.best === place.worst ? `${place.best}` : `${place.best}–${place.worst}`;
}

/** @param {Row} row */
function storageText(row) {
  const kind = row.kind === 'server' ? '' : ` (${row.kind})`;
  return plainText(`${markOf(row)}${row.label}${kind}`);
}

/**
 * @param {Row} row
 * @param {import('../lib/result.js').Result['state']} state of the run
 */
function throughputText({ throughput, state: cellState }, state) {
  if (throughput === null) {
    if (cellState === 'planned') return state === 'running' ? 'not yet' : 'not run';
    return cellState === 'measured' ? NONE : cellState;
  }
  const { median, interval } = throughput;
  return `${formatThroughput(median)} ${formatInterval(interval.relativeHalfWidth)}`.trimEnd();
}

/**
 * @param {Group} group
 * @param {import('../lib/result.js').Result['state']} state of the run
 * @returns {Column[]} only those that some row has something for, except the main ones
 */
export function columnsFor(group, state) {
  const { rows } = group;
  const main = mainColumns(state, roundsOf(group));
  const columns =
    group.load.kind === 'rate'
      ? [...rateColumns(rows, main), ...kindColumns(rows)]
      : [...main, ...kindColumns(rows), ...boundColumns(rows), ...costColumns()];
  if (rows.some(({ place }) => place !== null)) {
    columns.splice(2, 0, {
      name: 'place',
      head: ['', 'place'],
      align: 'right',
      drop: 2.5,
      text: placeText,
    });
  }
  if (rows.some(({ pendingBytes }) => pendingBytes !== null)) {
    columns.push({
      name: 'memory per pending request',
      head: ['per', 'pending'],
      align: 'right',
      drop: 11,
      text: ({ pendingBytes }) => formatBytes(pendingBytes),
    });
  }
  if (rows.some(({ wrong, notRun }) => wrong + notRun > 0)) {
    columns.splice(2, 0, {
      name: 'not ok',
      head: ['not', 'ok'],
      align: 'right',
      drop: 0,
      text: ({ wrong, notRun, scheduled }) =>
        scheduled === 0 ? NONE : formatCount(wrong + notRun),
    });
  }
  return columns;
}

/**
 * @param {Group} group
 * @returns {number} the rounds that its cells have had at most
 */
export function roundsOf({ rows }) {
  return Math.max(...rows.map(({ cell }) => cell.rounds.length));
}

/**
 * @param {import('../lib/result.js').Result['state']} state
 * @param {number} rounds that the title names
 * @returns {Column[]}
 */
function mainColumns(state, rounds) {
  return [
    { name: 'storage', head: ['', 'storage'], align: 'left', drop: 0, text: storageText },
    {
      name: 'ops/s',
      head: ['', 'ops/s'],
      align: 'right',
      drop: 0,
      text: (row) =>
        row.throughput === null
          ? throughputText(row, state)
          : `${throughputText(row, state)} (n ${row.n})`,
      // Without n only where it is that of the table's title.
      shortText: (row) =>
        row.throughput === null || row.n === rounds
          ? throughputText(row, state)
          : `${throughputText(row, state)} (n ${row.n})`,
    },
    {
      name: 'vs fastest',
      head: ['vs', 'fastest'],
      align: 'right',
      drop: 1,
      text: ({ ratio, kind }) => (kind === 'floor' ? NONE : formatRatio(ratio)),
    },
    {
      name: 'p50',
      head: ['', 'p50'],
      align: 'right',
      drop: 5,
      text: ({ latency }) => formatDuration(latency?.p50Ns ?? null),
    },
    {
      name: 'p99',
      head: ['', 'p99'],
      align: 'right',
      drop: 2,
      text: ({ latency }) => formatDuration(latency?.p99Ns ?? null),
    },
    {
      name: 'p99.9',
      head: ['', 'p99.9'],
      align: 'right',
      drop: 9,
      text: ({ latency }) => formatDuration(latency?.p999Ns ?? null),
    },
  ];
}

/**
 * What each row was bound by, and its share of the limits where some row has one.
 * @param {Row[]} rows
 * @returns {Column[]}
 */
function boundColumns(rows) {
  /** @type {Column[]} */
  const columns = [
    {
      name: 'limited by',
      head: ['limited', 'by'],
      align: 'left',
      drop: 6,
      text: ({ bound }) => bound?.verdict ?? NONE,
    },
  ];
  if (rows.some(({ ofDriverLimit }) => ofDriverLimit !== null)) {
    columns.push({
      name: 'of driver limit',
      head: ['of driver', 'limit'],
      align: 'right',
      drop: 3,
      text: ({ ofDriverLimit }) => formatShare(ofDriverLimit),
    });
  }
  if (rows.some(({ ofWireLimit }) => ofWireLimit !== null)) {
    columns.push({
      name: 'of wire limit',
      head: ['of wire', 'limit'],
      align: 'right',
      drop: 4,
      text: ({ ofWireLimit }) => formatShare(ofWireLimit),
    });
  }
  return columns;
}

/** @returns {Column[]} */
function costColumns() {
  return [
    {
      name: 'client CPU µs/op',
      head: ['client', 'CPU µs'],
      align: 'right',
      drop: 7,
      text: ({ clientCpuNs }) => formatMicroseconds(clientCpuNs),
    },
    {
      name: 'server CPU µs/op',
      head: ['server', 'CPU µs'],
      align: 'right',
      drop: 8,
      text: ({ serverCpuNs }) => formatMicroseconds(serverCpuNs),
    },
    {
      name: 'client memory',
      head: ['client', 'memory'],
      align: 'right',
      drop: 10,
      text: ({ rssBytesMax }) => formatBytes(rssBytesMax),
    },
  ];
}
