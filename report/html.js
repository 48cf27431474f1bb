/**
 * The report as one page: plots, tables, notes and the result itself, in a file that needs nothing
 * else. Every text in it is escaped; what it may load is nothing.
 */

import { defineReport } from '../lib/define.js';
import { sealResult } from '../lib/digest.js';
import { comparisonDocument } from './comparison.js';
import { pageMarkup } from './html/page.js';
import { sectionsOf } from './html/section.js';
import { contendersOf, plotsOf } from './plots/index.js';

/** @typedef {import('../lib/report-types.js').Document} Document */
/** @typedef {import('./html/section.js').Section} Section */
/** @typedef {import('./html/section.js').Part} Part */

export default defineReport({
  name: 'html',
  summary: 'one page with plots, for a browser; needs nothing else',
  render: (documents, { comparison = null } = {}) =>
    renderPage(documents, comparison === null ? null : comparisonDocument(comparison)),
});

/**
 * @param {readonly Document[]} documents one, or several side by side: the first is what the others
 *   are compared with
 * @param {Document | null} compared the comparison of several
 * @returns {string}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE where a result is damaged
 */
function renderPage(documents, compared) {
  const contenders = contendersOf(documents);
  const single = documents.length === 1;
  const parts = documents.map((content, i) => ({
    content,
    contenders,
    plots: plotsOf(content, contenders),
    prefix: single ? '' : `r${i + 1}-`,
    where: single ? '' : ` (result ${i + 1})`,
    level: single ? 2 : 3,
  }));
  const shown = new Set(parts.flatMap(({ plots }) => plots.flatMap(seriesIn)));
  const sections = single
    ? sectionsOf(parts[0])
    : [...comparisonSections(compared), ...parts.map(sectionOfPart)];
  return pageMarkup({
    title: single ? documents[0].title : `Dragstrip: ${parts.length} results compared`,
    when: single ? (documents[0].head[0]?.[1] ?? '') : documents.map(({ id }) => id).join(', '),
    lead: single ? documents[0].verdict : (compared?.notes.slice(0, 1) ?? []),
    storages: contenders
      .map((label, series) => ({ label, series }))
      .filter(({ series }) => shown.has(series)),
    downloads: documents.flatMap(({ id, result }) =>
      result === null ? [] : [{ name: id, json: JSON.stringify(sealResult(result)) }],
    ),
    contents: sections,
    body: sections.map((section) => sectionMarkup(section, 2)).join('\n'),
  });
}

/** @param {import('./plots/plot.js').Plot} plot */
function seriesIn({ table }) {
  return table.rows.flatMap(({ series }) => series ?? []);
}

/**
 * @param {Part} part one of several
 * @returns {Section}
 */
function sectionOfPart(part) {
  const { content, prefix } = part;
  const body = sectionsOf(part).map((section) => sectionMarkup(section, 3));
  return { id: `${prefix}result`, title: content.id, body: body.join('\n') };
}

/**
 * @param {Document | null} content of a comparison
 * @returns {Section[]} its figures and tables; the results have their own notes
 */
function comparisonSections(content) {
  if (content === null) return [];
  const [figure, ...rest] = sectionsOf({
    content,
    plots: plotsOf(content),
    contenders: [],
    prefix: 'c-',
    where: '',
    level: 2,
  });
  const own = rest.filter(({ id }) => !/-(run|setup|rounds)$/.test(id));
  return [{ ...figure, id: 'comparison', title: 'Side by side' }, ...own];
}

/**
 * @param {Section} section
 * @param {number} level
 */
function sectionMarkup({ id, title, body }, level) {
  // Everything foreign in a title is escaped here; bodies are markup already.
  const heading = title.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  // Landmarks lead to the results; within each of several there would be too many of a name.
  const [open, close] =
    level === 2
      ? [`<section id="${id}" aria-labelledby="${id}-h">`, '</section>']
      : [`<div class="part" id="${id}">`, '</div>'];
  return `${open}
<h${level} id="${id}-h">${heading}</h${level}>
${body}
${close}`;
}
