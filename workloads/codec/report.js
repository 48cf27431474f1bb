/**
 * Report of codecs: a table per protocol, direction and fixture, a row per variant, fastest first,
 * followed by variants that count without decoding, and variants without a figure.
 */

import { formatBytes, formatCount } from '../../lib/format.js';
import {
  figureOf,
  measuredWithMetrics,
  medianOf,
  metric,
  metricValues,
  numberOf,
  rank,
  ratioTo,
} from '../../stats/metrics.js';

/** @typedef {import('../../lib/report-types.js').TableRow} TableRow */
/** @typedef {import('../../lib/report-types.js').Table} Table */

const PROTOCOL_NAMES = Object.freeze({
  handlersocket: 'HandlerSocket',
  resp: 'RESP',
  messagepack: 'MessagePack (Tarantool)',
  cql: 'CQL (Cassandra)',
});
/** Remark after a name; drivers have none. */
const KINDS = Object.freeze({ ours: 'ours', rejected: 'rejected', bound: 'decodes nothing' });

/**
 * @param {any} benchmark
 * @param {any} result
 * @returns {any[]} with the kind of the variant, and whether its output was wrong
 */
function expand(benchmark, { storages }) {
  const { storage: name } = benchmark.source;
  const about = storages.find((/** @type {any} */ one) => one.name === name);
  const kind = String(about?.options.kind ?? '');
  const isWrong =
    benchmark.wrong > 0 ||
    benchmark.source.rounds.some((/** @type {any} */ { failure }) => failure?.code === 'E_DATA');
  return [
    {
      ...benchmark,
      version: about?.version ?? null,
      isBound: kind === 'bound',
      isWrong,
      mark: isWrong ? 'wrong' : null,
      remark: KINDS[/** @type {'ours'} */ (kind)] ?? null,
    },
  ];
}

/**
 * @param {any} benchmark
 * @param {'bytes' | 'rows'} what
 * @returns {number | null} amount per operation
 */
function amountOf(benchmark, what) {
  const values = metricValues(benchmark, what);
  return values.length === 0 ? null : Number(values[0]);
}

/**
 * @param {any} benchmark
 * @param {'bytes' | 'rows'} what
 */
function perSecond(benchmark, what) {
  const amount = amountOf(benchmark, what);
  const rate = benchmark.throughput?.value ?? null;
  return rate === null || amount === null ? null : rate * amount;
}

/** @type {import('../../lib/report-types.js').Metric} */
const speed = {
  key: 'bytes',
  name: 'MB/s',
  unit: 'B/s',
  as: 'MB/s',
  better: 'more',
  drop: 0,
  shows: ['interval'],
  of(benchmark) {
    const { source, throughput, isWrong, state, n } = benchmark;
    if (isWrong) return { state: 'wrong', reason: source.reason };
    const value = perSecond(benchmark, 'bytes');
    const shown = state === 'planned' ? 'not yet' : state;
    if (value === null) return { state: shown, reason: source.reason };
    const { low, high, spread } = throughput;
    const bytes = Number(amountOf(benchmark, 'bytes'));
    const times = (/** @type {number | null} */ end) => (end === null ? null : end * bytes);
    return figureOf(value, n, { low: times(low), high: times(high), spread });
  },
};

/** @param {any} benchmark @returns {number | null} fraction of its measured time */
function collecting({ source }) {
  /** @type {any[]} */
  const rounds = source.rounds.filter((/** @type {any} */ { state }) => state === 'measured');
  const durationNs = rounds.reduce((sum, round) => sum + round.durationNs, 0);
  const gcNs = rounds.reduce((sum, { client }) => sum + (client?.gcNs ?? 0), 0);
  return durationNs === 0 ? null : gcNs / durationNs;
}

/**
 * @param {TableRow[]} rows
 * @returns {TableRow[]}
 */
function order(rows) {
  const speedOf = (/** @type {TableRow} */ { values }) => numberOf(values['bytes']);
  const place = (/** @type {TableRow} */ row) =>
    speedOf(row) === null ? 2 : row.benchmarks[0].isBound ? 1 : 0;
  return rows.sort((a, b) => place(a) - place(b) || (speedOf(b) ?? 0) - (speedOf(a) ?? 0));
}

/** @param {any} benchmark @returns {boolean} whether it does the work correctly */
const contends = ({ isBound, isWrong, throughput }) => !isBound && !isWrong && throughput !== null;

/**
 * @param {any} benchmark
 * @returns {string} `HandlerSocket, decoding`
 */
function sideOf({ keys: { protocol, direction } }) {
  const name = PROTOCOL_NAMES[/** @type {'resp'} */ (protocol)] ?? protocol;
  return `${name}, ${direction === 'decode' ? 'decoding' : 'encoding'}`;
}

/** @param {readonly any[]} table */
function title([first, ...others]) {
  const { fixture } = first.keys;
  const table = [first, ...others];
  const known = table.find((one) => metricValues(one, 'bytes').length > 0);
  const rounds = Math.max(0, ...table.map(({ n }) => n));
  const size = known === undefined ? '' : `: ${sizeText(known)}`;
  return `${sideOf(first)}, ${fixture}${size}, ${rounds} ${rounds === 1 ? 'round' : 'rounds'}`;
}

/** @param {any} benchmark */
function sizeText(benchmark) {
  const [repeat] = /** @type {number[]} */ (metricValues(benchmark, 'repeat'));
  const bytes = Number(amountOf(benchmark, 'bytes')) / repeat;
  const rows = Number(amountOf(benchmark, 'rows')) / repeat;
  const times = repeat === 1 ? '' : `, ${formatCount(repeat)} times an operation`;
  return `${formatBytes(bytes)}, ${formatCount(rows)} rows${times}`;
}

const perRow = Object.freeze({ better: /** @type {const} */ ('less') });

/** @param {string} key @param {string} name @param {string} field @param {number} drop */
function bytesMetric(key, name, field, drop) {
  const shown = { key, name: `${name}\na row`, unit: 'B/row', as: 'B', ...perRow, drop };
  return metric(shown, (one) => {
    const rounds = measuredWithMetrics(one).filter(({ metrics }) => field in metrics);
    return rounds.length === 0
      ? null
      : medianOf(rounds.map(({ metrics }) => metrics[field] / metrics.rows));
  });
}

/** @param {Table} table */
const sideName = ({ rows }) => sideOf(rows[0].benchmarks[0]);

/** @type {import('../../lib/report-types.js').ReportSpec} */
export const report = {
  row: null,
  tables: [
    {
      expand,
      contenders: contends,
      table: ['protocol', 'direction', 'fixture'],
      row: [{ key: 'storage', name: 'variant' }],
      metrics: [
        metric(
          { key: 'version', name: 'version', unit: 'text', drop: 6 },
          (one) => one.version ?? '',
        ),
        { ...rank, drop: 4, optional: false },
        speed,
        metric({ key: 'rows', name: 'rows/s', unit: 'rows/s', better: 'more', drop: 2 }, (one) =>
          perSecond(one, 'rows'),
        ),
        metric(
          { key: 'time', name: 'time\na row', unit: 'ns/row', as: 'ns', ...perRow, drop: 1 },
          (one) => {
            const rate = perSecond(one, 'rows');
            return rate === null || rate === 0 ? null : 1e9 / rate;
          },
        ),
        metric(
          { key: 'cpu', name: 'CPU\na row', unit: 'ns/row', as: 'ns', ...perRow, drop: 1 },
          (one) => {
            const rows = amountOf(one, 'rows');
            return one.clientCpuNs === null || rows === null ? null : one.clientCpuNs / rows;
          },
        ),
        ratioTo(speed, (table, scope) => best(table, scope), {
          key: 'versus_fastest',
          name: 'of\nfastest',
        }),
        bytesMetric('heap', 'heap', 'heapBytes', 3),
        bytesMetric('buffers', 'Buffers', 'bufferBytes', 5),
        metric({ key: 'gc', name: 'in\nGC', unit: '%', ...perRow, drop: 4.5 }, collecting),
      ],
      order,
      title,
    },
  ],
  plots: [
    {
      kind: 'dots',
      ratio: 'versus_fastest',
      figures: ['bytes'],
      order: 'mean',
      head: 'variant',
      each: sideName,
      id: (/** @type {Table[]} */ [table]) => `codec-${sideName(table)}`,
      title: (/** @type {Table[]} */ [table]) => `${sideName(table)}: speed against the fastest`,
      series: (/** @type {Table} */ { rows }) => String(rows[0].benchmarks[0].keys.fixture),
      has: (/** @type {TableRow} */ { benchmarks }) => !benchmarks[0].isBound,
      axis: 'speed, of the fastest on the same fixture',
      summary: (/** @type {unknown} */ _, /** @type {string[]} */ [first]) =>
        `Over all fixtures ${first} is closest to the fastest on each.`,
      note:
        'A dot is a fixture: 1 is the fastest on it, 0.5 half as fast. Rows by their geometric ' +
        'mean. Variants that decode nothing are left out.',
    },
  ],
  legend: [
    'codecs: one operation is one whole fixture, in chunks of at most 64 KiB. MB/s: a million ' +
      'bytes on the wire, geometric mean of the rounds ± its 95 % interval. CPU: of all ' +
      'threads, garbage collection included; on a busy machine more reliable than time. heap, ' +
      'Buffers: bytes allocated per row, garbage included, in a separate pass; Buffers come in ' +
      'slabs and are accurate to about 10 %. rank: statistically tied variants share a range, such ' +
      'as 2–4.',
    'rejected: an alternative that was not chosen. decodes nothing: counts replies only, an ' +
      'upper bound for every decoder. wrong: its output differs from the expected one; not timed.',
  ],
};

/**
 * @param {readonly any[]} table
 * @param {import('../../lib/report-types.js').Scope} scope
 * @returns {any} the fastest variant that does the work
 */
function best(table, scope) {
  const rates = (/** @type {any} */ one) => numberOf(speed.of(one, scope)) ?? 0;
  return table.filter(contends).sort((a, b) => rates(b) - rates(a))[0];
}
