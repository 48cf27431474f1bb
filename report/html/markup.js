/**
 * HTML from texts: everything that comes from a result goes through here, and is escaped. Not for
 * what the page is made of (page.js, section.js).
 */

import { SERIES_COLORS } from '../palette.js';
import { escapeXml } from '../svg.js';

export { escapeXml as escapeHtml } from '../svg.js';

/** A longer name of a row is broken. */
const NAME_MAX = 60;

/**
 * @typedef {object} TableMarkup
 * @property {string} caption
 * @property {string} [where] which result, where the page has several
 * @property {boolean} [quiet] the caption is for screen readers: a heading above says the same
 * @property {readonly { name: string, align: 'left' | 'right' }[]} columns the first names the row
 * @property {readonly { texts: readonly string[], series?: number | null,
 *   swatch?: number | null, mark?: boolean }[]} rows swatch: it has the colour of that series;
 *   series: and is hidden with it; mark: something is wrong with it
 */

/**
 * @param {TableMarkup} table
 * @returns {string} in a box that scrolls by itself, and by the keyboard
 */
export function tableMarkup({ caption, where = '', quiet = false, columns, rows }) {
  const heads = columns.map(
    ({ name, align }) => `<th scope="col"${alignment(align)}>${escapeXml(name)}</th>`,
  );
  const body = rows.map(({ texts, series = null, swatch: color = series, mark = false }) => {
    const cells = texts.map((text, i) =>
      i === 0
        ? nameCell(text, color)
        : // Its end needs no tag: a fifth of a table of figures.
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
