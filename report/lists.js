/**
 * Problems as lists beside the tables: failures, wrong replies, skipped benchmarks, warnings.
 * Untrusted texts (of servers, drivers, files) become one printable line each.
 */

import { formatCount, plainText } from '../lib/format.js';
import { labelOf } from '../lib/label.js';
import { loadName } from '../lib/load-name.js';
import { OUTCOMES } from '../lib/outcome.js';
import { groupBy } from './analysis/groups.js';
import { missingLimits } from './ceilings.js';

/** @typedef {import('../lib/result.js').Result} Result */
/** @typedef {import('../lib/report-types.js').Item} Item */
/** @typedef {import('../lib/report-types.js').List} List */
/** @typedef {import('./analysis/rows.js').Row} Row */

/** Number of sample wrong replies in a report; the result has up to ten per round. */
const SAMPLES_MAX = 10;
/** From this number on, equal texts about several subjects are merged. */
const TOGETHER_MIN = 4;

/**
 * @param {Row} row
 * @returns {string} `ioredis:tuned, burst`
 */
function subjectOf({ label, source }) {
  const { parameters } = source;
  if (parameters === undefined) return `${label}, ${loadName(source.load)}`;
  return [label, source.workload, ...Object.values(parameters)].join(', ');
}

/**
 * @param {string} subject
 * @param {string} text may contain text from a server, a driver or a file
 * @param {string | null} [hint]
 * @returns {Item}
 */
function itemOf(subject, text, hint = null) {
  return {
    subject: plainText(subject),
    text: plainText(text),
    hint: hint === null ? null : plainText(hint),
    untrusted: true,
  };
}

/**
 * Merges equal entries into one line, so that they do not hide others.
 * @param {readonly Item[]} items
 * @param {string} all subject of entries about all of them
 * @param {number} count total number
 * @returns {Item[]} in the order of the first of each
 */
export function together(items, all, count) {
  const groups = groupBy(items, ({ text, hint }) => JSON.stringify([text, hint]));
  return [...groups.values()].flatMap((group) => {
    if (group.length < TOGETHER_MIN) return group;
    const named = group.slice(0, TOGETHER_MIN - 1).map(({ subject }) => subject);
    const more = `${named.join('; ')} and ${group.length - named.length} more`;
    return [{ ...group[0], subject: group.length >= count ? `all ${all}` : more }];
  });
}

/**
 * @param {Row[]} rows
 * @returns {List}
 */
export function failedList(rows) {
  /** @type {Item[]} */
  const items = [];
  for (const row of rows) {
    const { source } = row;
    let reported = false;
    for (const { round, failure, state } of source.rounds) {
      if (failure === null || state === 'measured') continue;
      reported = true;
      const text = `${state}: ${failure.code}: ${failure.message}`;
      items.push(itemOf(`${subjectOf(row)}, round ${round + 1}`, text, source.hint));
    }
    if (!reported && (source.state === 'failed' || source.state === 'aborted')) {
      items.push(itemOf(subjectOf(row), source.reason ?? source.state, source.hint));
    }
  }
  const count = rows.filter(({ kind }) => kind !== 'overhead').length;
  return { kind: 'failed', title: 'Failed', items: together(items, 'benchmarks', count) };
}

/**
 * @param {Row} row
 * @returns {string} `3 miss, 2 timeout`; empty if all replies were as expected
 */
function outcomeText({ outcomes }) {
  return OUTCOMES.filter((name) => name !== 'ok' && outcomes[name] > 0)
    .map((name) => `${formatCount(outcomes[name])} ${name}`)
    .join(', ');
}

/**
 * @param {Row} row
 * @returns {string} number of replies compared in full; empty: all, or unknown
 */
function partText({ outcomes, source }) {
  const all = source.rounds.flatMap(({ compared }) => compared ?? []);
  const replies = all.reduce((total, one) => total + one.replies, 0);
  const inFull = all.reduce((total, one) => total + (one.whole ?? Number.NaN), 0);
  if (outcomes.mismatch === 0 || !(inFull < replies)) return '';
  const share = `${formatCount(inFull)} of ${formatCount(replies)} replies`;
  return `; ${share} were compared in full, all of them from the first mismatch on`;
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
    if (counts === '') continue;
    const text = `${counts} of ${formatCount(row.scheduled)}, not counted as operations${partText(row)}`;
    items.push({ ...itemOf(subjectOf(row), text), untrusted: false });
    samples.push(samplesOf(row));
  }
  const shown = interleave(samples).slice(0, SAMPLES_MAX);
  const left = samples.flat().length - shown.length;
  items.push(...shown);
  if (left > 0) {
    const text = `${formatCount(left)} more in the result`;
    items.push({ subject: 'samples', text, hint: null, untrusted: false });
  }
  return { kind: 'wrong', title: 'Wrong replies', items };
}

/**
 * @param {Row} row
 * @returns {Item[]}
 */
function samplesOf(row) {
  return row.source.rounds.flatMap(({ round, samples }) =>
    samples.map(({ outcome, operation, code, message }) =>
      itemOf(
        `${subjectOf(row)}, round ${round + 1}, operation ${operation}`,
        [outcome, code, message].filter((word) => word).join(': '),
      ),
    ),
  );
}

/**
 * @param {Item[][]} lists
 * @returns {Item[]} round-robin: the first of each, then the second of each
 */
function interleave(lists) {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, i) =>
    lists.flatMap((list) => list.slice(i, i + 1)),
  ).flat();
}

/**
 * @param {Result} result
 * @returns {List} one item per storage instead of per benchmark; and ceilings without a figure
 */
export function skippedList(result) {
  const { benchmarks } = result;
  /** @type {Map<string, Item>} */
  const items = new Map();
  for (const source of benchmarks) {
    if (source.state !== 'skipped') continue;
    const item = itemOf(labelOf(source), source.reason ?? 'no reason is recorded', source.hint);
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
export function warningList({ warnings, benchmarks }) {
  const byId = new Map(benchmarks.map((source) => [source.id, source]));
  const measured = benchmarks.filter(({ rounds }) => rounds.length > 0);
  return {
    kind: 'warnings',
    title: 'Warnings',
    items: together(
      warnings.map(({ benchmark: id, message, hint, code }) => {
        const source = id === null ? undefined : byId.get(id);
        const subject = source ? `${labelOf(source)}, ${loadName(source.load)}` : (id ?? code);
        return itemOf(subject, message, hint);
      }),
      'benchmarks',
      measured.length,
    ),
  };
}
