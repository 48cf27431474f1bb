/**
 * The result of a race is stored in any case, and its page beside it: where both go, and that their
 * places are free before anything is fetched or measured.
 */

import path from 'node:path';
import { loadReport } from '../report/index.js';
import { requireFree, writeWhole } from './storage.js';

/** Where results of a race go, where nothing else is said. */
const RACE_FOLDER = 'results';

/**
 * @param {Record<string, any>} options
 * @returns {{ json?: string, out?: string, force?: boolean }} where its result is stored
 */
export function placeOfRace({ json, out, force }) {
  return { json, out: out ?? (json === undefined ? RACE_FOLDER : undefined), force };
}

/** @param {string} file of a result */
function pageOf(file) {
  return `${file.replace(/\.json$/, '')}.html`;
}

/**
 * @param {Record<string, any>} options
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: a page is where ours would be
 */
export async function requirePage({ json, force }) {
  const page = pageOf(json);
  await requireFree(path.resolve(page), page, force === true, 'the page beside --json:');
}

/**
 * The page is made when all is measured and stored: its libraries are not in the way before.
 * @param {import('../lib/result.js').Result} result
 * @param {string} file of the result
 * @returns {Promise<string>} file of the page
 */
export async function writePage(result, file) {
  const { render } = await loadReport('html');
  const page = pageOf(file);
  await writeWhole(page, render(result));
  return page;
}
