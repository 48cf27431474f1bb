/**
 * What did not go well, as lists beside the tables: what failed, wrong answers, what was skipped,
 * warnings. Foreign words (of servers, drivers, files) are one printable line each from here on.
 */

import { formatCount, plainText } from '../lib/format.js';
import { loadName } from '../lib/load-name.js';
import { OUTCOMES } from '../lib/outcome.js';
import { isRefusedByProxy } from './analysis/commands.js';
import { labelOf } from './analysis/rows.js';
import { missingLimits } from './limits.js';

/** @typedef {import('../lib/result.js').Result} Result */
/** @typedef {import('../lib/report-types.js').Item} Item */
/** @typedef {import('../lib/report-types.js').List} List */
/** @typedef {import('./analysis/rows.js').Row} Row */

/** Samples of wrong answers that a report shows; the result has up to ten of each round. */
const SAMPLES_MAX = 10;

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
export function failedList(rows) {
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
  return { kind: 'failed', title: 'Failed', items };
}

/**
 * @param {Row} row
 * @returns {string} `3 miss, 2 timeout`; empty where every operation was answered rightly
 */
function outcomeText({ outcomes }) {
  return OUTCOMES.filter((name) => name !== 'ok' && outcomes[name] > 0)
    .map((name) => `${formatCount(outcomes[name])} ${name}`)
    .join(', ');
}

/**
 * @param {Row[]} rows
 * @returns {List}
 */
export function wrongList(rows) {
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
export function skippedList(result) {
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
export function warningList({ warnings, cells }) {
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
