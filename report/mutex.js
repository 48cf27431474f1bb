/**
 * Locks as tables: Test 1 and Test 2 with times, waits and fairness, a holder that was killed,
 * stress.
 */

import { formatCount, formatDuration, formatThroughput, NONE, plainText } from '../lib/format.js';
import { byLabel, medianOfList, toLockRows } from '../workloads/mutex/analysis.js';
import { titleOfCount, titleOfLock } from '../workloads/mutex/legacy.js';
import { NEUTRAL_ROW } from './legacy-row.js';

/** @typedef {import('../lib/result.js').Result} Result */
/** @typedef {import('../workloads/mutex/analysis.js').LockRow} LockRow */
/** @typedef {import('./legacy-row.js').Column} Column */
/** @typedef {import('./legacy-row.js').Table} Table */

/**
 * @param {string} name
 * @param {[string, string]} head
 * @param {number} drop
 * @param {(row: LockRow) => string} text
 * @param {'left' | 'right'} [align]
 * @returns {Column}
 */
function column(name, head, drop, text, align = 'right') {
  return { name, head, align, drop, text: (/** @type {any} */ row) => text(row.lock) };
}

const LABEL = column('lock', ['', 'lock'], 0, ({ label }) => plainText(label), 'left');
const KEYS = column('keys', ['', 'keys'], 0, ({ keys }) => keysText(keys));
const VIOLATIONS = column('violations', ['viola-', 'tions'], 0, ({ n, violations }) =>
  n === 0 ? NONE : formatCount(violations),
);

/** @type {readonly Column[]} */
const SECTION_COLUMNS = [
  LABEL,
  KEYS,
  column('sections', ['', 'sections'], 0, ({ sections }) => countText(sections)),
  column('sections/s', ['sections', '/ s'], 3, (row) => formatThroughput(perSecond(row))),
  column('user', ['', 'user'], 5, ({ userNs }) => formatDuration(userNs)),
  column('system', ['', 'system'], 5, ({ systemNs }) => formatDuration(systemNs)),
  column('real', ['', 'real'], 1, ({ realNs }) => formatDuration(realNs)),
  column('wait p50', ['wait', 'p50'], 2, ({ waitP50Ns }) => formatDuration(waitP50Ns)),
  column('wait p99', ['wait', 'p99'], 2, ({ waitP99Ns }) => formatDuration(waitP99Ns)),
  column('wait max', ['wait', 'max'], 4, ({ waitMaxNs }) => formatDuration(waitMaxNs)),
  column('fairness', ['fair-', 'ness'], 3, ({ fairness }) => fairness?.toFixed(3) ?? NONE),
  VIOLATIONS,
];

/** @type {readonly Column[]} */
const KILLED_COLUMNS = [
  LABEL,
  column('kills', ['', 'kills'], 2, ({ firstWaitNs }) => formatCount(firstWaitNs.length)),
  column('lock left', ['lock', 'left'], 1, (row) => medianText(row.expiryLeftNs)),
  column('first wait', ['first', 'wait'], 0, (row) => medianText(row.firstWaitNs)),
  column('beyond', ['beyond', 'its end'], 0, (row) => beyondText(row)),
  column('last wait', ['last', 'wait'], 0, (row) => medianText(row.lastWaitNs)),
];

/** @type {readonly Column[]} */
const STRESS_COLUMNS = [
  LABEL,
  column('keys', ['', 'keys'], 1, ({ keys }) => formatCount(keys)),
  column('processes', ['pro-', 'cesses'], 1, ({ cell }) => countText(cell.load.operations)),
  column('killed', ['', 'killed'], 2, ({ kills }) => formatCount(kills)),
  column('sections', ['', 'sections'], 0, ({ sections }) => countText(sections)),
  column('real', ['', 'real'], 3, ({ realNs }) => formatDuration(realNs)),
  VIOLATIONS,
  column('timeouts', ['time-', 'outs'], 0, ({ timeouts }) => formatCount(timeouts)),
  column('outlived', ['out-', 'lived'], 3, ({ overruns }) => formatCount(overruns)),
];

/**
 * @param {Result} result
 * @returns {Table[]} none where no lock was measured
 */
export function mutexTables(result) {
  const able = toLockRows(result).filter(({ notOffered }) => notOffered === null);
  const rows = byLabel(able).flatMap((one) => one.rows);
  const of = (/** @type {string} */ test) => rows.filter((row) => row.test === test);
  return [
    table(of('lock'), SECTION_COLUMNS, (row) => `Test 1, ${titleOfLock(row)}`),
    table(of('count'), SECTION_COLUMNS, (row) => `Test 2, ${titleOfCount(row)}`),
    table(of('killed'), KILLED_COLUMNS, ({ cell }) => {
      const { tasks = 10, expireMs } = cell.parameters ?? {};
      return `a holder is killed while ${tasks} wait; locks end after ${expireMs} ms`;
    }),
    table(of('stress'), STRESS_COLUMNS, () => 'stress, processes'),
  ].flatMap((one) => one ?? []);
}

/**
 * @param {LockRow[]} rows
 * @param {readonly Column[]} columns
 * @param {(row: LockRow) => string} title of the first row
 * @returns {Table | null}
 */
function table(rows, columns, title) {
  if (rows.length === 0) return null;
  return {
    title: `mutex ${title(rows[0])}`,
    columns: [...columns],
    rows: rows.map((lock) => /** @type {any} */ ({ ...NEUTRAL_ROW, lock })),
  };
}

/** @param {number} keys */
function keysText(keys) {
  return `${keys}/${2 * keys - 1}`;
}

/** @param {LockRow} row */
function perSecond({ sections, realNs }) {
  return sections === null || realNs === null || realNs === 0 ? null : (sections / realNs) * 1e9;
}

/** @param {number | null} count */
function countText(count) {
  return count === null ? NONE : formatCount(count);
}

/** @param {number[]} values */
function medianText(values) {
  return formatDuration(medianOfList(values));
}

/**
 * How long after the end of the dead holder's lock the first one got it; a lock that belongs to a
 * connection is free before that.
 * @param {LockRow} row
 */
function beyondText({ firstWaitNs, expiryLeftNs }) {
  const beyond = medianOfList(firstWaitNs.map((ns, i) => ns - expiryLeftNs[i]));
  if (beyond === null) return NONE;
  return `${beyond < 0 ? '-' : '+'}${formatDuration(Math.abs(beyond))}`;
}

/**
 * @param {Result} result
 * @returns {string[]} what the figures mean
 */
export function mutexLegend(result) {
  if (toLockRows(result).length === 0) return [];
  return [
    'mutex: keys n/m: each section locks n distinct names out of m, any two sets have one in ' +
      'common. user, system: CPU time of the client; real: until the last section is over. wait: ' +
      'from the call of lock until it is locked. fairness: Jain’s index of the sections of each ' +
      'task, 1 where all had the same, 1/tasks where one had all. violations: somebody else was ' +
      'inside. Medians over rounds; wait max and violations of all rounds.',
    'a holder is killed: lock left: of its time, when it died; first wait: from its death until ' +
      'another had the lock; beyond its end: that against the lock’s own time, negative where the ' +
      'server freed it with the connection; last wait: until all who waited had had it.',
  ];
}
