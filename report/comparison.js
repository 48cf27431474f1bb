/**
 * The document of a comparison of results. Pure; analysis/comparison.js decides which benchmarks
 * are comparable.
 */

import {
  formatDuration,
  formatRatio,
  formatShare,
  formatThroughput,
  plainText,
} from '../lib/format.js';
import { metric, UNKNOWN } from '../stats/metrics.js';
import { ADVICE } from './analysis/comparison.js';
import { groupBy } from './analysis/groups.js';
import { allDifferences, conditionLines, differenceList, nameOf } from './conditions.js';
import { OF_NO_RESULT, tableOfItems } from './model.js';
import { WITNESSES } from './pairs.js';
import { snakeCase } from './text.js';

/** @typedef {import('./analysis/comparison.js').Comparison} Comparison */
/** @typedef {import('./analysis/comparison.js').ComparedBenchmark} ComparedBenchmark */

/**
 * @param {Comparison} comparison
 * @returns {import('../lib/report-types.js').Document}
 */
export function comparisonDocument(comparison) {
  const { base, others } = comparison;
  return {
    ...OF_NO_RESULT,
    title: `Dragstrip ${plainText(comparison.dragstrip)}: compare`,
    verdict: conditionLines(others),
    head: [
      ['first', sideText(base)],
      ...others.map((other, i) => /** @type {[string, string]} */ ([nameOf(i), sideText(other)])),
    ],
    tables: others.flatMap((other, i) =>
      other.benchmarks.length === 0
        ? []
        : [
            tableOfItems(
              `${nameOf(i)} (${fileText(other.file)}) against the first`,
              COMPARED,
              other.benchmarks,
            ),
          ],
    ),
    notes: [judgement(comparison), ...witnessNotes(others), ...adviceOf(others)],
    lists: [differenceList(allDifferences(others)), leftList(others)].filter(
      ({ items }) => items.length > 0,
    ),
    legend: LEGEND,
    parts: [{ plots: PLOTS, tables: plottedTables(comparison) }],
    id: plainText(comparison.id),
    subtitle: '',
    rounds: () => roundsOf(comparison),
  };
}

/**
 * @param {Comparison} comparison
 * @returns {import('../lib/report-types.js').RoundTable} one line per comparison
 */
function roundsOf({ base, others }) {
  const fields = /** @type {const} */ ([
    ...['benchmark', 'metric', 'base', 'other', 'ratio', 'low', 'high', 'confidence', 'p', 'n'],
    ...['noise', 'margin', 'verdict', 'roundsNeeded'],
  ]);
  return {
    columns: ['base_file', 'other_file', ...fields.map(snakeCase), 'differs_in'],
    lines: others.flatMap(({ file, benchmarks, differences, circumstances = [] }) =>
      benchmarks.map((benchmark) => [
        ...[base.file, file],
        ...fields.map(
          (field) =>
            benchmark[/** @type {Exclude<keyof ComparedBenchmark, 'witnesses'>} */ (field)],
        ),
        [...differences, ...circumstances].map(({ what }) => what).join('; '),
      ]),
    ),
  };
}

/**
 * @param {string} file
 * @returns {string} as named by the user; only the file name of an absolute path
 */
function fileText(file) {
  const isAbsolute = /^(?:[/\\]|[A-Za-z]:\\)/.test(file);
  return plainText(isAbsolute ? (file.split(/[/\\]/).at(-1) ?? file) : file);
}

/** @param {Comparison['base']} side */
function sideText({ file, id, startedAt, rounds }) {
  const when = startedAt.replace('T', ' ').replace(/(:\d\d)\.\d+/, '$1');
  return plainText(
    `${fileText(file)}: ${id}, ${when}, ${rounds} ${rounds === 1 ? 'round' : 'rounds'}`,
  );
}

/** @typedef {import('../lib/report-types.js').Metric} Metric */

/** @type {{ row: import('../lib/report-types.js').KeyColumn[], metrics: Metric[] }} */
const COMPARED = {
  row: [{ key: 'benchmark', name: 'benchmark' }],
  metrics: [
    figure('base', 'first', 3),
    figure('other', 'other', 4),
    {
      key: 'ratio',
      name: 'speed of the other',
      unit: '×',
      better: 'more',
      head: ['', 'speed'],
      drop: 0,
      of: ({ ratio, low, high, n }) => (ratio === null ? UNKNOWN : { value: ratio, low, high, n }),
    },
    metric({ key: 'interval', name: '95 %\ninterval', unit: 'text', drop: 1 }, ({ low, high }) =>
      low === null || high === null
        ? null
        : `${low.toFixed(3)}–${high < 1000 ? high.toFixed(3) : '> 999'}`,
    ),
    metric(
      { key: 'p', name: 'p after Holm', unit: 'p', head: ['p', '(Holm)'], drop: 5 },
      ({ p }) => p,
    ),
    {
      ...metric({ key: 'noise', name: 'A/A\nnoise', unit: '%', drop: 2 }, ({ noise }) => noise),
      of: ({ noise, n }) =>
        noise === null
          ? { state: 'unknown', reason: 'too few rounds' }
          : { value: noise, low: null, high: null, n },
    },
    metric(
      { key: 'rounds', name: 'rounds', unit: 'count', head: ['', 'n'], drop: 6 },
      ({ n }) => n,
    ),
    ...WITNESSES.map(([key, name], i) => witnessMetric(key, name, 2.5 + i / 10)),
    metric({ key: 'verdict', name: 'verdict', unit: 'text', align: 'left' }, verdictText),
  ],
};

/**
 * @param {'base' | 'other'} side
 * @param {string} name
 * @param {number} drop
 * @returns {Metric} operations per second, or a time if the rate was fixed
 */
function figure(side, name, drop) {
  return metric({ key: side, name, unit: 'text', drop }, (benchmark) =>
    benchmark.metric === 'p99'
      ? `p99 ${formatDuration(benchmark[side])}`
      : formatThroughput(benchmark[side]),
  );
}

/** @type {typeof COMPARED} */
const PLOTTED = {
  row: [{ key: 'name', name: 'storage' }],
  metrics: [
    ...COMPARED.metrics.filter(({ key }) => key === 'base' || key === 'other' || key === 'ratio'),
    metric({ key: 'file', name: 'result', unit: 'text' }, ({ file }) => fileText(file)),
    metric({ key: 'verdict', name: 'verdict', unit: 'text' }, ({ verdict }) => verdict),
  ],
};

/**
 * @param {Comparison} comparison
 * @returns {import('../lib/report-types.js').Table[]} one per workload and load
 */
function plottedTables({ base, others }) {
  const items = others.flatMap(({ benchmarks, file }, i) =>
    benchmarks.flatMap((benchmark) => {
      if (benchmark.ratio === null) return [];
      const [storage, ...rest] = plainText(benchmark.benchmark).split('/');
      const number = others.length > 1 ? ` (${i + 2})` : '';
      const name = `${storage.replace(/:default$/, '')}${number}`;
      const key = rest.join(', ');
      return [{ ...benchmark, name, key, file, side: i, first: base.file }];
    }),
  );
  const groups = [...groupBy(items, ({ key }) => key)];
  return groups.map(([key, own]) => tableOfItems(key, PLOTTED, byStorage(own)));
}

/**
 * @param {any[]} items
 * @returns {any[]} grouped by storage
 */
function byStorage(items) {
  const benchmarkOf = (/** @type {any} */ { benchmark }) => benchmark;
  const order = [...new Set(items.map(benchmarkOf))];
  return [...items].sort(
    (a, b) => order.indexOf(benchmarkOf(a)) - order.indexOf(benchmarkOf(b)) || a.side - b.side,
  );
}

/** @param {readonly any[]} dots @param {string} verdict */
function countOf(dots, verdict) {
  return dots.filter(({ row }) => row.benchmarks[0].verdict === verdict).length;
}

/** @type {readonly import('../lib/report-types.js').PlotSpec[]} */
const PLOTS = [
  {
    kind: 'dots',
    each: 'table',
    first: true,
    head: 'storage',
    ratio: 'ratio',
    figures: ['file', 'base', 'other', 'verdict'],
    id: (/** @type {any[]} */ [{ title }]) => `comparison-${title}`,
    title: (/** @type {any[]} */ [{ title }]) => `Against the first, ${title}`,
    color: (/** @type {any} */ { benchmarks: [{ side }] }) => side,
    filled: (/** @type {any} */ { benchmarks: [{ verdict }] }) => /^(faster|slower)$/.test(verdict),
    summary(/** @type {any[]} */ dots) {
      const counts = `${countOf(dots, 'faster')} faster, ${countOf(dots, 'slower')} slower`;
      const rest = `${countOf(dots, 'same')} tied, ${countOf(dots, 'undecided')} not resolved`;
      return `${counts}, ${rest}, against ${fileText(dots[0].row.benchmarks[0].first)}.`;
    },
    note: (/** @type {any[]} */ dots) =>
      'Dot: speed relative to the first result; 1 is equal, right of it is faster. Line: its ' +
      'interval. Filled: faster or slower; hollow: tied, or not resolved.' +
      (new Set(dots.map(({ row }) => row.benchmarks[0].side)).size > 1
        ? ' The number after a name identifies the result.'
        : '') +
      (dots.some(({ row }) => row.benchmarks[0].reference === null) ? ` ${ADVICE}` : ''),
    axis: 'speed relative to the first',
  },
];

/**
 * @param {string} key
 * @param {string} name
 * @param {number} drop
 * @returns {Metric}
 */
function witnessMetric(key, name, drop) {
  const [first, ...rest] = name.split(' ');
  return {
    key,
    name: `${name} per operation`,
    unit: '×',
    better: 'less',
    drop,
    head: [first, rest.join(' ')],
    shows: ['interval'],
    optional: true,
    of({ witnesses = [], n }) {
      const own = witnesses.find((/** @type {{ name: string }} */ one) => one.name === key);
      if (own === undefined) return UNKNOWN;
      const { ratio, low, high } = own;
      return { value: ratio, low, high, n, spread: Math.sqrt(high / low) - 1 };
    },
  };
}

/** @param {ComparedBenchmark} benchmark */
function verdictText({ verdict, roundsNeeded, low, high, margin, reference }) {
  if (reference === null) return 'no verdict';
  if (verdict === 'same') return 'tied';
  if (verdict !== 'undecided') return verdict;
  if (low === null || high === null) return 'not resolved: one round';
  const below = formatShare(Math.max(1 / low, high, 1 + margin) - 1);
  return roundsNeeded === null
    ? `not resolved below ${below}`
    : `not resolved below ${below}: --rounds ${roundsNeeded}`;
}

/**
 * Note if CPU time per operation differs significantly and throughput does not.
 * @param {Comparison['others']} others
 * @returns {string[]}
 */
function witnessNotes(others) {
  return others.flatMap(({ benchmarks }, i) =>
    benchmarks.flatMap(({ benchmark, verdict, witnesses = [] }) => {
      if (verdict !== 'undecided' && verdict !== 'same') return [];
      const metrics = WITNESSES.flatMap(([key, name]) => {
        const own = witnesses.find((one) => one.name === key);
        if (own === undefined || own.verdict === 'undecided' || key === 'latency') return [];
        return [`${own.verdict} ${name} per operation (${formatRatio(own.ratio)})`];
      });
      if (metrics.length === 0) return [];
      return [
        plainText(`${nameOf(i)}, ${benchmark}: no difference in time, but ${metrics.join(', ')}`),
      ];
    }),
  );
}

/** @param {Comparison} comparison */
function judgement({ failIfSlower, regressions, others }) {
  const benchmarks = others.flatMap((other) => other.benchmarks);
  const words = { faster: 'faster', slower: 'slower', same: 'tied', undecided: 'not resolved' };
  const counts = Object.entries(words)
    .map(([verdict, word]) => {
      const own = benchmarks.filter((benchmark) => benchmark.verdict === verdict);
      return `${own.length} ${word}`;
    })
    .join(', ');
  if (failIfSlower === null) return `${benchmarks.length} comparisons: ${counts}`;
  const limit = `slower by more than ${formatShare(failIfSlower)}: ${regressions}`;
  return `${benchmarks.length} comparisons: ${counts}; ${limit}`;
}

/**
 * @param {Comparison['others']} others
 * @returns {string[]}
 */
function adviceOf(others) {
  const without = others.some(({ benchmarks }) =>
    benchmarks.some(({ reference }) => reference === null),
  );
  return without ? [ADVICE] : [];
}

/**
 * @param {Comparison['others']} others
 * @returns {import('../lib/report-types.js').List}
 */
function leftList(others) {
  return {
    kind: 'skipped',
    title: 'Not compared',
    items: others.flatMap(({ left }, i) =>
      left.map(({ benchmark, reason }) => ({
        subject: plainText(`${nameOf(i)}, ${benchmark}`),
        text: plainText(reason),
        untrusted: true,
        hint: null,
      })),
    ),
  };
}

const LEGEND = [
  'speed: the other over the first, above 1 is faster; operations per second, and the 99th ' +
    'percentile if the rate was fixed. faster and slower: the interval excludes 1, p after Holm ' +
    'is at most 0.05, and the difference exceeds 1 %. tied: the interval lies within 5 % of 1. not ' +
    'resolved: neither; so many rounds would decide, all else equal. ± at the level after Holm. ' +
    'Both runs are divided by a reference that each measured in the same blocks: the ceiling of the ' +
    'server, or the harness overhead; its own change between the runs must be exceeded too.',
];
