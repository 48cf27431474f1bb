/**
 * The sections of one document in a page: what every report says, with plots at the tables that
 * they belong to, and what only a page has room for: versions, options, rounds.
 */

import { formatCount } from '../../lib/format.js';
import { withoutOption } from '../markdown.js';
import { rowTexts } from '../text.js';
import { figureMarkup } from './figure.js';
import { escapeHtml, foldMarkup, pairsMarkup, tableMarkup } from './markup.js';

/** @typedef {import('../../lib/report-types.js').Document} Document */
/** @typedef {import('../plots/plot.js').Plot} Plot */

/**
 * @typedef {object} Part one result as the page shows it
 * @property {Document} content
 * @property {Plot[]} plots
 * @property {(row: { storage: string, profile: string }) => number} seriesOf
 * @property {string} prefix of identifiers
 * @property {string} where which result, for screen readers, where the page has several
 * @property {number} level of its headings
 */

/** @typedef {{ id: string, title: string, body: string }} Section */

/**
 * @param {Part} part
 * @returns {Section[]}
 */
export function sectionsOf(part) {
  const { content, prefix } = part;
  const lists = (/** @type {string[]} */ kinds) =>
    content.lists.filter(({ kind }) => kinds.includes(kind)).map(listMarkup);
  const legend = legendMarkup(content);
  const measured = tableSections(part);
  const loose = part.plots.filter(({ group }) => group === null);
  /** @type {Section[]} */
  const sections = [
    {
      id: `${prefix}run`,
      title: 'The run',
      body: [
        `<div class="card">${pairsMarkup(content.head)}</div>`,
        ...lists(['failed', 'wrong']),
        ...content.verdict.map((line) => `<p class="lead">${escapeHtml(line)}</p>`),
        ...content.notes.map((line) => `<p class="note">${escapeHtml(line)}</p>`),
      ].join('\n'),
    },
    ...(loose.length === 0
      ? []
      : [{ id: `${prefix}plots`, title: 'Plots', body: figures(loose, part) }]),
    ...measured,
    {
      id: `${prefix}notes`,
      title: 'Notes',
      body: [...lists(['skipped', 'warnings']), `<div class="legend card">${legend}</div>`].join(
        '\n',
      ),
    },
    { id: `${prefix}setup`, title: 'Versions and options', body: setupMarkup(part) },
  ];
  const rounds = roundsMarkup(part);
  if (rounds !== '') sections.push({ id: `${prefix}rounds`, title: 'Rounds', body: rounds });
  return sections;
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
 * @returns {Section[]} one for each table, with the plots of its group
 */
function tableSections(part) {
  const { content, plots, prefix } = part;
  if (content.tables.length === 0) {
    const body = '<p class="card">Nothing was measured.</p>';
    return [{ id: `${prefix}nothing`, title: 'Figures', body }];
  }
  return content.tables.map((table, i) => {
    const own = plots.filter(({ group }) => group !== null && group.key === table.id);
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
  return plots.map((plot) => figureMarkup(plot, { prefix, level: level + 1, where })).join('\n');
}

/**
 * @param {import('../../lib/report-types.js').Table} table
 * @param {Part} part
 */
function rowsTable(table, { seriesOf, where }) {
  const { title, id, columns, rows } = table;
  return tableMarkup({
    caption: title,
    where,
    quiet: true,
    columns: columns.map(({ name, align = 'right' }) => ({ name, align })),
    rows: rows.map((row) => ({
      texts: rowTexts(table, row),
      // Rows that plots show have the colours of their storages.
      swatch: id === null ? null : seriesOf(row.benchmarks[0].source),
      mark: row.mark === 'wrong',
    })),
  });
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
 * @returns {string} each round of each benchmark; empty where there is none
 */
function roundsMarkup({ content, seriesOf, where }) {
  const { columns, rows } = content.roundTexts();
  if (rows.length === 0) return '';
  const table = tableMarkup({
    caption: 'Each round of each benchmark, in a process of its own',
    where,
    columns,
    rows: rows.map(({ texts, of }) => ({ texts, swatch: seriesOf(of) })),
  });
  return `<div class="card">${foldMarkup(`${formatCount(rows.length)} rounds`, table)}</div>`;
}
