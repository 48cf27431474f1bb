/**
 * HTML from texts: escapes everything from a result. The page itself is in page.js and section.js.
 */

import { SERIES_COLORS } from '../palette.js';
import { escapeXml } from '../svg.js';

export { escapeXml as escapeHtml } from '../svg.js';

/** Longer row names are wrapped. */
const NAME_MAX = 60;

/**
 * @typedef {object} TableMarkup
 * @property {string} caption
 * @property {string} [where] name of the result, if the page has several
 * @property {boolean} [quiet] the caption is for screen readers only, since the heading above has
 *   the same text
 * @property {readonly { name: string, align: 'left' | 'right' }[]} columns the first column has the
 *   row name
 * @property {readonly { texts: readonly string[], series?: number | null, swatch?: number | null,
 *   mark?: boolean }[]} rows swatch: index of the series whose colour it has; series: index of the
 *   series that hides it; mark: there is a problem
 */

/**
 * @param {TableMarkup} table
 * @returns {string} in a box that scrolls separately, also by keyboard
 */
export function tableMarkup({ caption, where = '', quiet = false, columns, rows }) {
  const heads = columns.map(
    ({ name, align }) => `<th scope="col"${alignment(align)}>${escapeXml(name)}</th>`,
  );
  const body = rows.map(({ texts, series = null, swatch: color = series, mark = false }) => {
    const cells = texts.map((text, i) =>
      i === 0
        ? nameCell(text, color)
        : // End tags are optional, and a fifth of a table.
          `<td${alignment(columns[i]?.align)}>${escapeXml(text)}`,
    );
    const owner = series === null ? '' : ` data-s="${series}"`;
    return `<tr${owner}${mark ? ' class="marked"' : ''}>${cells.join('')}</tr>`;
  });
  const label = escapeXml(caption);
  return [
    `<div class="scroll" tabindex="0" role="region" aria-label="Table: ${label}${escapeXml(where)}"><table>`,
    `<caption${quiet ? ' class="away"' : ''}>${label}</caption>`,
    `<thead><tr>${heads.join('')}</tr></thead>`,
    `<tbody>${body.join('\n')}</tbody>`,
    '</table></div>',
  ].join('\n');
}

/**
 * @param {string} text
 * @param {number | null} color
 */
function nameCell(text, color) {
  const kind = text.length > NAME_MAX ? ' class="long"' : '';
  return `<th scope="row"${kind}>${color === null ? '' : swatch(color)}${escapeXml(text)}</th>`;
}

/** @param {'left' | 'right' | undefined} align */
function alignment(align) {
  return align === 'right' ? '' : ' class="t"';
}

/** @param {number} series */
export function swatch(series) {
  return `<span class="sw c${series % SERIES_COLORS}" aria-hidden="true"></span>`;
}

/**
 * @param {readonly (readonly [string, string])[]} pairs
 * @returns {string}
 */
export function pairsMarkup(pairs) {
  const items = pairs.map(
    ([name, text]) => `<div><dt>${escapeXml(name)}</dt><dd>${escapeXml(text)}</dd></div>`,
  );
  return `<dl>${items.join('\n')}</dl>`;
}

/**
 * @param {string} summary
 * @param {string} body markup
 * @param {{ open?: boolean }} [options]
 */
export function foldMarkup(summary, body, { open = false } = {}) {
  return `<details${open ? ' open' : ''}><summary>${escapeXml(summary)}</summary>\n${body}\n</details>`;
}
