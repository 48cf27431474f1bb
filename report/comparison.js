/**
 * A comparison of results for people: on a terminal and as markdown. Pure; what is compared with
 * what, and what may be, is lib/comparison.js.
 */

import {
  formatDuration,
  formatRatio,
  formatShare,
  formatThroughput,
  NONE,
  plainText,
} from '../lib/format.js';
import { NEUTRAL_ROW } from './columns.js';
import { drawContent } from './console.js';
import { writeContent } from './markdown.js';

/** @typedef {import('./analysis/comparison.js').Comparison} Comparison */
/** @typedef {import('./analysis/comparison.js').ComparedCell} ComparedCell */

/**
 * @param {Comparison} comparison
 * @param {import('../lib/types.js').ReportOptions & { format?: 'console' | 'markdown' }} [options]
 * @returns {string}
 */
export function renderComparison(comparison, { format = 'console', ...options } = {}) {
  const content = toContent(comparison);
  return format === 'markdown' ? writeContent(content) : drawContent(content, options);
}

/**
 * @param {Comparison} comparison
 * @returns {import('./content.js').Content}
 */
function toContent(comparison) {
  const { base, others } = comparison;
  return {
    title: `Dragstrip ${plainText(comparison.dragstrip)}: compare`,
    head: [
      ['first', sideText(base)],
      ...others.map((other, i) => /** @type {[string, string]} */ ([nameOf(i), sideText(other)])),
    ],
    tables: others.flatMap((other, i) =>
      other.cells.length === 0
        ? []
        : [
            {
              title: `${nameOf(i)} (${plainText(other.file)}) against the first`,
              columns: [...COLUMNS],
              rows: other.cells.map((cell) => /** @type {any} */ ({ ...NEUTRAL_ROW, cell })),
            },
          ],
    ),
    floor: '',
    notes: [judgement(comparison)],
    lists: [differenceList(others), leftList(others)].filter(({ items }) => items.length > 0),
    legend: LEGEND,
  };
}

/** @param {number} index of the others */
function nameOf(index) {
  return ['second', 'third', 'fourth', 'fifth'][index] ?? `number ${index + 2}`;
}

/** @param {Comparison['base']} side */
function sideText({ file, id, startedAt, rounds }) {
  const when = startedAt.replace('T', ' ').replace(/(:\d\d)\.\d+/, '$1');
  return plainText(`${file}: ${id}, ${when}, ${rounds} ${rounds === 1 ? 'round' : 'rounds'}`);
}

/** @type {readonly import('./columns.js').Column[]} */
const COLUMNS = Object.freeze([
  column('test', ['', 'test'], 0, ({ cell }) => plainText(cell), 'left'),
  column('first', ['', 'first'], 3, (cell) => figure(cell, cell.base)),
  column('other', ['', 'other'], 4, (cell) => figure(cell, cell.other)),
  column('speed of the other', ['', 'speed'], 0, ({ ratio }) => formatRatio(ratio)),
  column('95 % interval', ['95 %', 'interval'], 1, intervalText),
  column('p after Holm', ['p', '(Holm)'], 5, ({ p }) => pText(p)),
  column('A/A noise', ['A/A', 'noise'], 2, ({ noise }) =>
    noise === null ? 'unknown' : formatShare(noise),
  ),
  column('rounds', ['', 'n'], 6, ({ n }) => String(n)),
  column('verdict', ['', 'verdict'], 0, verdictText, 'left'),
]);

/**
 * @param {string} name
 * @param {[string, string]} head
 * @param {number} drop
 * @param {(cell: ComparedCell) => string} text
 * @param {'left' | 'right'} [align]
 * @returns {import('./columns.js').Column}
 */
function column(name, head, drop, text, align = 'right') {
  return { name, head, align, drop, text: (/** @type {any} */ row) => text(row.cell) };
}

/**
 * @param {ComparedCell} cell
 * @param {number} value
 */
function figure({ metric }, value) {
  return metric === 'p99' ? `p99 ${formatDuration(value)}` : formatThroughput(value);
}

/** @param {ComparedCell} cell */
function intervalText({ low, high }) {
  return low === null || high === null ? NONE : `${low.toFixed(3)}–${high.toFixed(3)}`;
}

/** @param {number | null} p */
function pText(p) {
  if (p === null) return NONE;
  return p < 0.001 ? '< 0.001' : p.toFixed(3);
}

/** @param {ComparedCell} cell */
function verdictText({ verdict, roundsNeeded, low }) {
  if (verdict !== 'undecided') return verdict;
  if (roundsNeeded !== null) return `undecided: --rounds ${roundsNeeded}`;
  return low === null ? 'undecided: one round' : 'undecided: > 1000 rounds';
}

/** @param {Comparison} comparison */
function judgement({ failIfSlower, regressions, others }) {
  const cells = others.flatMap((other) => other.cells);
  const of = (/** @type {string} */ verdict) =>
    `${cells.filter((cell) => cell.verdict === verdict).length} ${verdict}`;
  const counts = ['faster', 'slower', 'same', 'undecided'].map(of).join(', ');
  if (failIfSlower === null) return `${cells.length} comparisons: ${counts}`;
  const limit = `slower by more than ${formatShare(failIfSlower)}: ${regressions}`;
  return `${cells.length} comparisons: ${counts}; ${limit}`;
}

/**
 * @param {Comparison['others']} others
 * @returns {import('./content.js').List}
 */
function differenceList(others) {
  return {
    kind: 'warnings',
    title: 'Not the same in both, so that a difference may come from it',
    items: others.flatMap(({ differences }, i) =>
      differences.map(({ what, base, other }) => ({
        subject: plainText(`${nameOf(i)}, ${what}`),
        text: plainText(`${other}, and in the first ${base}`),
        foreign: true,
        remedy: null,
      })),
    ),
  };
}

/**
 * @param {Comparison['others']} others
 * @returns {import('./content.js').List}
 */
function leftList(others) {
  return {
    kind: 'skipped',
    title: 'Not compared',
    items: others.flatMap(({ left }, i) =>
      left.map(({ cell, reason }) => ({
        subject: plainText(`${nameOf(i)}, ${cell}`),
        text: plainText(reason),
        foreign: true,
        remedy: null,
      })),
    ),
  };
}

const LEGEND = [
  'speed: of the other over the first, above 1 is faster; operations a second, and where the rate ' +
    'was given the 99th percentile. faster and slower: the interval excludes 1, p after Holm is 0.05 ' +
    'at most, and the difference is beyond the greater of 1 % and the A/A noise. same: the whole ' +
    'interval is within that. undecided: neither is shown; so many rounds would, if all stays so.',
];
