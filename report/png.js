/** A picture as PNG, by resvg, for READMEs without SVG. */

import { createRequire } from 'node:module';
import { targetError } from '../lib/errors.js';

const require = createRequire(import.meta.url);

/** Double resolution, for current screens. */
const SCALE = 2;
const FONTS = { loadSystemFonts: true, defaultFontFamily: 'DejaVu Sans' };

/**
 * @param {string} svg output of plotPicture
 * @returns {Uint8Array}
 * @throws {import('../lib/errors.js').DragstripError} E_TARGET: resvg is not available on this
 *   platform, or no font for the texts is installed
 */
export function toPng(svg) {
  const { Resvg } = library();
  const fitTo = { mode: /** @type {const} */ ('zoom'), value: SCALE };
  if (!hasFonts(Resvg)) {
    throw targetError(
      'PNG pictures require a font, and none is installed',
      'apt-get install fonts-dejavu-core, or use --svg or --html',
    );
  }
  return new Resvg(svg, { fitTo, font: FONTS }).render().asPng();
}

/** @returns {typeof import('@resvg/resvg-js')} */
function library() {
  try {
    return require('@resvg/resvg-js');
  } catch (error) {
    throw targetError(
      `PNG pictures: @resvg/resvg-js cannot be loaded (${error.code ?? 'ERROR'})`,
      'use --svg or --html',
      error,
    );
  }
}

/** @type {boolean | null} */
let known = null;

/** @param {typeof import('@resvg/resvg-js').Resvg} Resvg */
function hasFonts(Resvg) {
  if (known === null) {
    const words =
      '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text y="9">x</text></svg>';
    known = new Resvg(words, { font: FONTS }).getBBox() !== undefined;
  }
  return known;
}
