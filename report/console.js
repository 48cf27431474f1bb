/**
 * The report for a terminal: tables that never wrap; on a narrow terminal the least important
 * columns are omitted and listed.
 */

import pc from 'picocolors';
import { defineReport } from '../lib/define.js';
import { wrap } from '../lib/format.js';
import { BAR_MAX, barsOf, dropOf, fitTable, GAP, plainTable, tableWidth } from './console-table.js';
import { headOf } from './text.js';

/** @typedef {import('../lib/report-types.js').Column} Column */
/** @typedef {import('../lib/report-types.js').Table} TableContent */
/** @typedef {import('../lib/report-types.js').Document} Document */
/** @typedef {ReturnType<typeof pc.createColors>} Colors */

/** Longer lines are hard to read, even on wide terminals. */
const TEXT_WIDTH_MAX = 120;

export default defineReport({
  name: 'console',
  summary: 'tables for a terminal',
  render: (documents, options) => documents.map((one) => drawDocument(one, options)).join('\n'),
});

/**
 * @param {Document} content
 * @param {import('../lib/types.js').ReportOptions} [options]
 * @returns {string}
 */
function drawDocument(content, { width = Infinity, color = false, explain = false } = {}) {
  const colors = pc.createColors(color);
  const columns = Math.max(1, width);
  const textWidth = Math.min(columns, TEXT_WIDTH_MAX);
  /** @type {Set<string>} */
  const leftOut = new Set();
  const blocks = [
    [...wrap(content.title, textWidth).map(colors.bold), ...headText(content.head, textWidth)],
    ...content.tables.map((table) => tableText(table, { width: columns, colors, leftOut })),
    content.notes.flatMap((line) => hanging('', line, textWidth)),
    ...content.lists.map((list) => listText(list, { width: textWidth, colors })),
    legendText(content.legend, { leftOut, width: textWidth, columns, colors }),
    explain ? explanationText(content.explanation, textWidth) : [],
    // The most wanted part comes last, above the prompt.
    ...content.verdict.map((line) => wrap(line, textWidth).map(colors.bold)),
  ];
  return `${blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

/**
 * @param {string} lead
 * @param {string} text
 * @param {number} width
 * @param {number} [indent] indentation of the lines after the first
 * @returns {string[]} lines of at most `width` columns
 */
function hanging(lead, text, width, indent = lead.length) {
  // No indentation on very narrow terminals.
  if (width - indent < 20) return wrap(`${lead.trim()} ${text}`.trim(), width);
  const [first, ...more] = wrap(text, width - indent);
  return [`${lead}${first}`, ...more.map((line) => `${' '.repeat(indent)}${line}`)];
}

/**
 * @param {[string, string][]} head
 * @param {number} width
 */
function headText(head, width) {
  const nameWidth = Math.max(...head.map(([name]) => name.length)) + 2;
  return head.flatMap(([name, text]) => hanging(name.padEnd(nameWidth), text, width));
}

/**
 * @param {TableContent} content
 * @param {{ width: number, colors: Colors, leftOut: Set<string> }} options leftOut: extended in
 *   place
 * @returns {string[]}
 */
function tableText(content, { width, colors, leftOut }) {
  const { title, columns, rows } = content;
  const { kept, cells, fits } = fitTable(content, width);
  for (const column of columns) if (!kept.includes(column)) leftOut.add(column.name);
  const titleLines = wrap(title, width).map(colors.bold);
  if (!fits) return [...titleLines, ...cells.flatMap((texts) => rowSentence(texts, kept, width))];
  const used = tableWidth(kept, cells);
  // Files and pipes have no width for bars.
  const room = Number.isFinite(width) ? width - used - GAP.length : 0;
  const bars = barsOf(rows, Math.min(BAR_MAX, room));
  const heads = [0, 1]
    .map((part) => kept.map((column) => headOf(column)[part]))
    .filter((texts) => texts.some((text) => text !== ''));
  const body = rows.map((row, i) => {
    const texts = cells[i].map((text, j) => paint(text, { row, column: kept[j], colors }));
    return bars === null ? texts : [...texts, colors.cyan(bars[i])];
  });
  const aligns = [...kept.map(({ align = 'right' }) => align), /** @type {const} */ ('left')];
  const lines = plainTable([...heads.map((texts) => texts.map(colors.bold)), ...body], aligns);
  lines.splice(heads.length, 0, colors.dim('─'.repeat(used)));
  return [...titleLines, ...lines];
}

/**
 * A row as text, if there is no space for a table: words can be wrapped, tables cannot.
 * @param {string[]} texts
 * @param {Column[]} columns
 * @param {number} width
 */
function rowSentence([storage, ...texts], columns, width) {
  const numbers = texts.map((text, j) => {
    const { name, unit } = columns[j + 1];
    return unit === 'text' ? `${name} ${text.trim()}` : `${text.trim()} ${name}`;
  });
  return hanging('', `${storage}: ${numbers.join(', ')}`, width, 2);
}

/**
 * @param {string} text
 * @param {{ row: TableContent['rows'][number], column: Column, colors: Colors }} context
 */
function paint(text, { row, column, colors }) {
  if (row.mark === 'wrong' && dropOf(column) === 0) return colors.red(text);
  if (row.quiet) return colors.dim(text);
  const value = row.values[column.key];
  const isFastest = column.key === 'versus_fastest' && 'value' in value && value.value === 1;
  return isFastest ? colors.green(text) : text;
}

const LIST_COLORS = Object.freeze({
  failed: 'red',
  wrong: 'red',
  skipped: 'yellow',
  warnings: 'yellow',
});

/**
 * @param {import('../lib/report-types.js').List} list
 * @param {{ width: number, colors: Colors }} options
 * @returns {string[]}
 */
function listText({ kind, title, items }, { width, colors }) {
  const color = colors[/** @type {'red' | 'yellow'} */ (LIST_COLORS[kind])];
  const lines = wrap(title, width).map(color);
  for (const { subject, text, hint } of items) {
    lines.push(...hanging('  ', `${subject}: ${text}`, width, 4));
    if (hint !== null) lines.push(...hanging('    → ', hint, width, 6));
  }
  return lines;
}

/**
 * @param {Document['explanation']} explanation
 * @param {number} width
 */
function explanationText(explanation, width) {
  return explanation.flatMap(([name, text]) => hanging('', `${name}: ${text}`, width, 2));
}

/**
 * @param {string[]} legend
 * @param {{ leftOut: Set<string>, width: number, columns: number, colors: Colors }} options
 * @returns {string[]}
 */
function legendText(legend, { leftOut, width, columns, colors }) {
  const lines = legend.flatMap((text) => wrap(text, width));
  if (leftOut.size > 0) {
    const names = [...leftOut].join(', ');
    lines.push(...wrap(`Not shown at ${columns} columns: ${names}.`, width));
  }
  return lines.map(colors.dim);
}
