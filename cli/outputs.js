/**
 * The files that a report is written to: all places are checked before one is written, so that a
 * taken name leaves nothing half done; each file is whole or not there.
 */

import path from 'node:path';
import { requireFree, writeWhole } from './storage.js';

/**
 * @typedef {object} Output
 * @property {string} flag of the option that asks for it, for messages
 * @property {string} file as the user wrote it, or in the folder that the user named
 * @property {() => string | Uint8Array} make
 */

/**
 * @param {readonly Output[]} outputs
 * @param {{ force?: boolean }} options
 * @returns {Promise<string[]>} the files, as they were named
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: taken, or cannot be written; E_STORE
 */
export async function writeOutputs(outputs, { force = false }) {
  for (const { flag, file } of outputs) await requireFree(path.resolve(file), file, force, flag);
  for (const { file, make } of outputs) await writeWhole(path.resolve(file), make());
  return outputs.map(({ file }) => file);
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
 * The files that the options of a report name.
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
  const page = await filesOf({ html });
  if (svg !== undefined || png !== undefined) {
    const { toPng } = await import('../report/png.js');
    page.push(...pictureOutputs(await draw(), { svg, png }, toPng));
  }
  return [...page, ...(await filesOf({ markdown, csv }))];
}
