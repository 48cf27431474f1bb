/** Client memory per outstanding request of a burst, as bars. */

import { formatBytes, plainText } from '../../lib/format.js';
import { loadName } from '../../lib/load-name.js';
import {
  barSeries,
  namesAxis,
  namesWidth,
  numberAxis,
  plotId,
  plottedRows,
  rowName,
} from './plot.js';

const ROW_HEIGHT = 28;

/** @type {import('./plot.js').PlotDefinition} */
export default {
  name: 'memory',
  summary: 'client memory per outstanding request of a burst',
  build: ({ groups, seriesOf }) =>
    groups.flatMap((group) => {
      const entries = plottedRows(group)
        .flatMap((row) =>
          row.pendingBytes === null
            ? []
            : [
                {
                  name: rowName(row),
                  series: seriesOf(row.source),
                  bytes: row.pendingBytes,
                  rssBytesMax: row.rssBytesMax,
                },
              ],
        )
        .sort((a, b) => a.bytes - b.bytes);
      return entries.length === 0 ? [] : [toPlot(group, entries)];
    }),
};

/** @typedef {{ name: string, series: number, bytes: number, rssBytesMax: number | null }} Entry */

/**
 * @param {import('./plot.js').Group} group
 * @param {Entry[]} entries ascending
 * @returns {import('./plot.js').Plot}
 */
function toPlot(group, entries) {
  const [least, most] = [entries[0], entries[entries.length - 1]];
  return {
    id: plotId('memory', group),
    title: `Memory per outstanding request, ${plainText(group.workload)}, ${loadName(group.load)}`,
    summary:
      `Client heap per request once all requests are issued: ` +
      `${least.name} takes least, ${formatBytes(least.bytes)}, ${most.name} most, ` +
      `${formatBytes(most.bytes)}.`,
    note: 'Growth of the heap from before the first request to after the last, median of the rounds.',
    group,
    variants: [{ name: 'linear', draw: (size) => draw(entries, size) }],
    table: {
      columns: [
        { name: 'storage', align: 'left' },
        { name: 'per outstanding request', align: 'right' },
        { name: 'client memory, max', align: 'right' },
      ],
      rows: entries.map(({ name, series, bytes, rssBytesMax }) => ({
        series,
        texts: [name, formatBytes(bytes), formatBytes(rssBytesMax)],
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
  return {
    height: entries.length * ROW_HEIGHT + 56,
    nearest: 'y',
    option: {
      grid: { left, right: 84, top: 8, bottom: 46 },
      xAxis: { ...numberAxis(formatBytes, { name: 'per outstanding request' }), splitNumber: 4 },
      yAxis: namesAxis(names, left),
      series: [
        barSeries(
          entries.map(({ bytes, series }) => ({ value: Math.max(0, bytes), series })),
          { label: (i) => formatBytes(entries[i].bytes) },
        ),
      ],
    },
    points: entries.map(({ name, bytes, series, rssBytesMax }, i) => ({
      seriesIndex: 0,
      at: [Math.max(0, bytes), i],
      series,
      text: `${name}: ${formatBytes(bytes)} per request; process max ${formatBytes(rssBytesMax)}`,
    })),
  };
}
