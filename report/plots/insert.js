/** Inserts as bars: rows a second of every storage and strategy, the fastest at the top. */

import { formatCount, formatThroughput, plainText } from '../../lib/format.js';
import { toInsertGroups } from '../analysis/inserts.js';
import { barSeries, namesAxis, namesWidth, numberAxis } from './plot.js';

const ROW_HEIGHT = 22;

/** @typedef {{ name: string, series: number, rate: number, low: number | null,
 *   high: number | null, n: number }} Entry */

/** @type {import('./plot.js').PlotDefinition} */
export default {
  name: 'insert',
  summary: 'rows inserted a second',
  build({ result, seriesOf }) {
    const entries = toInsertGroups(result)
      .flatMap(({ label, lines }) =>
        lines.flatMap(({ row, strategy, batch, inFlight, rate }) =>
          rate.median === null
            ? []
            : [
                {
                  name: nameOf(label, { strategy, batch, inFlight }),
                  series: seriesOf(row.cell),
                  rate: rate.median,
                  low: rate.interval.low,
                  high: rate.interval.high,
                  n: rate.n,
                },
              ],
        ),
      )
      .sort((a, b) => a.rate - b.rate);
    return entries.length === 0 ? [] : [toPlot(entries, result.dataset.rows)];
  },
};

/**
 * @param {string} label
 * @param {{ strategy: string, batch: number | null, inFlight: number | null }} line
 */
function nameOf(label, { strategy, batch, inFlight }) {
  const size = batch === null ? '' : ` of ${batch}`;
  return plainText(`${label} ${strategy}${size}, ${inFlight} in flight`);
}

/**
 * @param {Entry[]} entries ascending
 * @param {number} rows
 * @returns {import('./plot.js').Plot}
 */
function toPlot(entries, rows) {
  const [least, most] = [entries[0], entries[entries.length - 1]];
  return {
    id: 'insert',
    title: `Rows inserted a second, of ${formatCount(rows)}`,
    summary:
      `${most.name} inserts most rows, ${formatThroughput(most.rate)} a second; ` +
      `${least.name} fewest, ${formatThroughput(least.rate)}.`,
    note: 'Median of the rounds, from the first request to the last acknowledgement. More is better.',
    group: null,
    variants: [
      { name: 'linear', draw: (size) => draw(entries, size, 'value') },
      { name: 'log', draw: (size) => draw(entries, size, 'log') },
    ],
    table: {
      columns: [
        { name: 'storage and strategy', align: 'left' },
        { name: 'rows/s', align: 'right' },
        { name: 'from', align: 'right' },
        { name: 'to', align: 'right' },
        { name: 'rounds', align: 'right' },
      ],
      rows: [...entries].reverse().map(({ name, series, rate, low, high, n }) => ({
        series,
        texts: [
          name,
          formatThroughput(rate),
          formatThroughput(low),
          formatThroughput(high),
          String(n),
        ],
      })),
    },
  };
}

/**
 * @param {Entry[]} entries
 * @param {{ width: number }} size
 * @param {'value' | 'log'} scale
 * @returns {import('./plot.js').Drawing}
 */
function draw(entries, { width }, scale) {
  const names = entries.map(({ name }) => name);
  const left = namesWidth(names, width);
  const axis = numberAxis(formatThroughput, { name: 'rows a second' });
  return {
    height: entries.length * ROW_HEIGHT + 56,
    nearest: 'y',
    option: /** @type {any} */ ({
      grid: { left, right: 84, top: 8, bottom: 46 },
      xAxis: scale === 'log' ? { ...axis, type: 'log' } : { ...axis, splitNumber: 4 },
      yAxis: namesAxis(names, left),
      series: [
        barSeries(
          entries.map(({ rate, series }) => ({ value: rate, series })),
          { label: (i) => formatThroughput(entries[i].rate) },
        ),
      ],
    }),
    points: entries.map(({ name, rate, series, n }, i) => ({
      seriesIndex: 0,
      at: [rate, i],
      series,
      text: `${name}: ${formatThroughput(rate)} rows/s, ${n} rounds`,
    })),
  };
}
