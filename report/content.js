/**
 * What a report for people says, without its form: head lines, tables of texts, lists. The console
 * and the markdown report show the same because both take it from here; not for CSV.
 *
 * Foreign words (of servers, drivers, files) are one printable line each from here on.
 */

import { isUnsteady } from '../engine/doubts.js';
import { formatCount, formatDuration, formatElapsed, plainText } from '../lib/format.js';
import { OUTCOMES } from '../lib/outcome.js';
import { isRefusedByProxy } from './analysis/commands.js';
import { labelOf, toGroups, variantRows } from './analysis/rows.js';
import { codecLegend, codecTables } from './codec.js';
import { columnsFor, roundsOf } from './columns.js';
import { commandLegend, commandNotes, refusedList } from './command-notes.js';
import { commandTables } from './commands.js';
import { headLines } from './head.js';
import { insertLegend, insertTables } from './insert.js';
import { limitLegend, limitTables, missingLimits } from './limits.js';
import { loadName } from './load-name.js';
import { mgetLegend, mgetTables } from './mget.js';
import { mutexLegend, mutexTables } from './mutex.js';
import { noteLines } from './notes.js';

export { loadName } from './load-name.js';

import { offeredText, rateLegend, searchTables } from './rates.js';

/** @typedef {import('../lib/result.js').Result} Result */
/** @typedef {import('./analysis/rows.js').Row} Row */
/** @typedef {import('./analysis/rows.js').Group} Group */

/** Samples of wrong answers that a report shows; the result has up to ten of each round. */
const SAMPLES_MAX = 10;

/**
 * @typedef {object} Item one entry of a list
 * @property {string} subject which storage, where
 * @property {string} text
 * @property {boolean} foreign whether the text may hold words of a server, a driver or a file
 * @property {string | null} remedy
 */

/**
 * @typedef {object} List
 * @property {'failed' | 'wrong' | 'skipped' | 'warnings'} kind
 * @property {string} title
 * @property {Item[]} items
 */

/**
 * @typedef {object} Table
 * @property {string} title
 * @property {import('./columns.js').Column[]} columns
 * @property {Row[]} rows
 */

/**
 * @typedef {object} Content
 * @property {string} title
 * @property {[string, string][]} head name and text: what, when, where
 * @property {Table[]} tables
 * @property {Group[]} [groups] that tables are of: the one has the rows of the other
 * @property {string} floor
 * @property {string[]} notes what the rows say together: noise, A against B, more processes
 * @property {List[]} lists those that have items
 * @property {string[]} legend
 */

/**
 * @param {Result} result
 * @returns {Content}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE where the result is damaged
 */
export function toContent(result) {
  const groups = toGroups(result);
  const rows = [...groups.flatMap((group) => group.rows), ...variantRows(result)];
  return {
    title: `Dragstrip ${plainText(result.dragstrip)}: ${plainText(result.command)}`,
    head: headLines(result),
    tables: [
      ...searchTables(result),
      ...groups.map((group) => ({
        title: groupTitle(group),
        columns: columnsFor(group, result.state),
        rows: group.rows,
      })),
      ...mgetTables(result),
      ...mutexTables(result),
      ...insertTables(result),
      ...codecTables(result),
      ...commandTables(result),
      ...limitTables(result),
    ],
    groups,
    floor: result.command === 'limit' ? '' : floorLine(result.floor),
    notes: [...noteLines(result, groups), ...commandNotes(result)],
    lists: [
      failedList(rows),
      wrongList(rows),
      refusedList(result),
      skippedList(result),
      warningList(result),
    ].filter(({ items }) => items.length > 0),
    legend: [
      ...(groups.length === 0 ? [] : legendLines(groups)),
      ...mgetLegend(result),
      ...mutexLegend(result),
      ...insertLegend(result),
      ...codecLegend(result),
      ...commandLegend(result),
      ...limitLegend(result),
    ],
  };
}

/** @param {Group} group */
function groupTitle(group) {
  const { workload, load } = group;
  const { kind, inFlight, operations, durationNs, processes = 1 } = load;
  const each = kind === 'sync' && processes > 1 ? ' in each' : '';
  const amount =
    operations !== null
      ? `${formatCount(operations)} operations`
      : durationNs !== null
        ? formatElapsed(durationNs / 1e6)
        : 'as long as it takes';
  const rounds = roundsOf(group);
  const offered =
    kind === 'burst'
      ? `all ${formatCount(operations)} at once`
      : kind === 'rate'
        ? offeredText(group.rows)
        : `${formatCount(inFlight ?? 1)} in flight${each}, ${amount}`;
  const name = kind === 'rate' ? 'open loop' : loadName(load);
  return `${plainText(workload)}, ${name}: ${offered}, ${formatCount(rounds)} ${
    rounds === 1 ? 'round' : 'rounds'
  }`;
}

/** @param {Result['floor']} floor */
function floorLine(floor) {
  if (floor.length === 0) return 'floor: not measured in this run';
  const parts = floor.map(({ load, nsPerOperation, n }, i) => {
    const value = `${formatDuration(nsPerOperation)}${i === 0 ? ' per operation' : ''}`;
    return `${value} (${load}, n ${n})`;
  });
  return `floor: memory storage ${parts.join(', ')}`;
}

/**
 * @param {Row} row
 * @returns {string} `ioredis:tuned, burst`
 */
function subjectOf({ label, cell }) {
  const { parameters } = cell;
  if (parameters === undefined) return plainText(`${label}, ${loadName(cell.load)}`);
  return plainText([label, cell.workload, ...Object.values(parameters)].join(', '));
}

/**
 * @param {Row[]} rows
 * @returns {List}
 */
function failedList(rows) {
  /** @type {Item[]} */
  const items = [];
  for (const row of rows) {
    const { cell } = row;
    let told = false;
    for (const { round, failure, state } of cell.rounds) {
      if (failure === null || state === 'measured') continue;
      told = true;
      items.push({
        subject: `${subjectOf(row)}, round ${round + 1}`,
        text: plainText(`${state}: ${failure.code}: ${failure.message}`),
        remedy: cell.remedy === null ? null : plainText(cell.remedy),
        foreign: true,
      });
    }
    if (!told && (cell.state === 'failed' || cell.state === 'aborted')) {
      const text = plainText(cell.reason ?? cell.state);
      const remedy = cell.remedy === null ? null : plainText(cell.remedy);
      items.push({ subject: subjectOf(row), text, remedy, foreign: true });
    }
  }
  return { kind: 'failed', title: 'Did not run to the end', items };
}

/**
 * @param {Row} row
 * @returns {string} `3 miss, 2 timeout`; empty where every operation was answered rightly
 */
export function outcomeText({ outcomes }) {
  return OUTCOMES.filter((name) => name !== 'ok' && outcomes[name] > 0)
    .map((name) => `${formatCount(outcomes[name])} ${name}`)
    .join(', ');
}

/**
 * @param {Row[]} rows
 * @returns {List}
 */
function wrongList(rows) {
  /** @type {Item[]} */
  const items = [];
  /** @type {Item[][]} */
  const samples = [];
  for (const row of rows) {
    const counts = outcomeText(row);
    if (counts === '' || isRefusedByProxy(row.cell)) continue;
    const text = `${counts} of ${formatCount(row.scheduled)}, not counted as operations`;
    items.push({ subject: subjectOf(row), text, remedy: null, foreign: false });
    samples.push(samplesOf(row));
  }
  const shown = interleave(samples).slice(0, SAMPLES_MAX);
  const left = samples.flat().length - shown.length;
  items.push(...shown);
  if (left > 0) {
    const text = `${formatCount(left)} more in the result`;
    items.push({ subject: 'samples', text, remedy: null, foreign: false });
  }
  return { kind: 'wrong', title: 'Wrong answers', items };
}

/**
 * @param {Row} row
 * @returns {Item[]}
 */
function samplesOf(row) {
  return row.cell.rounds.flatMap(({ round, samples }) =>
    samples.map(({ outcome, operation, code, message }) => ({
      subject: `${subjectOf(row)}, round ${round + 1}, operation ${operation}`,
      text: plainText([outcome, code, message].filter((word) => word).join(': ')),
      remedy: null,
      foreign: true,
    })),
  );
}

/**
 * @param {Item[][]} lists
 * @returns {Item[]} the first of each, then the second of each: so that none hides the others
 */
function interleave(lists) {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, i) =>
    lists.flatMap((list) => list.slice(i, i + 1)),
  ).flat();
}

/**
 * @param {Result} result
 * @returns {List} one item for each storage, not for each of its cells; and limits without figure
 */
function skippedList(result) {
  const { cells } = result;
  /** @type {Map<string, Item>} */
  const items = new Map();
  for (const cell of cells) {
    if (cell.state !== 'skipped') continue;
    const item = {
      subject: plainText(labelOf(cell)),
      text: plainText(cell.reason ?? 'no reason is recorded'),
      remedy: cell.remedy === null ? null : plainText(cell.remedy),
      foreign: true,
    };
    items.set(JSON.stringify(item), item);
  }
  return {
    kind: 'skipped',
    title: 'Skipped',
    items: [...items.values(), ...missingLimits(result)],
  };
}

/**
 * @param {Result} result
 * @returns {List}
 */
function warningList({ warnings, cells }) {
  const byId = new Map(cells.map((cell) => [cell.id, cell]));
  return {
    kind: 'warnings',
    title: 'Warnings',
    items: warnings.map(({ cell: id, message, remedy, code }) => {
      const cell = id === null ? undefined : byId.get(id);
      const subject = cell ? `${labelOf(cell)}, ${loadName(cell.load)}` : (id ?? code);
      return {
        subject: plainText(subject),
        text: plainText(message),
        remedy: remedy === null ? null : plainText(remedy),
        foreign: true,
      };
    }),
  };
}

/** @param {Group[]} groups */
function legendLines(groups) {
  const rows = groups.flatMap((group) => group.rows);
  const lines = [
    ...rateLegend(groups),
    'ops/s: right answers a second, median of the rounds ± the 95 % interval of their mean ' +
      '(n rounds). CPU: for each right answer. Latency: all rounds together; – where fewer than 10 ' +
      'values lie above, or where it is not known.',
    'limited by: driver, where the CPU time of the client is 90 % of the time or more; server, where ' +
      'that of its busiest thread or of all cores is; latency, where neither is.',
  ];
  if (rows.some(({ kind }) => kind === 'embedded')) {
    lines.push(
      'embedded: in this process, without server or wire; its ratio too is against the fastest ' +
        'that talks to a server, where one did.',
    );
  }
  if (rows.some(({ place }) => place !== null)) {
    lines.push('place: 2–4 is shared by those whose rounds do not tell them apart.');
  }
  if (rows.some(({ doubts }) => isUnsteady(doubts))) {
    lines.push('~ no steady state: the throughput had not come to rest when measuring began.');
  }
  if (rows.some(({ kind }) => kind === 'floor')) {
    lines.push('floor: nothing behind it; what the harness costs, and no rival to the others.');
  }
  return lines;
}
