/**
 * The tables of open loops, of searches for the greatest rate, and the columns of mixes. What they
 * say is the same on a terminal and in markdown.
 */

import {
  formatBytes,
  formatCount,
  formatDuration,
  formatElapsed,
  formatThroughput,
  NONE,
  plainText,
} from '../lib/format.js';
import { kindSummaries, openSummary } from './analysis/rates.js';

/** @typedef {import('./columns.js').Column} Column */
/** @typedef {import('./analysis/rows.js').Row} Row */
/** @typedef {import('./analysis/rows.js').Group} Group */
/** @typedef {import('../lib/result.js').Search} Search */
/** @typedef {import('../lib/result.js').Load} Load */

/**
 * @param {string} name
 * @param {[string, string]} head
 * @param {number} drop
 * @param {(row: any) => string} text
 * @returns {Column}
 */
function right(name, head, drop, text) {
  return { name, head, align: 'right', drop, text };
}

/**
 * @param {readonly Row[]} rows
 * @param {Column[]} main storage and throughput, as other loads have them
 * @returns {Column[]}
 */
export function rateColumns(rows, [storage, throughput]) {
  const summaries = new Map(rows.map((row) => [row, openSummary(row.cell)]));
  const of = (/** @type {Row} */ row) => summaries.get(row) ?? null;
  /** @param {(summary: NonNullable<ReturnType<typeof of>>) => number} count */
  const share = (count) => (/** @type {Row} */ row) => {
    const summary = of(row);
    return summary === null || summary.offered === 0
      ? NONE
      : formatPart(count(summary), summary.offered);
  };
  return [
    storage,
    right('offered ops/s', ['offered', 'ops/s'], 0, ({ cell }) => formatThroughput(cell.load.rate)),
    { ...throughput, name: 'achieved ops/s', head: ['achieved', 'ops/s'] },
    right('response p50', ['response', 'p50'], 3, ({ latency }) =>
      formatDuration(latency?.p50Ns ?? null),
    ),
    right('response p99', ['response', 'p99'], 0, ({ latency }) =>
      formatDuration(latency?.p99Ns ?? null),
    ),
    right('response p99.9', ['response', 'p99.9'], 2, ({ latency }) =>
      formatDuration(latency?.p999Ns ?? null),
    ),
    right('service p99', ['service', 'p99'], 1, (row) =>
      formatDuration(of(row)?.serviceP99Ns ?? null),
    ),
    right(
      'late',
      ['', 'late'],
      4,
      share(({ late }) => late),
    ),
    right(
      'dropped',
      ['', 'dropped'],
      1,
      share(({ dropped }) => dropped),
    ),
    right('client memory', ['client', 'memory'], 7, ({ rssBytesMax }) => formatBytes(rssBytesMax)),
  ];
}

/**
 * @param {readonly Row[]} rows
 * @returns {Column[]} p99 of each kind of operation, where the workload mixes them
 */
export function kindColumns(rows) {
  const kinds = new Map(rows.map((row) => [row, kindSummaries(row.cell)]));
  const names = new Set([...kinds.values()].flat().map(({ name }) => name));
  return [...names].map((name) =>
    right(`${plainText(name)} p99`, [plainText(name), 'p99'], 2, (row) => {
      const found = kinds.get(row)?.find((kind) => kind.name === name);
      return formatDuration(found?.p99Ns ?? null);
    }),
  );
}

/**
 * @param {number} part
 * @param {number} whole
 * @returns {string} `0`, `0.012 %`
 */
function formatPart(part, whole) {
  return part === 0 ? '0' : `${Number(((part / whole) * 100).toPrecision(2))} %`;
}

/**
 * @param {readonly Row[]} rows of one group
 * @returns {string} `constant arrivals, 10.0 s each`
 */
export function offeredText(rows) {
  const { arrivals, durationNs, operations } = rows[0].cell.load;
  const amounts = new Set(rows.map(({ cell }) => cell.load.operations));
  const amount =
    durationNs !== null
      ? `, ${formatElapsed(durationNs / 1e6)} each`
      : amounts.size === 1
        ? `, ${formatCount(operations)} operations each`
        : '';
  return `${arrivals} arrivals${amount}`;
}

/**
 * A row as the tables of a race have it, so that a report draws both alike.
 * @param {Search} search
 */
function searchRow(search) {
  const doubts = { inconsistent: null, unsteady: 0, outliers: [], n: 0 };
  const neutral = { wrong: 0, notRun: 0, state: 'measured', kind: 'server', ratio: null, doubts };
  const throughput = search.rate === null ? null : { median: search.rate };
  return /** @type {any} */ ({ ...neutral, throughput, search });
}

/** @param {Search} search */
function storageText({ storage, profile }) {
  return plainText(profile === 'default' ? storage : `${storage}:${profile}`);
}

/**
 * @param {Search} search
 * @param {number | null} rate
 * @returns {number | null} the median of the trials at the last point of that rate
 */
function latencyAt({ points }, rate) {
  const point = points.findLast((one) => one.rate === rate);
  const known = (point?.trials ?? []).map(({ latencyNs }) => latencyNs).filter((ns) => ns !== null);
  known.sort((a, b) => a - b);
  return known.length === 0 ? null : known[known.length >>> 1];
}

/** @param {Search} search */
function beyondText(search) {
  const beyond = search.points.findLast(({ phase, passed }) => phase === 'beyond' && !passed);
  if (beyond === undefined || !search.confirmed) return NONE;
  const latency = formatDuration(latencyAt(search, beyond.rate));
  return `${formatThroughput(beyond.rate)} (${latency})`;
}

/** @type {readonly Column[]} */
const SEARCH_COLUMNS = Object.freeze([
  {
    name: 'storage',
    head: ['', 'storage'],
    align: 'left',
    drop: 0,
    text: (/** @type {any} */ { search }) => storageText(search),
  },
  right('greatest ops/s', ['greatest', 'ops/s'], 0, ({ search }) => formatThroughput(search.rate)),
  right('response there', ['response', 'there'], 1, ({ search }) =>
    formatDuration(latencyAt(search, search.rate)),
  ),
  right('fails at', ['fails at', 'ops/s'], 2, ({ search }) => beyondText(search)),
  {
    name: 'confirmed',
    head: ['', 'confirmed'],
    align: 'left',
    drop: 0,
    text: (/** @type {any} */ { search }) =>
      search.confirmed ? 'yes' : plainText(`no: ${search.reason ?? 'no reason is recorded'}`),
  },
  right('points', ['', 'points'], 3, ({ search }) => formatCount(search.points.length)),
]);

/**
 * @param {import('../lib/result.js').Result} result
 * @returns {import('./content.js').Table[]} one for each limit that was searched
 */
export function searchTables({ searches = [] }) {
  /** @type {Map<string, Search[]>} */
  const groups = new Map();
  for (const search of searches) {
    const { workload, percentile, limitNs } = search;
    const title =
      `${plainText(workload)}: the greatest rate with p${Number((percentile * 100).toFixed(3))} ` +
      `of the response time within ${formatDuration(limitNs)}`;
    groups.set(title, [...(groups.get(title) ?? []), search]);
  }
  return [...groups].map(([title, list]) => ({
    title,
    columns: [...SEARCH_COLUMNS],
    rows: [...list].sort((a, b) => (b.rate ?? -1) - (a.rate ?? -1)).map(searchRow),
  }));
}

/**
 * @param {readonly Group[]} groups
 * @returns {string[]} lines for the legend
 */
export function rateLegend(groups) {
  if (!groups.some(({ load }) => load.kind === 'rate')) return [];
  return [
    'Open loop: response times count from when an operation was due, whatever the replies did; ' +
      'service times from when it was sent. Late: sent more than 1 ms after it was due. Dropped: ' +
      'not sent, because too many were in flight. Client CPU is not told: waiting for the next ' +
      'one takes a processor.',
  ];
}
