/**
 * The report as GitHub-flavoured markdown: the same content as on the console, nothing left out,
 * and every driver option that differs from its default.
 *
 * Foreign words go into code spans, where neither HTML, links nor @mentions are read.
 */

import { defineReport } from '../lib/define.js';
import { rowTexts } from './text.js';

/** @typedef {import('../lib/report-types.js').Document} Document */

export default defineReport({
  name: 'markdown',
  summary: 'GitHub tables, for an issue or a README',
  render: (documents) => documents.map(writeDocument).join('\n'),
});

/**
 * @param {Document} content
 * @returns {string}
 */
function writeDocument(content) {
  const blocks = [
    `# ${escapeMarkdown(content.title)}`,
    ...content.verdict.map(escapeMarkdown),
    content.head.map(([name, text]) => `- **${name}**: ${escapeMarkdown(text)}`).join('\n'),
    ...content.tables.map(tableText),
    ...content.notes.map(escapeMarkdown),
    ...content.lists.map(listText),
    settingsText(content.settings),
    ...content.legend.map((text) => escapeMarkdown(withoutOption(text))),
    explanationText(content.explanation),
  ];
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

/**
 * @param {string} text one line
 * @returns {string} markdown that shows it: each ASCII punctuation mark that markdown or HTML could
 *   read has a backslash (CommonMark 2.4), also the bar that would end a cell of a table
 */
export function escapeMarkdown(text) {
  return (
    text
      .replace(/[\\`*_{}[\]<>&#|~@$!]/g, '\\$&')
      // At the beginning of a block these would make a list, or a line under a heading.
      .replace(/^([-+=])/, '\\$1')
      .replace(/^(\d+)([.)])(?=\s|$)/, '$1\\$2')
  );
}

/**
 * @param {string} text one line
 * @returns {string} a code span, fenced by more backticks than it has in a row (CommonMark 6.1)
 */
export function codeSpan(text) {
  if (text === '') return '';
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  const space = longest > 0 || (text.startsWith(' ') && text.endsWith(' ')) ? ' ' : '';
  return `${fence}${space}${text}${space}${fence}`;
}

/** @param {import('../lib/report-types.js').Table} table */
function tableText(table) {
  const { title, columns, rows } = table;
  const line = (/** @type {string[]} */ texts) => `| ${texts.join(' | ')} |`;
  return [
    `## ${escapeMarkdown(title)}`,
    '',
    line(columns.map(({ name }) => escapeMarkdown(name))),
    line(columns.map(({ align }) => (align === 'left' ? '---' : '---:'))),
    ...rows.map((row) => line(rowTexts(table, row).map(escapeMarkdown))),
  ].join('\n');
}

/** @param {import('../lib/report-types.js').List} list */
function listText({ title, items }) {
  const lines = items.map(({ subject, text, hint, untrusted }) => {
    const help = hint === null ? '' : ` → ${codeSpan(hint)}`;
    return `- ${escapeMarkdown(subject)}: ${(untrusted ? codeSpan : escapeMarkdown)(text)}${help}`;
  });
  return [`## ${title}`, '', ...lines].join('\n');
}

/**
 * @param {string} legend
 * @returns {string} without the option of a terminal: here the explanation follows
 */
export function withoutOption(legend) {
  return legend.replace(/ ?More: --explain\.$/, '');
}

/** @param {Document['explanation']} explanation */
function explanationText(explanation) {
  if (explanation.length === 0) return '';
  const lines = explanation.map(
    ([name, text]) => `- **${escapeMarkdown(name)}**: ${escapeMarkdown(text)}`,
  );
  const summary = '<summary>Columns and marks</summary>';
  return ['<details>', summary, '', ...lines, '', '</details>'].join('\n');
}

/** @param {Document['settings']} settings */
function settingsText(settings) {
  const lines = settings.map(
    ([storage, options]) => `- ${escapeMarkdown(storage)}: ${codeSpan(options)}`,
  );
  return lines.length === 0 ? '' : ['## Driver options', '', ...lines].join('\n');
}
