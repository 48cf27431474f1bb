/** Stored results over time: for a terminal, and as a page with a plot for each test. Pure. */

import {
  formatCount,
  formatDuration,
  formatRatio,
  formatThroughput,
  plainText,
  wrap,
} from '../lib/format.js';
import { figureMarkup } from './html/figure.js';
import { escapeHtml, tableMarkup } from './html/markup.js';
import { pageMarkup } from './html/page.js';
import { historyPlots } from './plots/history.js';

/** @typedef {import('./analysis/history.js').BenchmarkHistory} BenchmarkHistory */
/** @typedef {import('./analysis/history.js').Metric} Metric */
/** @typedef {import('../lib/result.js').Result} Result */
/** @typedef {{ file: string, result: Result }} StoredResult */

/** @type {Readonly<Record<Metric, { name: string, format: (value: number | null) => string }>>} */
const METRICS = Object.freeze({
  throughput: { name: 'throughput, ops/s', format: formatThroughput },
  p50: { name: 'p50', format: formatDuration },
  p99: { name: 'p99', format: formatDuration },
  cpu: { name: 'client CPU per operation', format: formatDuration },
});
const SPARKS = '▁▂▃▄▅▆▇█';
const SPARK_MAX = 40;

/**
 * @param {readonly StoredResult[]} stored
 * @param {readonly BenchmarkHistory[]} histories
 * @param {{ metric?: Metric, width?: number, left?: readonly string[] }} [options] left: files that
 *   were left out, and why
 * @returns {string}
 */
export function renderHistory(stored, histories, options = {}) {
  const { metric = 'throughput', width = Infinity, left = [] } = options;
  const { name, format } = METRICS[metric];
  const columns = Math.min(width, 120);
  const lines = (/** @type {string} */ text) => {
    const indent = text.startsWith('  ') ? '  ' : '';
    const room = Math.max(1, columns - indent.length);
    return wrap(text.trimStart(), room).map((line) => `${indent}${line}`);
  };
  const listed = ordered(stored).map(({ file, result }) => {
    const measured = result.benchmarks.filter(({ state }) => state === 'measured').length;
    return (
      `${plainText(result.startedAt).slice(0, 19)}  ${plainText(file)}: ${result.state}, ` +
      `${formatCount(measured)} of ${formatCount(result.benchmarks.length)} tests, ` +
      `Node ${plainText(result.environment.node)}`
    );
  });
  const benchmarks = histories.flatMap(({ benchmark, points, changes, mixed }) => [
    '',
    ...lines(plainText(benchmark)),
    ...lines(
      `  ${sparkline(
        points.map(({ value }) => value),
        columns - 4,
      )}`,
    ),
    ...lines(
      `  ${name}: last ${format(points[points.length - 1].value)}, ${formatCount(points.length)} results`,
    ),
    ...changes.flatMap(({ index, before, after, ratio, p }) =>
      lines(
        `  changed at ${plainText(points[index].id)}: ${format(before)} → ${format(after)} ` +
          `(${formatRatio(ratio)}, p ${p.toFixed(3)})`,
      ),
    ),
    ...(changes.length === 0 ? ['  no change of level'] : []),
    ...(mixed.length > 0 ? lines(`  not the same in all: ${mixed.join(', ')}`) : []),
  ]);
  return `${[
    `${formatCount(stored.length)} results`,
    ...listed.flatMap(lines),
    ...left.flatMap((text) => lines(`left out: ${plainText(text)}`)),
    ...(histories.length === 0 ? ['', 'No benchmark is in two results or more.'] : benchmarks),
  ].join('\n')}\n`;
}

/** @param {readonly StoredResult[]} stored */
function ordered(stored) {
  return [...stored].sort((a, b) => (a.result.startedAt < b.result.startedAt ? -1 : 1));
}

/**
 * @param {readonly number[]} values
 * @param {number} width
 * @returns {string} the latest, as many as there is room for; from the least to the greatest
 */
function sparkline(values, width) {
  const shown = values.slice(-Math.max(1, Math.min(SPARK_MAX, width)));
  const [low, high] = [Math.min(...shown), Math.max(...shown)];
  const step = (/** @type {number} */ value) =>
    high === low ? 3 : Math.round(((value - low) / (high - low)) * (SPARKS.length - 1));
  return shown.map((value) => SPARKS[step(value)]).join('');
}

/**
 * @param {readonly BenchmarkHistory[]} histories
 * @param {Metric} [metric]
 * @returns {import('./plots/plot.js').Plot[]}
 */
export function plotsOfHistory(histories, metric = 'throughput') {
  return historyPlots(histories, METRICS[metric]);
}

/**
 * @param {readonly StoredResult[]} stored
 * @param {readonly BenchmarkHistory[]} histories
 * @param {{ metric?: Metric }} [options]
 * @returns {string} a page
 */
export function renderHistoryPage(stored, histories, { metric = 'throughput' } = {}) {
  const plots = plotsOfHistory(histories, metric);
  const list = ordered(stored);
  const results = tableMarkup({
    caption: 'Results',
    columns: ['result', 'started', 'state', 'Node', 'machine'].map((name) => ({
      name,
      align: /** @type {const} */ ('left'),
    })),
    rows: list.map(({ file, result }) => ({
      texts: [
        plainText(file),
        plainText(result.startedAt),
        result.state,
        plainText(result.environment.node),
        plainText(`${result.environment.cpu}, ${result.environment.cores} cores`),
      ],
    })),
  });
  const changed = histories.filter(({ changes }) => changes.length > 0);
  return pageMarkup({
    title: `Dragstrip: ${formatCount(stored.length)} results over time`,
    when:
      list.length === 0
        ? ''
        : `${plainText(list[0].result.startedAt)} to ${plainText(list[list.length - 1].result.startedAt)}`,
    lead:
      `${METRICS[metric].name}: ${formatCount(changed.length)} of ` +
      `${formatCount(histories.length)} tests changed their level.`,
    storages: [],
    downloads: [],
    contents: [
      { id: 'results', title: 'Results' },
      ...plots.map(({ id, title }) => ({ id, title })),
    ],
    body: [
      `<section id="results"><h2>Results</h2><div class="card">${results}</div></section>`,
      ...plots.map((plot) => figureMarkup(plot, { prefix: '', level: 2 })),
      plots.length === 0 ? `<p>${escapeHtml('No benchmark is in two results or more.')}</p>` : '',
    ].join('\n'),
  });
}
