/**
 * The limits of a result as tables: one for the wire of each server, one for each load of the
 * drivers. Not the columns of a race that refer to them: those are in columns.js.
 */

import {
  formatCount,
  formatInterval,
  formatMicroseconds,
  formatRatio,
  formatThroughput,
  NONE,
  plainText,
} from '../lib/format.js';
import { summarizeRounds } from '../stats/summary.js';
import { toRow } from './analysis/rows.js';

/** @typedef {import('../lib/limits.js').WireLimit} WireLimit */
/** @typedef {import('../lib/limits.js').DriverLimit} DriverLimit */
/** @typedef {import('./columns.js').Column} Column */
/** @typedef {import('./content.js').Table} Table */
/** @typedef {import('./content.js').Item} Item */

/** A cell without rounds: the rows of limits have all that the rows of a race have, and no more. */
const NO_CELL = Object.freeze({
  id: 'limit',
  storage: 'limit',
  profile: 'default',
  workload: 'get',
  load: { kind: /** @type {const} */ ('sync'), inFlight: 1, operations: null, durationNs: null },
  state: /** @type {const} */ ('measured'),
  reason: null,
  remedy: null,
  rounds: [],
});

/**
 * A row as the tables of a race have it, so that a report draws both alike.
 * @param {WireLimit | DriverLimit} limit
 */
function limitRow(limit) {
  const rounds = limit.opsPerSecond === null ? null : summarizeRounds(limit.rounds);
  return { ...toRow(NO_CELL, 'limit'), throughput: rounds, limit };
}

/**
 * @param {string} name
 * @param {[string, string]} head
 * @param {number} drop
 * @param {(limit: any) => string} text
 * @param {'left' | 'right'} [align]
 * @returns {Column}
 */
function column(name, head, drop, text, align = 'right') {
  return { name, head, align, drop, text: (/** @type {any} */ row) => text(row.limit) };
}

/** @param {WireLimit | DriverLimit} limit */
function figureText({ opsPerSecond, interval, n }) {
  if (opsPerSecond === null) return NONE;
  const spread = formatInterval(interval?.relativeHalfWidth ?? null);
  return `${`${formatThroughput(opsPerSecond)} ${spread}`.trimEnd()} (n ${n})`;
}

/** @type {readonly Column[]} */
const WIRE_COLUMNS = [
  column(
    'protocol',
    ['', 'protocol'],
    0,
    ({ protocol, server, version }) => plainText(`${protocol} (${server} ${version ?? '?'})`),
    'left',
  ),
  column('ops/s', ['', 'ops/s'], 0, figureText),
  column('depth', ['', 'depth'], 2, ({ depth }) => formatCount(depth)),
  column('connections', ['', 'connections'], 3, ({ connections }) => formatCount(connections)),
  column('client CPU µs/op', ['client', 'CPU µs'], 4, ({ clientCpuNs }) =>
    formatMicroseconds(clientCpuNs),
  ),
  column('server CPU µs/op', ['server', 'CPU µs'], 1, ({ serverCpuNs }) =>
    formatMicroseconds(serverCpuNs),
  ),
  column('transport', ['', 'transport'], 5, ({ transport }) => transport),
];

/** @type {readonly Column[]} */
const DRIVER_COLUMNS = [
  column('storage', ['', 'storage'], 0, (limit) => plainText(labelOf(limit)), 'left'),
  column('ops/s', ['', 'ops/s'], 0, figureText),
  column('driver CPU µs/op', ['driver', 'CPU µs'], 1, ({ clientCpuNs }) =>
    formatMicroseconds(clientCpuNs),
  ),
  column('stand-in CPU µs/op', ['stand-in', 'CPU µs'], 3, ({ standInCpuNs }) =>
    formatMicroseconds(standInCpuNs),
  ),
  column('headroom', ['', 'headroom'], 2, ({ headroom }) => formatRatio(headroom)),
];

/** @param {{ storage: string, profile: string }} limit */
function labelOf({ storage, profile }) {
  return profile === 'default' ? storage : `${storage}:${profile}`;
}

/** @param {DriverLimit['load']} load */
function loadText({ kind, inFlight, operations }) {
  if (kind === 'burst') return `all ${formatCount(operations)} at once`;
  return `${formatCount(inFlight)} in flight`;
}

/**
 * @param {import('../lib/result.js').Result} result
 * @returns {Table[]} none where the result has no limits, or took them from another
 */
export function limitTables({ limits, dataset }) {
  if (limits === undefined || limits.source !== null) return [];
  /** @type {Map<string, DriverLimit[]>} */
  const byLoad = new Map();
  for (const limit of limits.driver) {
    const text = loadText(limit.load);
    byLoad.set(text, [...(byLoad.get(text) ?? []), limit]);
  }
  const rowsOf = (/** @type {(WireLimit | DriverLimit)[]} */ list) =>
    [...list].sort((a, b) => (b.opsPerSecond ?? -1) - (a.opsPerSecond ?? -1)).map(limitRow);
  const size = `rows of ${formatCount(dataset.valueSize)} characters`;
  const wire = {
    title: `wire limit: ${size}, best of all depths and connections`,
    columns: [...WIRE_COLUMNS],
    rows: rowsOf(limits.wire),
  };
  const drivers = [...byLoad].map(([text, list]) => ({
    title: `driver limit, ${text}: against a stand-in that answers at once`,
    columns: [...DRIVER_COLUMNS],
    rows: rowsOf(list),
  }));
  return [...(limits.wire.length > 0 ? [wire] : []), ...drivers];
}

/**
 * @param {import('../lib/result.js').Result} result
 * @returns {Item[]} limits without a figure, and why
 */
export function missingLimits({ limits }) {
  if (limits === undefined) return [];
  const item = (/** @type {string} */ subject, /** @type {string} */ text) => ({
    subject: plainText(subject),
    text: plainText(text),
    foreign: true,
    remedy: null,
  });
  return [
    ...limits.wire.flatMap(({ protocol, reason }) =>
      reason === null ? [] : [item(`wire limit of ${protocol}`, reason)],
    ),
    ...limits.driver.flatMap((limit) =>
      limit.reason === null
        ? []
        : [item(`driver limit of ${labelOf(limit)}, ${loadText(limit.load)}`, limit.reason)],
    ),
  ];
}

/**
 * @param {import('../lib/result.js').Result} result
 * @returns {string[]} what the figures mean
 */
export function limitLegend({ limits }) {
  if (limits === undefined) return [];
  const from = limits.source === null ? '' : ` Taken from the result ${plainText(limits.source)}.`;
  return [
    'wire limit: requests encoded beforehand, replies framed and counted only. driver limit: the ' +
      'driver against a stand-in; headroom: how many times as fast the wire loop drives that ' +
      `stand-in, at least 2 for a figure.${from}`,
  ];
}
