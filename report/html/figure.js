/**
 * A plot in a page: the drawing for a wide and for a narrow screen, for each of its scales, what it
 * shows in words, and its numbers as a table.
 */

import { plotForPage } from '../svg.js';
import { escapeHtml, foldMarkup, tableMarkup } from './markup.js';

const WIDE = 880;
const NARROW = 360;

/** @typedef {import('../plots/plot.js').Plot} Plot */

/**
 * @param {Plot} plot
 * @param {{ prefix: string, level: number, where?: string }} options prefix: of identifiers, the
 *   same plot may be there for several results; level: of the heading; where: which result
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
        // A finger covers what it points at; on small screens the table has the numbers.
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
 * The choice of a scale works without a script: the style sheet looks at what is checked.
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
