/**
 * Throughput as bars, one storage a row: the median of the rounds, the 95 % interval of their mean,
 * each round as a dot, and the limits of driver and wire as marks where they are known.
 */

import { clientCeilingOf, serverCeilingOf } from '../../lib/ceilings.js';
import { formatInterval, formatThroughput, NONE, plainText } from '../../lib/format.js';
import { loadName } from '../../lib/load-name.js';
import { roleColor } from '../palette.js';
import {
  barSeries,
  countText,
  figuresAxis,
  intervalSeries,
  logScale,
  NARROW,
  namesAxis,
  namesWidth,
  numberAxis,
  plotId,
  plottedRows,
  rowName,
  shortNumber,
  withTicks,
} from './plot.js';

/** @typedef {import('./plot.js').Plot} Plot */
/** @typedef {import('./plot.js').Group} Group */
/** @typedef {import('./plot.js').Row} Row */

/** From this ratio between the fastest and the slowest on, a linear axis hides the slow ones. */
const LOG_FROM = 30;
const ROW_HEIGHT = 30;
const CEILINGS = Object.freeze({
  'driver-limit': 'client ceiling',
  'wire-limit': 'server ceiling',
});

/**
 * @typedef {object} Entry a row as it is drawn
 * @property {Row} row
 * @property {string} name
 * @property {number} series
 * @property {number} median
 * @property {number[]} rounds
 * @property {number | null} low of the interval
 * @property {number | null} high
 * @property {{ role: 'driver-limit' | 'wire-limit', value: number }[]} limits
 */

/** @type {import('./plot.js').PlotDefinition} */
export default {
  name: 'throughput',
  summary: 'bars with intervals, rounds and limits',
  build: (context) =>
    context.groups
      .filter(({ load }) => load.kind !== 'rate')
      .flatMap((group) => {
        const entries = toEntries(group, context);
        return entries.length === 0 ? [] : [toPlot(group, entries)];
      }),
};

/**
 * @param {Group} group
 * @param {import('./plot.js').PlotContext} context
 * @returns {Entry[]}
 */
function toEntries(group, { result, seriesOf }) {
  return plottedRows(group).flatMap((row) => {
    const { throughput, source } = row;
    if (throughput === null || throughput.median === null) return [];
    const { low, high } = throughput.interval;
    const storage = result.storages.find(
      ({ name, profile }) => name === source.storage && profile === source.profile,
    );
    const limits = source.workload === 'get' ? result.limits : undefined;
    /** @type {[Entry['limits'][number]['role'], number | null][]} */
    const known = [
      ['driver-limit', clientCeilingOf(limits, source)],
      ['wire-limit', serverCeilingOf(limits, storage?.protocol ?? null)],
    ];
    return [
      {
        row,
        name: rowName(row),
        series: seriesOf(source),
        median: throughput.median,
        rounds: source.rounds
          .filter(({ state }) => state === 'measured')
          .map(({ throughput: value }) => value),
        low,
        high,
        limits: known.flatMap(([role, value]) => (value === null ? [] : [{ role, value }])),
      },
    ];
  });
}

/**
 * @param {Group} group
 * @param {Entry[]} entries
 * @returns {Plot}
 */
function toPlot(group, entries) {
  const medians = entries.map(({ median }) => median).filter((value) => value > 0);
  const wide = Math.max(...medians) / Math.min(...medians) >= LOG_FROM;
  /** @type {import('./plot.js').Variant[]} */
  const variants = (wide ? ['log', 'linear'] : ['linear', 'log']).map((name) => ({
    name,
    draw: ({ width }) => draw(entries, { width, log: name === 'log' && medians.length > 0 }),
  }));
  const load = loadName(group.load);
  return {
    id: plotId('throughput', group),
    title: `Throughput, ${plainText(group.workload)}, ${load}`,
    summary: `Operations per second of ${countText(entries.length)}. ${leadText(entries)}`,
    note:
      'Bar: median of the rounds. Line with caps: 95 % interval of their mean. Dots: the rounds.' +
      (entries.some(({ limits }) => limits.length > 0)
        ? ' Red diamond: client ceiling. Blue bar: server ceiling; a triangle at the edge: beyond the axis.'
        : ''),
    group,
    variants,
    table: toTable(entries),
  };
}

/**
 * @param {Entry[]} entries
 * @returns {string} who leads: of those that talk to a server, and of those that do not; what gave
 *   wrong answers or failed leads nothing, and who shares a rank shares it here
 */
function leadText(entries) {
  const fit = entries.filter(({ row }) => row.wrong === 0 && row.state !== 'failed');
  const sentences = [true, false].flatMap((withServer) => {
    const contenders = fit.filter(({ row }) => (row.kind === 'server') === withServer);
    if (contenders.length === 0) return [];
    const best = contenders[0].row.rank?.best ?? null;
    const first = contenders.filter(
      ({ row }, i) => i === 0 || (best !== null && row.rank?.best === best),
    );
    const names = first.map(({ row }) => plainText(row.label)).join(' and ');
    const figures = first.map(({ median }) => formatThroughput(median)).join(' and ');
    const told = first.length > 1 ? `${figures} ops/s, statistically tied` : `${figures} ops/s`;
    const verb = first.length > 1 ? 'lead' : 'leads';
    return [`${withServer ? 'With a server ' : 'Embedded, '}${names} ${verb} with ${told}.`];
  });
  return sentences.length === 0 ? 'All gave wrong answers.' : sentences.join(' ');
}

/** @param {Entry[]} entries */
function toTable(entries) {
  const limited = entries.some(({ limits }) => limits.length > 0);
  const rounds = Math.max(...entries.map((entry) => entry.rounds.length));
  const right = (/** @type {string} */ name) => ({ name, align: /** @type {const} */ ('right') });
  const limitOf = (/** @type {Entry} */ { limits }, /** @type {string} */ name) =>
    formatThroughput(limits.find(({ role }) => role === name)?.value ?? null);
  return {
    columns: [
      { name: 'storage', align: /** @type {const} */ ('left') },
      right('median ops/s'),
      right('interval from'),
      right('to'),
      ...Array.from({ length: rounds }, (_, i) => right(`round ${i + 1}`)),
      ...(limited ? [right('client ceiling'), right('server ceiling')] : []),
    ],
    rows: entries.map((entry) => ({
      series: entry.series,
      texts: [
        entry.name,
        formatThroughput(entry.median),
        formatThroughput(entry.low),
        formatThroughput(entry.high),
        ...Array.from({ length: rounds }, (_, i) => formatThroughput(entry.rounds[i] ?? null)),
        ...(limited ? [limitOf(entry, 'driver-limit'), limitOf(entry, 'wire-limit')] : []),
      ],
    })),
  };
}

/**
 * @param {Entry[]} entries
 * @param {{ width: number, log: boolean }} options
 * @returns {import('./plot.js').Drawing}
 */
function draw(entries, { width, log }) {
  const names = entries.map(({ name }) => name);
  const left = namesWidth(names, width);
  const narrow = width < NARROW;
  const height = entries.length * ROW_HEIGHT + 56;
  const scale = scaleOf(entries, { log, narrow });
  const axis = numberAxis(shortNumber, {
    name: 'operations per second',
    type: log ? 'log' : 'value',
  });
  // On a logarithmic axis there is no place for 0.
  const inside = (/** @type {number} */ value) => Math.max(scale.min, Math.min(value, scale.max));
  const spans = entries.map(({ low, high, series }, row) =>
    low === null || high === null
      ? null
      : {
          low: inside(low),
          high: inside(high),
          row,
          color: roleColor('ink', series),
        },
  );
  return {
    height,
    nearest: 'y',
    option: {
      grid: { left, right: narrow ? 62 : 140, top: 8, bottom: 46 },
      xAxis: log
        ? withTicks(axis, scale)
        : { ...axis, min: 0, max: scale.max, splitNumber: narrow ? 3 : 6 },
      yAxis: [namesAxis(names, left), figuresAxis(entries.map((entry) => labelOf(entry, narrow)))],
      series: [
        barSeries(entries.map(({ median, series }) => ({ value: inside(median), series }))),
        intervalSeries(spans),
        roundDots(entries, inside),
        ...limitMarks(entries, scale.max),
      ],
    },
    points: entries.map((entry, i) => ({
      seriesIndex: 0,
      at: [inside(entry.median), i],
      series: entry.series,
      text: pointText(entry),
    })),
  };
}

/**
 * @param {Entry[]} entries
 * @param {{ log: boolean, narrow: boolean }} options
 */
function scaleOf(entries, { log, narrow }) {
  const values = entries.flatMap(({ median, rounds, low, high }) =>
    [median, ...rounds, low, high].filter((value) => value !== null && value > 0),
  );
  const own = /** @type {number[]} */ (values);
  const limits = entries.flatMap((entry) => entry.limits.map(({ value }) => value));
  if (log) {
    const all = [...own, ...limits];
    return logScale(Math.min(...all) / 1.6, Math.max(...all), narrow ? 4 : 7);
  }
  // Limits may be many times what was reached; beyond this a mark at the edge shows them.
  const most = Math.max(1e-9, ...own);
  const max = Math.max(most, ...limits.filter((value) => value <= most * 1.6));
  return { min: 0, max: max * 1.02, ticks: [] };
}

/**
 * @param {Entry[]} entries
 * @param {(value: number) => number} inside the axis
 */
function roundDots(entries, inside) {
  return {
    type: 'scatter',
    silent: true,
    z: 3,
    symbolSize: 4,
    data: entries.flatMap(({ rounds, series }, i) =>
      rounds.map((value) => ({
        value: [inside(value), i],
        itemStyle: { color: roleColor('ink', series), opacity: 0.45 },
      })),
    ),
  };
}

/**
 * @param {Entry[]} entries
 * @param {number} max of the axis
 * @returns {any[]}
 */
function limitMarks(entries, max) {
  const marks = entries.flatMap(({ limits, series }, i) =>
    limits.map(({ role, value }) => ({ role, value, series, i })),
  );
  if (marks.length === 0) return [];
  return [
    {
      type: 'scatter',
      silent: true,
      z: 5,
      data: marks.map(({ role, value, series, i }) => {
        const beyond = value > max;
        const own =
          role === 'driver-limit'
            ? { symbol: 'diamond', symbolSize: 10 }
            : { symbol: 'rect', symbolSize: [4, 20] };
        const edge = {
          symbol: 'triangle',
          symbolRotate: -90,
          symbolSize: 8,
          symbolOffset: [0, role === 'driver-limit' ? -6 : 6],
        };
        return {
          value: [Math.min(value, max), i],
          ...(beyond ? edge : own),
          itemStyle: {
            color: roleColor(role, series),
            opacity: 1,
            borderColor: roleColor('surface', series),
            borderWidth: 1,
          },
        };
      }),
    },
  ];
}

/**
 * @param {Entry} entry
 * @param {boolean} narrow
 */
function labelOf({ median, row }, narrow) {
  if (narrow) return shortNumber(median);
  const share = formatInterval(row.throughput?.interval.relativeHalfWidth ?? null);
  return `${formatThroughput(median)} ${share}`.trimEnd();
}

/** @param {Entry} entry */
function pointText({ name, median, row, low, high, limits }) {
  const interval =
    low === null || high === null
      ? ''
      : `, mean between ${formatThroughput(low)} and ${formatThroughput(high)}`;
  const known = limits.map(({ role, value }) => `, ${CEILINGS[role]} ${formatThroughput(value)}`);
  const figure = median === 0 ? NONE : formatThroughput(median);
  return `${name}: ${figure} ops/s (n ${row.n})${interval}${known.join('')}`;
}
