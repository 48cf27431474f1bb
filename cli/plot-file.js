/**
 * The file of a plot that the command line was asked for: its place is checked before anything is
 * measured, it is written when all is over.
 */

import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DragstripError } from '../lib/errors.js';
import { openStore } from './storage.js';

/**
 * @param {string | undefined} file
 * @param {(result: import('../lib/result.js').Result) => Promise<string>} draw
 * @returns {Promise<{ write: (result: import('../lib/result.js').Result) => Promise<void> } |
 *   null>}
 * @throws {DragstripError} E_USAGE where it cannot be written
 */
export async function openPlotFile(file, draw) {
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
          hint: 'name another file',
          cause: error,
        });
      }
    },
  };
}
