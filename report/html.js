/**
 * The report as one page: plots, tables, notes and the result itself, in a file that needs nothing
 * else. Every text in it is escaped; what it may load is nothing.
 */

import { defineReport } from '../lib/define.js';
import { plainText } from '../lib/format.js';
import { figureMarkup } from './html/figure.js';
import { pageMarkup } from './html/page.js';
import { sectionsOf } from './html/section.js';
import { comparisonPlots } from './plots/comparison.js';
import { plotsOf } from './plots/index.js';
import { labelsOf } from './plots/plot.js';

/** @typedef {import('../lib/result.js').Result} Result */
/** @typedef {import('../lib/report-types.js').Document} Document */
/** @typedef {import('./html/section.js').Section} Section */

export default defineReport({
  name: 'html',
  summary: 'one page with plots, for a browser; needs nothing else',
  render: (documents, { comparison = null } = {}) => renderPage(documents, comparison),
});

/**
 * @param {readonly Document[]} documents one, or several side by side: the first is what the others
 *   are compared with
 * @param {import('./analysis/comparison.js').Comparison | null} comparison of several
 * @returns {string}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE where a result is damaged
 */
function renderPage(documents, comparison) {
  /** @type {Result[]} */
  const results = documents.map(({ source }) => source);
  const labels = labelsOf(results);
  const parts = documents.map((content, i) => {
    const result = results[i];
    const { plots, context } = plotsOf(result, content.parts, labels);
    const several = results.length > 1;
    const prefix = several ? `r${i + 1}-` : '';
    const where = several ? ` (result ${i + 1})` : '';
    const level = several ? 3 : 2;
    return { result, content, plots, seriesOf: context.seriesOf, prefix, where, level };
  });
  const shown = new Set(parts.flatMap(({ plots }) => plots.flatMap(seriesIn)));
  const sections = parts.map(sectionsOf);
  const compared = comparison === null ? [] : comparisonSections(comparison);
  const single = parts.length === 1;
  return pageMarkup({
    title: single ? parts[0].content.title : `Dragstrip: ${parts.length} results compared`,
    when: single ? parts[0].content.head[0][1] : results.map(({ id }) => plainText(id)).join(', '),
    lead: single ? leadOf(parts[0].plots) : '',
    storages: labels
      .map((label, series) => ({ label, series }))
      .filter(({ series }) => shown.has(series)),
    downloads: results.map((result) => ({ name: result.id, json: JSON.stringify(result) })),
    contents: single ? sections[0] : [...compared, ...parts.map(titleOf)],
    body: [
      ...compared.map((section) => sectionMarkup(section, 2)),
      ...(single
        ? sections[0].map((section) => sectionMarkup(section, 2))
        : parts.map((part, i) =>
            sectionMarkup(
              {
                ...titleOf(part),
                body: sections[i].map((section) => sectionMarkup(section, 3)).join('\n'),
              },
              2,
            ),
          )),
    ].join('\n'),
  });
}

/** @param {import('./plots/plot.js').Plot} plot */
function seriesIn({ table }) {
  return table.rows.flatMap(({ series }) => series ?? []);
}

/**
 * @param {import('./plots/plot.js').Plot[]} plots
 * @returns {string} what the plots of throughput say in a sentence each
 */
function leadOf(plots) {
  return plots
    .filter(({ id }) => id.startsWith('throughput-'))
    .map(({ title, summary }) => `${title.replace('Throughput, ', '')}: ${lastSentence(summary)}`)
    .join(' ');
}

/** @param {string} text */
function lastSentence(text) {
  return text.slice(text.indexOf('. ') + 2);
}

/** @param {{ result: Result, prefix: string }} part */
function titleOf({ result, prefix }) {
  return { id: `${prefix}result`, title: plainText(result.id) };
}

/**
 * @param {import('./analysis/comparison.js').Comparison} comparison
 * @returns {Section[]}
 */
function comparisonSections(comparison) {
  const body = comparisonPlots(comparison)
    .map((plot) => figureMarkup(plot, { prefix: '', level: 3 }))
    .join('\n');
  return [{ id: 'comparison', title: 'Side by side', body }];
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
