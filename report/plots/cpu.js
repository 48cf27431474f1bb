/**
 * CPU time per operation, stacked: the client in user mode and in the kernel, and the server.
 */

import { formatMicroseconds, plainText } from '../../lib/format.js';
import { loadName } from '../../lib/load-name.js';
import { roleColor } from '../palette.js';
import {
  barSeries,
  NARROW,
  namesAxis,
  namesWidth,
  numberAxis,
  plainName,
  plotId,
  plottedRows,
  rowName,
  shortNumber,
} from './plot.js';

/** @typedef {import('./plot.js').Plot} Plot */
/** @typedef {import('./plot.js').Group} Group */
/** @typedef {import('../../lib/result.js').Round} Round */

const ROW_HEIGHT = 28;

/**
 * @type {readonly ['client, user' | 'client, kernel' | 'server', import('../palette.js').Role,
 * (round: Round) => number | null][]}
 */
const PARTS = [
  ['client, user', 'cpu-user', ({ client }) => client?.userNs ?? null],
  ['client, kernel', 'cpu-system', ({ client }) => client?.systemNs ?? null],
  ['server', 'cpu-server', ({ server }) => server?.cpuNs ?? null],
];

/**
 * @typedef {object} Entry
 * @property {string} name with its marks
 * @property {string} plain without
 * @property {number} series
 * @property {boolean} embedded
 * @property {(number | null)[]} parts ns per operation; null: not known
 */

/** @type {import('./plot.js').PlotDefinition} */
export default {
  name: 'cpu',
  summary: 'client and server CPU per operation',
  build: ({ groups, seriesOf }) =>
    groups.flatMap((group) => {
      // Waiting for the next operation of an open loop takes a processor: it says nothing.
      if (group.load.kind === 'rate') return [];
      const entries = plottedRows(group)
        .map((row) => ({
          name: rowName(row),
          plain: plainName(row),
          series: seriesOf(row.source),
          embedded: row.kind !== 'server',
          parts: PARTS.map(([, , valueIn]) => perOperation(row.source.rounds, valueIn)),
        }))
        .filter(({ parts }) => parts.some((part) => part !== null));
      return entries.length === 0 ? [] : [toPlot(group, entries)];
    }),
};

/**
 * @param {readonly Round[]} rounds
 * @param {(round: Round) => number | null} valueIn
 */
function perOperation(rounds, valueIn) {
  let [sum, ok] = [0, 0];
  for (const round of rounds) {
    const value = round.state === 'measured' ? valueIn(round) : null;
    if (value === null) continue;
    sum += value;
    ok += round.outcomes.ok;
  }
  return ok === 0 ? null : sum / ok;
}

/**
 * @param {Group} group
 * @param {Entry[]} entries
 * @returns {Plot}
 */
function toPlot(group, entries) {
  const client = entries
    .map(({ plain, parts }) => ({ name: plain, ns: (parts[0] ?? 0) + (parts[1] ?? 0) }))
    .sort((a, b) => a.ns - b.ns);
  const [least, most] = [client[0], client[client.length - 1]];
  const unknown = entries.some(({ embedded, parts }) => !embedded && parts[2] === null);
  return {
    id: plotId('cpu', group),
    title: `CPU time per operation, ${plainText(group.workload)}, ${loadName(group.load)}`,
    summary:
      client.length === 1
        ? `Client and server CPU time. The client spends ${formatMicroseconds(least.ns)} µs.`
        : `Client and server CPU time. The client spends least with ${least.name}, ` +
          `${formatMicroseconds(least.ns)} µs, most with ${most.name}, ` +
          `${formatMicroseconds(most.ns)} µs.`,
    note:
      'Whole processes over the measured phase, per verified operation. Helper threads (garbage ' +
      'collection) are included, so it may exceed elapsed time.' +
      (unknown ? ' Servers whose processes cannot be read have no bar.' : ''),
    group,
    variants: [{ name: 'linear', draw: (size) => draw(entries, size) }],
    table: {
      columns: [
        { name: 'storage', align: 'left' },
        ...PARTS.map(([name]) => ({ name: `${name}, µs`, align: /** @type {const} */ ('right') })),
      ],
      rows: entries.map(({ name, series, parts }) => ({
        series,
        texts: [name, ...parts.map(formatMicroseconds)],
      })),
    },
  };
}

/**
 * @param {Entry[]} entries
 * @param {{ width: number }} size
 * @returns {import('./plot.js').Drawing}
 */
function draw(entries, { width }) {
  const names = entries.map(({ name }) => name);
  const left = namesWidth(names, width);
  const narrow = width < NARROW;
  const series = PARTS.map(([name, role], part) => ({
    ...barSeries(
      entries.map(({ parts, series: own }) => ({ value: parts[part], series: own })),
      { colorOf: (own) => roleColor(role, own) },
    ),
    name,
    stack: 'cpu',
    itemStyle: { color: roleColor(role) },
  }));
  const whole = (/** @type {Entry} */ { parts }) =>
    parts.reduce((/** @type {number} */ sum, part) => sum + (part ?? 0), 0);
  const last = series[series.length - 1];
  const label = (/** @type {number} */ i) => formatMicroseconds(whole(entries[i]));
  const total = barSeries(
    entries.map(({ series: own }) => ({ value: 0, series: own })),
    { label },
  );
  return {
    height: entries.length * ROW_HEIGHT + 84,
    nearest: 'y',
    option: {
      legend: {
        top: 0,
        left: narrow ? 0 : left,
        borderColor: 'transparent',
        itemWidth: 12,
        itemHeight: 12,
        itemGap: narrow ? 14 : 28,
        textStyle: { color: roleColor('ink'), fontSize: narrow ? 11 : 12 },
        data: PARTS.map(([name]) => name),
      },
      grid: { left, right: 64, top: 34, bottom: 46 },
      xAxis: {
        ...numberAxis((ns) => shortNumber(ns / 1e3), { name: 'µs per operation' }),
        splitNumber: narrow ? 3 : 6,
      },
      yAxis: namesAxis(names, left),
      // The sum is written behind the stack by a part of no length.
      series: [...series.slice(0, -1), last, { ...total, name: 'sum', stack: 'cpu' }],
    },
    points: entries.map((entry, i) => ({
      seriesIndex: 0,
      at: [whole(entry), i],
      series: entry.series,
      text: `${entry.name}: ${PARTS.map(
        ([name], part) => `${name} ${formatMicroseconds(entry.parts[part])}`,
      ).join(', ')} µs`,
    })),
  };
}
