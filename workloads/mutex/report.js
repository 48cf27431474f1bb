/**
 * Report of mutex: Test 1 and Test 2 with times, waits and fairness; crash recovery; stress.
 */

import { NONE } from '../../lib/format.js';
import { figureOf, medianOf, metric, UNKNOWN } from '../../stats/metrics.js';
import { curveSummary } from '../operations-plots.js';
import { ratioMetric } from '../paired-ratio.js';
import { lockRow, waitsOf } from './analysis.js';
import { titleOfCount, titleOfLock } from './legacy.js';

/** @typedef {import('../../lib/report-types.js').Metric} Metric */
/** @typedef {import('../../lib/report-types.js').TableRow} TableRow */
/** @typedef {import('../../stats/metrics.js').Shown} Shown */
/** @typedef {import('./analysis.js').LockRow} LockRow */

/**
 * @param {Shown} shown
 * @param {(row: LockRow) => number | null | undefined} of median of the rounds, or total
 * @returns {Metric}
 */
function figure(shown, of) {
  return {
    ...metric({ better: 'less', ...shown }, () => null),
    of: ({ lock }) => figureOf(of(lock), lock.n),
  };
}

/** @type {Metric} */
const violations = {
  key: 'violations',
  name: 'violations',
  unit: 'count',
  better: 'less',
  drop: 0,
  head: ['viola-', 'tions'],
  of: ({ lock }) => (lock.n === 0 ? UNKNOWN : figureOf(lock.violations, lock.n)),
};

const sections = figure(
  { key: 'sections', name: 'sections', unit: 'count', better: 'more' },
  (row) => row.sections,
);

const sectionsPerSecond = figure(
  {
    key: 'rate',
    name: 'sections/s',
    unit: 'sections/s',
    better: 'more',
    head: ['sections', '/ s'],
    drop: 3,
  },
  ({ sections: count, realNs }) =>
    count === null || realNs === null || realNs === 0 ? null : (count / realNs) * 1e9,
);

/**
 * @param {string} key
 * @param {string} name
 * @param {number} drop
 * @param {(row: LockRow) => number | null} of
 * @param {Partial<Shown>} [more]
 */
function time(key, name, drop, of, more = {}) {
  return figure({ key, name, unit: 'ns', drop, ...more }, of);
}

/** @param {any} benchmark @returns {(number | null)[]} sections per second, by round */
const ratesOf = ({ source }) =>
  source.rounds.map((/** @type {any} */ { metrics, durationNs }) =>
    metrics?.sections > 0 && durationNs > 0 ? metrics.sections / durationNs : null,
  );

/**
 * @param {{ key: string, name: string, drop: number }} shown
 * @param {(benchmark: any, table: readonly any[]) => any} baseOf its baseline
 * @returns {Metric} ratio of sections per second, paired by round; null for the baseline itself
 */
function ratioTo(shown, baseOf) {
  return ratioMetric({ ...shown, optional: true }, (benchmark, { table }) => {
    const base = baseOf(benchmark, table);
    const isOwn = base === undefined || base.source === benchmark.source;
    return [ratesOf(benchmark), isOwn ? undefined : ratesOf(base)];
  });
}

const ran = (/** @type {any} */ { lock }) => lock.n > 0;
const RATIOS = [
  ratioTo({ key: 'to_first', name: 'to the\nfirst lock', drop: 4 }, ({ lock: { keys } }, table) =>
    table.filter(ran).find((one) => one.lock.keys === keys),
  ),
  ratioTo(
    { key: 'to_fewest', name: 'to its\nfewest keys', drop: 4 },
    ({ lock: { label } }, table) => {
      const own = table.filter((one) => ran(one) && one.lock.label === label);
      return own.sort((a, b) => a.lock.keys - b.lock.keys)[0];
    },
  ),
];

const LOCK = { key: 'lock', name: 'lock', of: (/** @type {any} */ { lock }) => lock.label };
const KEYS = {
  key: 'keys',
  name: 'keys',
  align: /** @type {const} */ ('right'),
  of: (/** @type {any} */ { lock: { keys } }) => `${keys}/${2 * keys - 1}`,
};
const ID = { key: 'id', name: 'id', hidden: true };

const SECTIONS = [
  sections,
  sectionsPerSecond,
  ...RATIOS,
  time('user', 'user', 5, (row) => row.userNs),
  time('system', 'system', 5, (row) => row.systemNs),
  time('real', 'real', 1, (row) => row.realNs),
  time('wait_p50', 'wait\np50', 2, (row) => row.waitP50Ns),
  time('wait_p99', 'wait\np99', 2, (row) => row.waitP99Ns),
  time('wait_max', 'wait\nmax', 4, (row) => row.waitMaxNs),
  figure(
    {
      key: 'fairness',
      name: 'fairness',
      unit: '',
      better: 'more',
      digits: 3,
      head: ['fair-', 'ness'],
      drop: 3,
    },
    (row) => row.fairness,
  ),
  violations,
];

const KILLED = [
  figure(
    { key: 'kills', name: 'kills', unit: 'count', better: null, drop: 2 },
    (row) => row.firstWaitNs.length,
  ),
  time('lock_left', 'remaining\nTTL', 1, (row) => medianOf(row.expiryLeftNs)),
  time('first_wait', 'first\nwait', 0, (row) => medianOf(row.firstWaitNs)),
  // From the end of the killed holder's TTL to the first new holder; a lock bound to a connection
  // is free earlier.
  time(
    ...['beyond', 'after\nTTL', 0],
    ({ firstWaitNs, expiryLeftNs }) => medianOf(firstWaitNs.map((ns, i) => ns - expiryLeftNs[i])),
    { signed: true },
  ),
  time('last_wait', 'last\nwait', 0, (row) => medianOf(row.lastWaitNs)),
];

const STRESS = [
  figure(
    {
      key: 'processes',
      name: 'processes',
      unit: 'count',
      better: null,
      head: ['pro-', 'cesses'],
      drop: 1,
    },
    ({ source }) => source.load.operations,
  ),
  figure(
    { key: 'killed', name: 'killed', unit: 'count', better: null, drop: 2 },
    (row) => row.kills,
  ),
  sections,
  time('real', 'real', 3, (row) => row.realNs),
  violations,
  figure(
    { key: 'timeouts', name: 'timeouts', unit: 'count', head: ['time-', 'outs'] },
    (row) => row.timeouts,
  ),
  figure(
    { key: 'overruns', name: 'expired\nwhile held', unit: 'count', drop: 3 },
    (row) => row.overruns,
  ),
];

/**
 * @param {string} test
 * @param {Metric[]} metrics
 * @param {(row: LockRow) => string} title title of the first row
 * @param {import('../../lib/report-types.js').KeyColumn} [keys]
 * @returns {import('../../lib/report-types.js').TableSpec}
 */
function table(test, metrics, title, keys = KEYS) {
  return {
    where: ({ source }) => source.parameters.test === test,
    expand: (benchmark) => {
      const lock = lockRow(benchmark.source);
      return [{ ...benchmark, lock, mark: null, throughput: {} }];
    },
    row: [LOCK, keys, ID],
    metrics,
    title: ([{ lock }]) => `mutex ${title(lock)}`,
    order: byLock,
  };
}

/**
 * @param {TableRow[]} rows
 * @returns {TableRow[]} by kind of lock, in order of first occurrence
 */
function byLock(rows) {
  const kinds = [...new Set(rows.map(({ keys }) => keys['lock']))];
  return kinds.flatMap((kind) => rows.filter(({ keys }) => keys['lock'] === kind));
}

const NO_KEYS = { key: 'keys', name: 'keys', hidden: true };
const KEY_COUNT = {
  key: 'keys',
  name: 'keys',
  align: /** @type {const} */ ('right'),
  drop: 1,
  of: (/** @type {any} */ { lock }) => lock.keys,
};

/**
 * @param {any[]} curves
 * @param {(value: number) => string} format
 */
function rateSummary(curves, format) {
  return curves.map(({ plain, points: [{ x, y }] }) => `${plain}: ${format(y)} (${x})`).join('; ');
}

/** @type {import('../../lib/report-types.js').ReportSpec} */
export const report = {
  row: null,
  tables: [
    table('lock', SECTIONS, (row) => `Test 1, ${titleOfLock(row)}`),
    table('count', SECTIONS, (row) => `Test 2, ${titleOfCount(row)}`),
    table(
      'killed',
      KILLED,
      ({ source }) => {
        const { tasks = 10, expireMs = NONE } = source.parameters ?? {};
        const waiting = `the holder is killed while ${tasks} tasks wait`;
        return `crash recovery: ${waiting}; locks expire after ${expireMs} ms`;
      },
      NO_KEYS,
    ),
    table('stress', STRESS, () => 'stress, processes', KEY_COUNT),
  ],
  contender: ({ lock }) => lock.label,
  plots: [
    ...[
      { test: 'lock', name: 'Test 1, lock and unlock' },
      { test: 'count', name: 'Test 2, a counted section' },
    ].map(({ test, name }) => ({
      kind: 'lines',
      id: () => `mutex-${test}`,
      title: () => `Mutex, ${name}: sections per second by keys`,
      has: (/** @type {TableRow} */ { benchmarks: [{ keys }] }) => keys.test === test,
      metric: 'rate',
      head: 'lock',
      thing: 'key',
      x: (/** @type {TableRow} */ { benchmarks: [{ lock }] }) => lock.keys,
      summary: rateSummary,
      xName: 'names locked at once',
      xText: (/** @type {number} */ n) => `${n}/${2 * n - 1}`,
      yName: 'sections / s',
      note: 'Critical sections per second; each locks n names out of 2n - 1. Higher is better.',
    })),
    ...[
      { test: 'lock', name: 'Test 1' },
      { test: 'count', name: 'Test 2' },
    ].map(({ test, name }) => ({
      kind: 'lines',
      id: () => `mutex-${test}-waits`,
      title: () => `Mutex, ${name}: waits for a lock`,
      has: (/** @type {TableRow} */ { benchmarks: [{ keys }] }) => keys.test === test,
      ends: (/** @type {TableRow} */ { benchmarks: [{ lock }] }) => lock.keys,
      xText: (/** @type {number} */ n) => `${n}/${2 * n - 1} ${n === 1 ? 'key' : 'keys'}`,
      histogram: (/** @type {any} */ { source }) => waitsOf(source),
      summary: (/** @type {any[]} */ curves) => curveSummary(curves, 'Wait for a lock'),
      head: 'lock',
      names: { value: 'wait', of: 'the locks' },
      note:
        'From calling lock to holding it. Left: the shorter half; right: the longest, one in a ' +
        'hundred, one in a thousand. Lower is better. All rounds together, drawn while at least ' +
        'ten waits lie above.',
    })),
  ],
  legend: [
    'mutex: keys n/m: each section locks n distinct names out of m; any two sets share one. user, ' +
      'system: CPU time of the client; real: until the last section ends. wait: from calling lock ' +
      'to holding it. fairness: Jain’s index of the sections per task, 1 where all have the same, ' +
      '1/tasks where one has all. violations: times two tasks were inside together. Medians over ' +
      'rounds; wait max and violations over all rounds. Ratios: sections per second, geometric mean ' +
      'of pairs of one round, from two rounds on with the 95 % interval.',
    'crash recovery: remaining TTL: of the lock when its holder was killed; first wait: from the ' +
      'kill until another task held the lock; after TTL: first wait minus remaining TTL, negative ' +
      'where the server freed the lock with the connection; last wait: until every waiting task ' +
      'had held it. expired while held: sections longer than 0.8 of the TTL.',
  ],
};
