/**
 * The report as one self-contained page: plots, tables, notes and the result itself. Every text is
 * escaped; the page loads nothing.
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
 * @param {readonly Document[]} documents one, or several side by side; the first is the reference
 * @param {Document | null} compared comparison of several documents
 * @returns {string}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: a result is damaged
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
    body: sections.map((section) => sectionMarkup(section, 2)),
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
 * @param {Document | null} content content of a comparison
 * @returns {Section[]} figures and tables; notes are with the results
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
  const figures = rest.filter(({ id }) => !/-(run|setup|rounds)$/.test(id));
  return [{ ...figure, id: 'comparison', title: 'Side by side' }, ...figures];
}

/**
 * @param {Section} section
 * @param {number} level
 */
function sectionMarkup({ id, title, body }, level) {
  // Titles are escaped here; bodies are markup already.
  const heading = title.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  // Landmarks mark results; within several results their names would repeat.
  const [open, close] =
    level === 2
      ? [`<section id="${id}" aria-labelledby="${id}-h">`, '</section>']
      : [`<div class="part" id="${id}">`, '</div>'];
  return `${open}
<h${level} id="${id}-h">${heading}</h${level}>
${body}
${close}`;
}
