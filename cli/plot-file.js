/** Folder of the plots of `--svg`: checked before the measurement, written at the end. */

import path from 'node:path';
import { pictureOutputs, requireFolderName, writeOutputs } from './outputs.js';
import { requireWritable } from './storage.js';

/** @typedef {import('../lib/result.js').Result} Result */

/**
 * @param {string | undefined} folder
 * @param {(result: Result) => Promise<{ name: string, svg: string }[]>} draw
 * @returns {Promise<{ write: (result: Result) => Promise<void> } | null>}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: it cannot be written
 */
export async function openPlots(folder, draw) {
  if (folder === undefined) return null;
  requireFolderName('svg', folder);
  await requireWritable(path.resolve(folder), '--svg', folder);
  return {
    async write(result) {
      const outputs = pictureOutputs(await draw(result), { svg: folder }, () => new Uint8Array());
      // Plots may be overwritten, since they can be drawn again from the result.
      await writeOutputs(outputs, { force: true });
    },
  };
}
