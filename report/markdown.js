/**
 * The report as GitHub-flavoured markdown: the complete content of the console, and all non-default
 * driver options.
 *
 * Untrusted texts become code spans, where HTML, links and @mentions have no effect.
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
 * @returns {string} escaped markdown: a backslash before each ASCII punctuation mark with a meaning
 *   in markdown or HTML (CommonMark 2.4), including the bar of table cells
 */
export function escapeMarkdown(text) {
  return (
    text
      .replace(/[\\`*_{}[\]<>&#|~@$!]/g, '\\$&')
      // At the beginning of a block these would start a list or underline a heading.
      .replace(/^([-+=])/, '\\$1')
      .replace(/^(\d+)([.)])(?=\s|$)/, '$1\\$2')
  );
}

/**
 * @param {string} text one line
 * @returns {string} a code span, delimited by more backticks than its longest run (CommonMark 6.1)
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
 * @returns {string} without the hint at --explain, since the explanation follows
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
