/**
 * The command list as tables: a summary of the ways to Redis, the tests on each way with ratios,
 * what kept connections are worth, redis-benchmark on the same, and where the time goes.
 */

import {
  formatDuration,
  formatInterval,
  formatMicroseconds,
  formatRatio,
  formatThroughput,
  NONE,
  plainText,
} from '../lib/format.js';
import { pairedRatio, summarizeWays, toCommandGroups, WAYS } from './analysis/commands.js';
import { NEUTRAL_ROW } from './legacy-row.js';

/** @typedef {import('./analysis/commands.js').CommandGroup} CommandGroup */
/** @typedef {import('./analysis/commands.js').Figure} Figure */
/** @typedef {import('./analysis/commands.js').TestFigures} TestFigures */
/** @typedef {import('./analysis/commands.js').Summary} Summary */
/** @typedef {import('../lib/result.js').Result} Result */
/** @typedef {import('./legacy-row.js').Column} Column */
/** @typedef {import('./legacy-row.js').Table} Table */

const TRANSPORTS = Object.freeze({ tcp: 'TCP', unix: 'unix' });

/** NamespaceNames in WAYS. */
const [DIRECT_TCP, PROXIED_TCP, DIRECT_UNIX, PROXIED_UNIX] = [0, 1, 2, 3];

/** @param {number} way */
export function wayName(way) {
  const [whose, over] = WAYS[way];
  return `${whose} ${TRANSPORTS[over]}`;
}

/** @param {boolean} keepAlive */
export function connectionsName(keepAlive) {
  return keepAlive ? 'connections kept' : 'a connection for each request';
}

/**
 * @template T
 * @param {string} name
 * @param {[string, string]} head
 * @param {number} drop
 * @param {(line: T) => string} text
 * @param {'left' | 'right'} [align]
 * @returns {Column}
 */
function column(name, head, drop, text, align = 'right') {
  return { name, head, align, drop, text: (/** @type {any} */ row) => text(row.line) };
}

/**
 * @param {string} title
 * @param {Column[]} columns
 * @param {unknown[]} lines
 * @returns {Table}
 */
function table(title, columns, lines) {
  const rows = lines.map((line) => ({ ...NEUTRAL_ROW, throughput: {}, line }));
  return { title: plainText(title), columns, rows: /** @type {any} */ (rows) };
}

/**
 * @param {Result} result
 * @returns {Table[]} none where the result has no commands
 */
export function commandTables(result) {
  const groups = toCommandGroups(result).filter(({ tests }) =>
    tests.some(({ figures }) => figures.some((figure) => figure?.benchmark.rounds.length)),
  );
  const labels = [...new Set(groups.map(({ label }) => label))];
  return labels.flatMap((label) => {
    const own = groups.filter((group) => group.label === label);
    return [
      ...summaryTable(label, own),
      ...own.map(waysTable),
      ...keepAliveTable(label, own),
      ...own.flatMap(baselineTable),
    ];
  });
}

const cpu = (/** @type {number | null} */ ns) => formatMicroseconds(ns);

/**
 * @param {string} label
 * @param {CommandGroup[]} groups
 * @returns {Table[]}
 */
function summaryTable(label, groups) {
  /** @type {Summary[]} */
  const lines = groups.flatMap(summarizeWays);
  if (lines.length === 0) return [];
  const yard = (/** @type {Summary} */ line) => line.baselinePerSecond;
  const columns = [
    column(
      'connections',
      ['', 'connections'],
      0,
      (/** @type {Summary} */ line) => (line.keepAlive ? 'kept' : 'one each'),
      'left',
    ),
    column('way', ['', 'way'], 0, (/** @type {Summary} */ line) => wayName(line.way), 'left'),
    column('tests', ['', 'tests'], 6, (/** @type {Summary} */ line) => String(line.tests)),
    column('ops/s', ['', 'ops/s'], 0, (/** @type {Summary} */ line) =>
      formatThroughput(line.perSecond),
    ),
    column('of the first way', ['of first', 'way'], 0, (/** @type {Summary} */ line) =>
      formatRatio(line.ratio),
    ),
    column('p50', ['', 'p50'], 2, (/** @type {Summary} */ line) => formatDuration(line.p50Ns)),
    column('connect', ['connect', 'p50'], 4, (/** @type {Summary} */ line) =>
      formatDuration(line.connectNs),
    ),
    column('command', ['command', 'p50'], 4, (/** @type {Summary} */ line) =>
      formatDuration(line.commandNs),
    ),
    column('client CPU', ['CPU µs', 'client'], 3, (/** @type {Summary} */ line) =>
      cpu(line.clientCpuNs),
    ),
    column('proxy CPU', ['CPU µs', 'proxy'], 3, (/** @type {Summary} */ line) =>
      cpu(line.proxyCpuNs),
    ),
    column('Redis CPU', ['CPU µs', 'Redis'], 3, (/** @type {Summary} */ line) =>
      cpu(line.serverCpuNs),
    ),
    column('redis-benchmark', ['redis-', 'benchmark'], 1, (/** @type {Summary} */ line) =>
      formatThroughput(yard(line)),
    ),
    column('its ratio', ['', 'its ratio'], 1, (/** @type {Summary} */ line) => {
      const { perSecond } = line;
      const other = yard(line);
      return formatRatio(other === null || perSecond === null ? null : other / perSecond);
    }),
  ];
  const title = `${label}: the ways to Redis, means over the tests that all ways answer`;
  return [table(title, columns, lines)];
}

/**
 * @param {Figure | null} figure
 * @returns {string} its throughput, or why it has none
 */
function rateText(figure) {
  if (figure === null) return NONE;
  if (figure.state === 'measured') return formatThroughput(figure.perSecond);
  return figure.state === 'planned' ? NONE : figure.state;
}

/**
 * @param {import('../stats/ratio.js').RatioInterval | null} found
 * @returns {string} `0.87× ± 4 %`
 */
function ratioText(found) {
  if (found?.ratio == null) return NONE;
  const { ratio, low, high } = found;
  // The interval is one of logs: half its width, as a factor.
  const share = low === null || high === null || low <= 0 ? null : Math.sqrt(high / low) - 1;
  return `${formatRatio(ratio)} ${formatInterval(share)}`.trim();
}

const testColumn = column(
  'test',
  ['', 'test'],
  0,
  (/** @type {TestFigures} */ { test }) => plainText(test),
  'left',
);

/**
 * @param {string} name
 * @param {[string, string]} head
 * @param {number} drop
 * @param {number} a place in WAYS
 * @param {number} b
 */
function ratioColumn(name, head, drop, a, b) {
  return column(name, head, drop, (/** @type {TestFigures} */ { figures }) =>
    ratioText(pairedRatio(figures[a]?.rounds, figures[b]?.rounds)),
  );
}

/** @param {CommandGroup} group */
function shownWays({ tests }) {
  return WAYS.map((_, way) => way).filter((way) => tests.some(({ figures }) => figures[way]));
}

/**
 * @param {CommandGroup} group
 * @returns {Table}
 */
function waysTable(group) {
  const ways = shownWays(group);
  const has = (/** @type {number[]} */ ...wanted) => wanted.every((way) => ways.includes(way));
  const columns = [
    testColumn,
    ...ways.map((way) =>
      column(
        wayName(way),
        /** @type {[string, string]} */ (wayName(way).split(' ')),
        0,
        (/** @type {TestFigures} */ { figures }) => rateText(figures[way]),
      ),
    ),
    ...(has(DIRECT_TCP, PROXIED_TCP)
      ? [ratioColumn('proxied / direct, TCP', ['proxied', '/ direct, TCP'], 1, 1, 0)]
      : []),
    ...(has(DIRECT_UNIX, PROXIED_UNIX)
      ? [ratioColumn('proxied / direct, unix', ['proxied', '/ direct, unix'], 2, 3, 2)]
      : []),
    ...(has(DIRECT_TCP, DIRECT_UNIX)
      ? [ratioColumn('unix / TCP, direct', ['unix / TCP', 'direct'], 3, 2, 0)]
      : []),
    ...(has(PROXIED_TCP, PROXIED_UNIX)
      ? [ratioColumn('unix / TCP, proxied', ['unix / TCP', 'proxied'], 4, 3, 1)]
      : []),
  ];
  const title = `${group.label}, ${connectionsName(group.keepAlive)}: ops/s`;
  return table(title, columns, group.tests);
}

/**
 * @param {string} label
 * @param {CommandGroup[]} groups
 * @returns {Table[]} none where one of the two was not measured
 */
function keepAliveTable(label, groups) {
  const kept = groups.find(({ keepAlive }) => keepAlive);
  const own = groups.find(({ keepAlive }) => !keepAlive);
  if (kept === undefined || own === undefined) return [];
  const lines = kept.tests.map(({ test, figures }) => ({
    test,
    kept: figures,
    own: own.tests.find((one) => one.test === test)?.figures ?? [],
  }));
  const columns = [
    testColumn,
    ...shownWays(kept).map((way) =>
      column(
        wayName(way),
        /** @type {[string, string]} */ (wayName(way).split(' ')),
        0,
        (/** @type {(typeof lines)[number]} */ line) =>
          ratioText(pairedRatio(line.kept[way]?.rounds, line.own[way]?.rounds)),
      ),
    ),
  ];
  return [table(`${label}: how many times as fast connections that are kept are`, columns, lines)];
}

/**
 * @param {Figure | null} figure
 * @returns {string}
 */
function baselineText(figure) {
  if (figure === null || figure.state === 'skipped') return NONE;
  if (figure.baselinePerSecond !== null) return formatThroughput(figure.baselinePerSecond);
  if (figure.baselineFailure === null) return NONE;
  return figure.state === 'refused' ? 'refused' : 'failed';
}

/**
 * @param {CommandGroup} group
 * @returns {Table[]} none where redis-benchmark did not run
 */
function baselineTable(group) {
  const ways = shownWays(group);
  const ran = group.tests.some(({ figures }) => figures.some((one) => one?.baselinePerSecond));
  if (!ran) return [];
  const columns = [
    testColumn,
    ...ways.map((way) =>
      column(
        wayName(way),
        /** @type {[string, string]} */ (wayName(way).split(' ')),
        0,
        (/** @type {TestFigures} */ { figures }) => baselineText(figures[way]),
      ),
    ),
    ...ways.map((way) =>
      column(
        `of ${group.label}, ${wayName(way)}`,
        ['its ratio', wayName(way)],
        1 + way,
        (/** @type {TestFigures} */ { figures }) =>
          ratioText(pairedRatio(figures[way]?.baseline, figures[way]?.rounds)),
      ),
    ),
  ];
  const title =
    `redis-benchmark, ${connectionsName(group.keepAlive)}: requests/s, and how many times as many ` +
    `as ${group.label}`;
  return [table(title, columns, group.tests)];
}
