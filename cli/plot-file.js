/**
 * Where `--svg` puts the plots of a run: its place is checked before anything is measured, they are
 * written when all is over. A name that ends in `.svg` is a file, of one plot; another is a folder.
 */

import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DragstripError, usageError } from '../lib/errors.js';
import { pictureOutputs, writeOutputs } from './outputs.js';
import { openStore, requireWritable } from './storage.js';

/** @typedef {import('../lib/result.js').Result} Result */

/**
 * @param {string | undefined} place
 * @param {(result: Result) => Promise<{ name: string, svg: string }[]>} draw the first one is what
 *   a file gets
 * @returns {Promise<{ write: (result: Result) => Promise<void> } | null>}
 * @throws {DragstripError} E_USAGE where it cannot be written
 */
export async function openPlots(place, draw) {
  if (place === undefined) return null;
  // A plot may be drawn again: it is made of a result, and is none.
  if (/\.svg$/i.test(place)) {
    await openStore({ json: place, force: true });
    return { write: async (result) => writePlot(place, await draw(result)) };
  }
  await requireWritable(path.resolve(place), '--svg', place);
  return {
    async write(result) {
      const outputs = pictureOutputs(await draw(result), { svg: place }, () => new Uint8Array());
      await writeOutputs(outputs, { force: true });
    },
  };
}

/**
 * @param {string} file
 * @param {readonly { svg: string }[]} pictures
 */
async function writePlot(file, [picture]) {
  if (picture === undefined) throw usageError('there is no plot: nothing was measured');
  try {
    await writeFile(path.resolve(file), picture.svg);
  } catch (error) {
    throw new DragstripError('E_STORE', `--svg ${file}: not written (${error.code})`, {
      hint: 'name another file',
      cause: error,
    });
  }
}
