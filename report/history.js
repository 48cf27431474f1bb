/**
 * The document of stored results over time: the results, the last level of each benchmark, its
 * changes, and each value. Pure.
 */

import {
  formatCount,
  formatDuration,
  formatRatio,
  formatThroughput,
  plainText,
} from '../lib/format.js';
import { version } from '../lib/version.js';
import { metric } from '../stats/metrics.js';
import { OF_NO_RESULT, tableOfItems } from './model.js';
import { processorText } from './text.js';

/** @typedef {import('./analysis/history.js').BenchmarkHistory} BenchmarkHistory */
/** @typedef {import('./analysis/history.js').HistoryPoint} HistoryPoint */
/** @typedef {import('./analysis/history.js').Metric} MetricName */
/** @typedef {import('../lib/result.js').Result} Result */
/** @typedef {import('../lib/report-types.js').Document} Document */
/** @typedef {import('../lib/report-types.js').Table} Table */
/** @typedef {{ file: string, result: Result }} StoredResult */
/** @typedef {import('../lib/report-types.js').Metric} Metric */

/** @typedef {{ name: string, unit: string, better: 'more' | 'less',
 *   format: (value: number | null) => string }} Measure */

/** @type {Readonly<Record<MetricName, Measure>>} */
const MEASURES = Object.freeze({
  throughput: { name: 'ops/s', unit: 'ops/s', better: 'more', format: formatThroughput },
  p50: { name: 'p50', unit: 'ns', better: 'less', format: formatDuration },
  p99: { name: 'p99', unit: 'ns', better: 'less', format: formatDuration },
  cpu: { name: 'client CPU/op', unit: 'ns', better: 'less', format: formatDuration },
});
const SPARKS = '▁▂▃▄▅▆▇█';
const SPARK_MAX = 40;

/**
 * @param {readonly StoredResult[]} stored
 * @param {readonly BenchmarkHistory[]} histories
 * @param {{ metric?: MetricName, left?: readonly string[] }} [options] left: omitted files, with
 *   the reason
 * @returns {Document}
 */
export function historyDocument(
  stored,
  histories,
  { metric: name = 'throughput', left = [] } = {},
) {
  const measure = MEASURES[name];
  const ordered = [...stored].sort((a, b) => (a.result.startedAt < b.result.startedAt ? -1 : 1));
  const points = histories.map((history) => pointTable(history, measure));
  const changed = histories.filter(({ changes }) => changes.length > 0).length;
  const [first, last] = [ordered[0], ordered[ordered.length - 1]];
  const counts = `${formatCount(changed)} of ${formatCount(histories.length)} benchmarks`;
  const verdict =
    histories.length === 0
      ? ['No benchmark occurs in two or more results.']
      : [`${measure.name}: ${counts} have a change point.`];
  return {
    ...OF_NO_RESULT,
    title: `Dragstrip ${version}: ${countOf(stored.length)} over time`,
    verdict,
    head: first === undefined ? [] : [['results', `${when(first.result)} to ${when(last.result)}`]],
    tables: [
      tableOfItems('Results', RESULTS, ordered),
      ...(histories.length === 0
        ? []
        : [tableOfItems(`${measure.name} over time`, levelsOf(measure), histories)]),
    ],
    details: points,
    notes: histories.flatMap((history) => notesOf(history, measure)),
    lists: left.length === 0 ? [] : [leftList(left)],
    legend: histories.length === 0 ? [] : [LEGEND],
    parts: [{ plots: [plotOf(measure)], tables: points }],
    id: 'history',
    subtitle: first === undefined ? '' : `${when(first.result)} to ${when(last.result)}`,
    rounds: () => linesOf(histories, name),
  };
}

/** @param {number} n */
function countOf(n) {
  return `${formatCount(n)} ${n === 1 ? 'result' : 'results'}`;
}

/** @param {Pick<Result, 'startedAt'>} result */
function when({ startedAt }) {
  return plainText(startedAt).slice(0, 19).replace('T', ' ');
}

/**
 * @param {string} key
 * @param {string} name
 * @param {(item: any) => string} of
 * @param {number} [drop]
 * @returns {Metric}
 */
function words(key, name, of, drop = 0) {
  return metric({ key, name, unit: 'text', align: 'left', drop }, (item) => plainText(of(item)));
}

/** @type {{ row: import('../lib/report-types.js').KeyColumn[], metrics: Metric[] }} */
const RESULTS = {
  row: [{ key: 'file', name: 'result' }],
  metrics: [
    words('started', 'started', ({ result }) => when(result), 1),
    words('state', 'state', ({ result }) => result.state, 3),
    words(
      'measured',
      'measured',
      ({ result: { benchmarks } }) => {
        const measured = benchmarks.filter((/** @type {any} */ { state }) => state === 'measured');
        return `${formatCount(measured.length)} of ${formatCount(benchmarks.length)} benchmarks`;
      },
      4,
    ),
    words('node', 'Node', ({ result }) => result.environment.node, 5),
    words('machine', 'machine', ({ result }) => processorText(result.environment), 6),
  ],
};

/**
 * @param {Measure} measure
 * @returns {{ row: import('../lib/report-types.js').KeyColumn[], metrics: Metric[] }}
 */
function levelsOf({ name, unit, better, format }) {
  const lastOf = (/** @type {any} */ { points }) => points[points.length - 1];
  return {
    row: [{ key: 'benchmark', name: 'benchmark' }],
    metrics: [
      words('trend', 'trend', ({ points }) => sparkline(points), 2),
      {
        key: 'last',
        name: `last\n${name}`,
        unit,
        better,
        shows: ['interval'],
        drop: 0,
        of: (history) => figureOf(lastOf(history)),
      },
      metric(
        { key: 'results', name: 'results', unit: 'count', drop: 3 },
        ({ points }) => points.length,
      ),
      metric(
        { key: 'changes', name: 'changes', unit: 'count', drop: 1 },
        ({ changes }) => changes.length,
      ),
      words('last_change', 'last change', ({ points, changes }) => {
        const last = changes[changes.length - 1];
        return last === undefined ? '' : changeText(last, points, format);
      }),
    ],
  };
}

/** @param {HistoryPoint} point @returns {import('../lib/report-types.js').Value} */
function figureOf({ value, low, high, n }) {
  const spread = low === null || high === null || value === 0 ? null : (high - low) / 2 / value;
  return { value, low, high, n, ...(spread !== null && { spread }) };
}

/**
 * @param {BenchmarkHistory['changes'][number]} change
 * @param {readonly HistoryPoint[]} points
 * @param {(value: number | null) => string} format
 * @returns {string} `run-8: 15,000 → 12,000 (0.80×, p 0.005)`
 */
function changeText({ index, before, after, ratio, p }, points, format) {
  const figures = `${format(before)} → ${format(after)}`;
  return `${plainText(points[index].id)}: ${figures} (${formatRatio(ratio)}, p ${p.toFixed(3)})`;
}

/**
 * @param {BenchmarkHistory} history
 * @param {Measure} measure
 * @returns {string[]} changes before the last one, and conditions that differ between results
 */
function notesOf({ benchmark, points, changes, mixed }, { format }) {
  const name = plainText(benchmark);
  return [
    ...changes
      .slice(0, -1)
      .map((change) => `${name}: changed at ${changeText(change, points, format)}`),
    ...(mixed.length === 0
      ? []
      : [`${name}: differs between results: ${plainText(mixed.join(', '))}`]),
  ];
}

/**
 * @param {readonly { value: number }[]} points
 * @returns {string} the latest, ascending
 */
function sparkline(points) {
  const shown = points.slice(-SPARK_MAX).map(({ value }) => value);
  const [low, high] = [Math.min(...shown), Math.max(...shown)];
  const step = (/** @type {number} */ value) =>
    high === low ? 3 : Math.round(((value - low) / (high - low)) * (SPARKS.length - 1));
  return shown.map((value) => SPARKS[step(value)]).join('');
}

/**
 * @param {BenchmarkHistory} history
 * @param {Measure} measure
 * @returns {Table} one row per result
 */
function pointTable(history, { name, unit, better, format }) {
  const { benchmark, points, changes } = history;
  const changeAt = (/** @type {any} */ { at }) => changes.find(({ index }) => index === at);
  const metrics = [
    words('started', 'started', ({ startedAt }) => startedAt),
    {
      key: 'value',
      name,
      unit,
      better,
      shows: /** @type {const} */ (['interval', 'n']),
      of: figureOf,
    },
    words('change', 'change', (point) => {
      const change = changeAt(point);
      return change === undefined ? '' : `${format(change.before)} → ${format(change.after)}`;
    }),
  ];
  const spec = { row: [{ key: 'result', name: 'result' }], metrics };
  const items = points.map((point, at) => ({ ...point, at, result: plainText(point.id), history }));
  return tableOfItems(plainText(benchmark), spec, items);
}

/**
 * @param {Measure} measure
 * @returns {import('../lib/report-types.js').PlotSpec} one curve per benchmark
 */
function plotOf({ name, format }) {
  const historyIn = (/** @type {any} */ [{ benchmarks }]) => benchmarks[0].history;
  return {
    kind: 'lines',
    each: 'table',
    metric: 'value',
    yName: name,
    head: 'result',
    id: (/** @type {Table[]} */ [{ title }]) => `history-${title}`,
    title: (/** @type {Table[]} */ [{ title }]) => `${title}: ${name} over time`,
    series: (/** @type {any} */ { benchmarks: [{ history }] }) => history.benchmark,
    inOrder: (/** @type {any} */ { benchmarks: [{ id, startedAt }] }) => [
      plainText(startedAt.slice(0, 10)),
      plainText(id),
    ],
    changes: (/** @type {any[]} */ rows) => changesOf(historyIn(rows)),
    summary(/** @type {any[]} */ [{ rows }]) {
      const { points, changes } = historyIn(rows);
      const last = changes[changes.length - 1];
      const count = `${changes.length} ${changes.length === 1 ? 'change' : 'changes'} of level`;
      return last === undefined
        ? `${countOf(points.length)}. No change of level is found.`
        : `${countOf(points.length)}. ${count}; the last at ${plainText(points[last.index].id)}, ` +
            `from ${format(last.before)} to ${format(last.after)}.`;
    },
    note:
      'Dots: the results, in their order, with the 95 % interval over their rounds. Vertical lines: ' +
      'changes of level (permutation test, level 0.01). Horizontal lines: the levels.',
  };
}

/**
 * @param {BenchmarkHistory} history
 * @returns {{ at: number[], levels: [[number, number], [number, number]][] }}
 */
function changesOf({ points, changes }) {
  if (changes.length === 0) return { at: [], levels: [] };
  const bounds = [0, ...changes.map(({ index }) => index), points.length];
  const means = [changes[0].before, ...changes.map(({ after }) => after)];
  return {
    at: changes.map(({ index }) => index),
    levels: means.map((mean, i) => [
      [bounds[i], mean],
      [bounds[i + 1] - 1, mean],
    ]),
  };
}

/**
 * @param {readonly string[]} left
 * @returns {import('../lib/report-types.js').List}
 */
function leftList(left) {
  const items = left.map((text) => {
    const [, subject = '', reason = text] = /^(.*?\.json(?:\.gz)?): (.*)$/s.exec(text) ?? [];
    return { subject: plainText(subject), text: plainText(reason), untrusted: true, hint: null };
  });
  return { kind: 'skipped', title: 'Left out', items };
}

/**
 * @param {readonly BenchmarkHistory[]} histories
 * @param {MetricName} name
 * @returns {import('../lib/report-types.js').RoundTable} one line per benchmark and result
 */
function linesOf(histories, name) {
  return {
    columns: [
      ...['benchmark', 'metric', 'unit', 'result_id', 'started_at', 'value', 'low', 'high', 'n'],
      ...['level_before', 'level_after', 'level_ratio', 'level_p'],
    ],
    lines: histories.flatMap(({ benchmark, points, changes }) =>
      points.map(({ id, startedAt, value, low, high, n }, i) => {
        const change = changes.find(({ index }) => index === i);
        const { before, after, ratio, p } = change ?? {};
        const { unit } = MEASURES[name];
        return [benchmark, name, unit, id, startedAt, value, low, high, n, before, after, ratio, p];
      }),
    ),
  };
}

const LEGEND =
  'trend: the latest results, from the least to the greatest. last: with the 95 % interval over its ' +
  'rounds. changes: results at which the level changed (permutation test, level 0.01; at least ' +
  'three results on each side).';
