/**
 * The result of a race is always stored, with its page beside it. Chooses both paths and checks
 * that they are free before anything is fetched or measured.
 */

import path from 'node:path';
import { requireFree, writeWhole } from './storage.js';

/** Default folder of race results. */
const RACE_FOLDER = 'results';

/**
 * @param {Record<string, any>} options
 * @returns {{ json?: string, out?: string, force?: boolean }} destination file of the result
 */
export function placeOfRace({ json, out, force }) {
  return { json, out: out ?? (json === undefined ? RACE_FOLDER : undefined), force };
}

/** @param {string} file file of a result */
function pageOf(file) {
  return `${file.replace(/\.json$/, '')}.html`;
}

/**
 * @param {Record<string, any>} options
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: the page exists already
 */
export async function requirePage({ json, force }) {
  const page = pageOf(json);
  await requireFree(path.resolve(page), page, force === true, 'the page beside --json:');
}

/**
 * The page is built after measuring and storing, so that its libraries are not loaded before.
 * @param {import('../lib/result.js').Result} result
 * @param {string} file file of the result
 * @returns {Promise<string>} path of the page
 */
export async function writePage(result, file) {
  const { loadReport } = await import('../report/index.js');
  const { render } = await loadReport('html');
  const page = pageOf(file);
  await writeWhole(page, render(result));
  return page;
}
