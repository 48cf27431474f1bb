/** Report of inserts: a table per storage, a row per strategy and load. */

import { formatCount } from '../../lib/format.js';
import {
  clientCpu,
  measuredWithMetrics,
  metric,
  numberOf,
  p50,
  p99,
  ratioTo,
  rowRate,
  serverCpu,
} from '../../stats/metrics.js';

/** @typedef {import('../../lib/report-types.js').TableRow} TableRow */

/** Baseline of a storage's other strategies: its first measured one. */
const PLAINEST = Object.freeze(['async', 'one']);

/** Rows verified by reading back, per second from the first request to the last acknowledgement. */
const rowsPerSecond = rowRate(({ metrics }) => Number(metrics?.right ?? 0));

/** @param {any} benchmark @returns {number | null} mean number of rows per request */
function rowsPerRequest(benchmark) {
  const [round] = measuredWithMetrics(benchmark);
  return round === undefined ? null : round.metrics.rows / round.metrics.requests;
}

/**
 * @param {any} benchmark
 * @param {string} name
 * @returns {string | null} the storage's description of it
 */
function textOf(benchmark, name) {
  const text = measuredWithMetrics(benchmark)[0]?.metrics[name];
  return text === undefined || text === '' ? null : String(text);
}

/** @type {import('../../lib/report-types.js').ReportSpec} */
export const report = {
  row: 'two numbers',
  tables: [
    {
      table: ['storage'],
      row: [
        { key: 'strategy', name: 'strategy' },
        {
          key: 'batch',
          name: 'rows of\na request',
          align: 'right',
          drop: 2,
          // The last request of a worker may have fewer rows.
          of: (one) => one.keys.batch ?? Math.round(rowsPerRequest(one) ?? 0),
        },
        { key: 'inFlight', name: 'in\nflight', align: 'right', drop: 1 },
        { key: 'id', name: 'id', hidden: true },
      ],
      metrics: [
        rowsPerSecond,
        metric(
          { key: 'seconds', name: 'seconds', unit: 's', better: 'less', digits: 2, drop: 1.5 },
          (one, scope) => {
            const rate = numberOf(rowsPerSecond.of(one, scope));
            return rate === null ? null : measuredWithMetrics(one)[0].metrics.rows / rate;
          },
        ),
        ratioTo(
          rowsPerSecond,
          (table, scope) =>
            PLAINEST.map((name) =>
              table.find(
                (one) =>
                  one.keys.strategy === name && numberOf(rowsPerSecond.of(one, scope)) !== null,
              ),
            ).find(Boolean),
          {
            key: 'versus_plainest',
            name: 'ratio to the first strategy',
            head: ['', 'ratio'],
            drop: 3,
          },
        ),
        { ...p50, drop: 4 },
        { ...p99, drop: 5 },
        clientCpu.per('row', rowsPerRequest, { drop: 6 }),
        serverCpu.per('row', rowsPerRequest, { drop: 7 }),
        metric({ key: 'how', name: 'how', unit: 'text', align: 'left', drop: 8 }, (one) =>
          textOf(one, 'how'),
        ),
      ],
      title(table, { dataset }) {
        const durability = new Set(table.flatMap((one) => textOf(one, 'durability') ?? []));
        const safety =
          durability.size === 0 ? '' : `; durability: ${[...durability].join(' and ')}`;
        const rows = `${formatCount(dataset.rows)} rows (a int primary key, b int)`;
        return `${table[0].label}, ${rows}${safety}`;
      },
    },
  ],
  plots: [
    {
      kind: 'bars',
      id: () => 'insert',
      measures: [{ key: 'rows' }],
      order: 'ascending',
      head: 'storage and strategy',
      name: (/** @type {TableRow} */ { keys, benchmarks: [{ label, keys: own }] }) =>
        `${label} ${keys.strategy}${own.batch === undefined ? '' : ` of ${own.batch}`}, ` +
        `${keys.inFlight} in flight`,
      title: () => 'Rows inserted per second',
      summary(/** @type {any[]} */ entries, /** @type {(value: number) => string} */ format) {
        const [least, most] = [entries[0], entries[entries.length - 1]];
        const [low, high] = [least, most].map(({ values }) => format(values[0]));
        return `${most.name} is fastest, ${high} rows per second; ${least.name} slowest, ${low}.`;
      },
      note: 'Median of the rounds, from the first request to the last acknowledgement. More is better.',
      axis: 'rows per second',
    },
  ],
  legend: [
    'insert: rows/s, geometric mean of the rounds ± its 95 % interval (n rounds), from the ' +
      'first request to the last acknowledgement; every row is read back and verified. seconds: ' +
      'time for all rows. ratio: to async of the same storage, or to one. p50, p99: per request, ' +
      'whatever its number of rows. CPU: per row, without reading back.',
  ],
};
