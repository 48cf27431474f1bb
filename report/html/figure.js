/**
 * A plot in a page: drawings for wide and narrow screens and for each scale, a description, and its
 * numbers as a table.
 */

import { plotForPage } from '../svg.js';
import { escapeHtml, foldMarkup, tableMarkup } from './markup.js';

const WIDE = 880;
const NARROW = 360;

/** @typedef {import('../plots/plot.js').Plot} Plot */

/**
 * @param {Plot} plot
 * @param {{ prefix: string, level: number, where?: string }} options prefix: prefix of identifiers,
 *   since several results may have the same plot; level: heading level; where: name of the result
 * @returns {string}
 */
export function figureMarkup(plot, { prefix, level, where = '' }) {
  const id = `${prefix}${plot.id}`;
  const choice = plot.variants.length < 2 ? '' : choiceMarkup(plot, id);
  const drawings = plot.variants.map((_, i) => {
    const svg = (/** @type {string} */ size, /** @type {number} */ width) =>
      `<div class="${size}">${plotForPage(plot, {
        variant: i,
        width,
        id: `${id}-${i}${size[0]}`,
        // Not for touch, since a finger covers the point; small screens use the table.
        hover: size === 'wide',
      })}</div>`;
    return `<div class="v${i}">${svg('wide', WIDE)}${svg('narrow', NARROW)}</div>`;
  });
  return [
    `<figure id="${id}">`,
    `<figcaption><h${level}>${escapeHtml(plot.title)}</h${level}>`,
    `<p>${escapeHtml(plot.summary)}</p></figcaption>`,
    choice,
    ...drawings,
    `<p class="note">${escapeHtml(plot.note)}</p>`,
    foldMarkup('Numbers', tableMarkup({ caption: `${plot.title}: numbers`, where, ...plot.table })),
    '</figure>',
  ].join('\n');
}

/**
 * The scale can be chosen without a script: the style sheet uses :checked.
 * @param {Plot} plot
 * @param {string} id
 */
function choiceMarkup({ variants, title }, id) {
  const inputs = variants.map(
    ({ name }, i) =>
      `<label><input type="radio" class="r${i}" name="scale-${id}"${i === 0 ? ' checked' : ''}> ` +
      `${escapeHtml(name === 'log' ? 'logarithmic' : name)}</label>`,
  );
  return (
    `<fieldset class="scale"><legend>Scale<span class="away"> of ${escapeHtml(title)}</span>` +
    `</legend>${inputs.join('')}</fieldset>`
  );
}
