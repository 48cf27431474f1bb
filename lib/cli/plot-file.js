/**
 * The file of a plot that the command line was asked for: its place is checked before anything is
 * measured, it is written when all is over.
 */

import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DragstripError } from '../errors.js';
import { openStore } from './storage.js';

/** @param {import('../result.js').Result} result */
async function drawFetches(result) {
  const { fetchPicture } = await import('../../report/mget-plot.js');
  return fetchPicture(result);
}

/**
 * @param {string | undefined} file
 * @param {(result: import('../result.js').Result) => Promise<string>} [draw] default: fetches of
 *   many keys
 * @returns {Promise<{ write: (result: import('../result.js').Result) => Promise<void> } | null>}
 * @throws {DragstripError} E_USAGE where it cannot be written
 */
export async function openPlotFile(file, draw = drawFetches) {
  if (file === undefined) return null;
  // A plot may be drawn again: it is made of a result, and is none.
  await openStore({ json: file, force: true });
  return {
    async write(result) {
      const picture = await draw(result);
      try {
        await writeFile(path.resolve(file), picture);
      } catch (error) {
        throw new DragstripError('E_STORE', `--svg ${file}: not written (${error.code})`, {
          remedy: 'name another file',
          cause: error,
        });
      }
    },
  };
}
