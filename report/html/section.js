/**
 * The sections of one document in a page: the content of every report, with plots at their tables,
 * and details of pages only: versions, options, rounds.
 */

import { formatCount } from '../../lib/format.js';
import { withoutOption } from '../markdown.js';
import { rowTexts } from '../text.js';
import { figureMarkup } from './figure.js';
import { escapeHtml, foldMarkup, pairsMarkup, tableMarkup } from './markup.js';

/** @typedef {import('../../lib/report-types.js').Document} Document */
/** @typedef {import('../plots/plot.js').Plot} Plot */

/**
 * @typedef {object} Part one document in the page
 * @property {Document} content
 * @property {Plot[]} plots
 * @property {readonly string[]} contenders in the order of their colours
 * @property {string} prefix prefix of identifiers
 * @property {string} where name of the result for screen readers, if the page has several
 * @property {number} level level of its headings
 */

/** @typedef {{ id: string, title: string, body: string }} Section */

/**
 * @param {Part} part
 * @returns {Section[]} the figure first, the environment last
 */
export function sectionsOf(part) {
  const { content, prefix, plots } = part;
  const loose = plots.filter(({ of, first }) => of === null && !first);
  /** @type {Section[]} */
  const sections = [
    { id: `${prefix}figure`, title: 'Result', body: resultMarkup(part) },
    { id: `${prefix}plots`, title: 'Plots', body: figures(loose, part) },
    ...tableSections(part),
    { id: `${prefix}notes`, title: 'Notes', body: notesMarkup(part) },
    { id: `${prefix}agents`, title: 'Load machines', body: agentsMarkup(part) },
    { id: `${prefix}rounds`, title: 'Rounds', body: roundsMarkup(part) },
    { id: `${prefix}setup`, title: 'Versions and options', body: setupMarkup(part) },
    {
      id: `${prefix}run`,
      title: 'The run',
      body: `<div class="card">${pairsMarkup(content.head)}</div>`,
    },
  ];
  return sections.filter(({ body }) => body !== '');
}

/** @param {Part} part */
function resultMarkup(part) {
  const { content, plots, level } = part;
  return [
    ...listsMarkup(content, ['failed', 'wrong']),
    // The header of a page has the verdict of a single result.
    ...(level === 2
      ? []
      : content.verdict.map((line) => `<p class="lead">${escapeHtml(line)}</p>`)),
    figures(
      plots.filter(({ first }) => first),
      part,
    ),
  ].join('\n');
}

/** @param {Part} part */
function notesMarkup({ content }) {
  const legend = legendMarkup(content);
  return [
    ...content.notes.map((line) => `<p class="note">${escapeHtml(line)}</p>`),
    ...listsMarkup(content, ['skipped', 'warnings']),
    ...(legend === ''
      ? []
      : [`<div class="legend card">${foldMarkup('Columns and marks', legend)}</div>`]),
  ].join('\n');
}

/**
 * @param {Document} content
 * @param {string[]} kinds
 */
function listsMarkup({ lists }, kinds) {
  return lists.filter(({ kind }) => kinds.includes(kind)).map(listMarkup);
}

/** @param {Document} content */
function legendMarkup({ legend, explanation }) {
  const lines = explanation.length === 0 ? legend : legend.map(withoutOption);
  return [
    ...lines.map((line) => `<p>${escapeHtml(line)}</p>`),
    ...explanation.map(
      ([name, text]) => `<p><strong>${escapeHtml(name)}</strong>: ${escapeHtml(text)}</p>`,
    ),
  ].join('');
}

/**
 * @param {Part} part
 * @returns {Section[]} one per table, with its plots
 */
function tableSections(part) {
  const { content, plots, prefix } = part;
  return content.tables.map((table, i) => {
    const own = plots.filter(({ of, first }) => of !== null && of === table.id && !first);
    return {
      id: `${prefix}table-${i + 1}`,
      title: table.title,
      body: `<div class="card">${rowsTable(table, part)}</div>\n${figures(own, part)}`,
    };
  });
}

/**
 * @param {Plot[]} plots
 * @param {Part} part
 */
function figures(plots, { prefix, level, where }) {
  if (plots.length === 0) return '';
  const all = plots.map((plot) => figureMarkup(plot, { prefix, level: level + 1, where }));
  return `<div class="figures">${all.join('\n')}</div>`;
}

/**
 * @param {import('../../lib/report-types.js').Table} table
 * @param {Part} part
 */
function rowsTable(table, { contenders, where }) {
  const { title, colored, columns, rows } = table;
  return tableMarkup({
    caption: title,
    where,
    quiet: true,
    columns: columns.map(({ name, align = 'right' }) => ({ name, align })),
    rows: rows.map((row) => ({
      texts: rowTexts(table, row),
      // Rows in plots have the colours of their storages.
      swatch: colored ? seriesOf(row.contender, contenders) : null,
      mark: row.mark === 'wrong',
    })),
  });
}

/**
 * @param {string | null} contender
 * @param {readonly string[]} contenders
 * @returns {number | null} index of its colour; null: not in plots
 */
function seriesOf(contender, contenders) {
  const series = contenders.indexOf(contender ?? '');
  return series < 0 ? null : series;
}

/** @param {import('../../lib/report-types.js').List} list */
function listMarkup({ kind, title, items }) {
  const lines = items.map(({ subject, text, hint }) => {
    const help =
      hint === null ? '' : ` <span class="note">→ <code>${escapeHtml(hint)}</code></span>`;
    return `<li><strong>${escapeHtml(subject)}</strong>: ${escapeHtml(text)}${help}</li>`;
  });
  return (
    `<div class="card list ${kind}"><p><strong>${escapeHtml(title)}</strong></p>` +
    `<ul>${lines.join('\n')}</ul></div>`
  );
}

/** @param {Part} part */
function setupMarkup({ content: { setup }, where }) {
  if (setup === null) return '';
  const { storages, servers, options } = setup;
  const folded = [...servers, { title: 'Options of the run and the machine', pairs: options }];
  return [
    `<div class="card">${tableMarkup({
      caption: 'Storages, with every driver option that is not its default',
      where,
      columns: storages.columns.map((name) => ({ name, align: 'left' })),
      rows: storages.rows.map((texts) => ({ texts })),
    })}</div>`,
    ...folded.map(
      ({ title, pairs }) => `<div class="card">${foldMarkup(title, pairsMarkup(pairs))}</div>`,
    ),
  ].join('\n');
}

/**
 * @param {Part} part
 * @returns {string} contribution of each load machine to each row; empty: a single machine
 */
function agentsMarkup(part) {
  const { agents = [] } = part.content;
  return agents
    .map((table) => `<div class="card">${foldMarkup(table.title, rowsTable(table, part))}</div>`)
    .join('\n');
}

/**
 * @param {Part} part
 * @returns {string} each round of each benchmark; may be empty
 */
function roundsMarkup({ content, contenders, where }) {
  const { columns, rows } = content.roundTexts();
  if (rows.length === 0) return '';
  const table = tableMarkup({
    caption: 'Each round of each benchmark, in a separate process',
    where,
    columns,
    rows: rows.map(({ texts, of }) => ({ texts, swatch: seriesOf(of, contenders) })),
  });
  return `<div class="card">${foldMarkup(`${formatCount(rows.length)} rounds`, table)}</div>`;
}
