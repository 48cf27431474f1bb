/**
 * Output files of a report: all are checked before the first is written, so an existing file leaves
 * no partial output; each is written atomically.
 */

import path from 'node:path';
import { usageError } from '../lib/errors.js';
import { loadReport } from '../report/index.js';
import { requireFree, writeWhole } from './storage.js';

/**
 * @typedef {object} Output
 * @property {string} flag the option that requests it, for messages
 * @property {string} file as written by the user, or in the folder named by the user
 * @property {() => string | Uint8Array} make
 */

/**
 * @param {readonly Output[]} outputs
 * @param {{ force?: boolean }} options
 * @returns {Promise<string[]>} the files, as named by the user
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: it exists, or cannot be written;
 *   E_STORE
 */
export async function writeOutputs(outputs, { force = false }) {
  for (const { flag, file } of outputs) await requireFree(path.resolve(file), file, force, flag);
  for (const { file, make } of outputs) await writeWhole(path.resolve(file), make());
  return outputs.map(({ file }) => file);
}

/**
 * @param {'svg' | 'png'} name
 * @param {string | undefined} folder folder of several pictures
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: the path is a file
 */
export function requireFolderName(name, folder) {
  if (folder === undefined || path.extname(folder).toLowerCase() !== `.${name}`) return;
  throw usageError(
    `--${name} ${folder}: a run has several plots`,
    `name a folder: --${name} plots`,
  );
}

/**
 * @param {readonly { name: string, svg: string }[]} pictures
 * @param {{ svg?: string, png?: string }} folders
 * @param {(svg: string) => Uint8Array} toPng
 * @returns {Output[]}
 */
export function pictureOutputs(pictures, { svg: svgFolder, png: pngFolder }, toPng) {
  return pictures.flatMap(({ name, svg }) => [
    ...(svgFolder === undefined
      ? []
      : [{ flag: '--svg', file: path.join(svgFolder, `${name}.svg`), make: () => svg }]),
    ...(pngFolder === undefined
      ? []
      : [{ flag: '--png', file: path.join(pngFolder, `${name}.png`), make: () => toPng(svg) }]),
  ]);
}

/**
 * Output files named by the options of a report.
 * @param {Record<string, any>} options
 * @param {(format: string) => Promise<() => string>} renderAs
 * @param {() => Promise<Parameters<typeof pictureOutputs>[0]>} draw
 * @returns {Promise<Output[]>}
 */
export async function outputsOf({ html, markdown, csv, svg, png }, renderAs, draw) {
  const filesOf = async (/** @type {Record<string, string | undefined>} */ files) => {
    /** @type {Output[]} */
    const outputs = [];
    for (const [name, file] of Object.entries(files)) {
      if (file !== undefined) {
        outputs.push({ flag: `--${name}`, file, make: await renderAs(name) });
      }
    }
    return outputs;
  };
  requireFolderName('svg', svg);
  requireFolderName('png', png);
  const page = await filesOf({ html });
  if (svg !== undefined || png !== undefined) {
    const { toPng } = await import('../report/png.js');
    page.push(...pictureOutputs(await draw(), { svg, png }, toPng));
  }
  return [...page, ...(await filesOf({ markdown, csv }))];
}

/**
 * Files of `--markdown` and `--csv` of a run: checked before anything is measured.
 * @param {Record<string, any>} options
 * @returns {Promise<{ write: (result: import('../lib/result.js').Result) => Promise<void> }>}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: it exists, or cannot be written
 */
export async function openReports({ markdown, csv, force = false }) {
  const named = Object.entries({ markdown, csv }).filter(([, file]) => typeof file === 'string');
  for (const [name, file] of named) await requireFree(path.resolve(file), file, force, `--${name}`);
  return {
    async write(result) {
      for (const [name, file] of named) {
        const { render } = await loadReport(name);
        await writeWhole(path.resolve(file), render(result));
      }
    },
  };
}
