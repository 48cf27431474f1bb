/**
 * `dragstrip report FILE…`: prints stored results, or writes them to files: a page, pictures of the
 * plots, Markdown, CSV. Several results are shown side by side.
 */

import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { unreadable, usageError } from '../../lib/errors.js';
import { parseResult } from '../../lib/parse-result.js';
import { loadReport } from '../../report/index.js';
import { outputsOf, writeOutputs } from '../outputs.js';
import { fittedTo } from '../session.js';

/**
 * A result of a thousand rounds has some hundred megabytes; a packed file can unpack to any size.
 */
const UNPACKED_MAX = 512 * 2 ** 20;

/** @typedef {import('../../lib/result.js').Result} Result */

/**
 * @param {import('../main.js').CommandContext} context
 * @returns {Promise<number>} exit status
 */
export async function execute({ args, options, stdout }) {
  const { html, svg, png, markdown, csv, explain } = options;
  const asFiles = [html, svg, png, markdown, csv].some((place) => place !== undefined);
  const { render } = await loadReport(options.format ?? 'console');
  // All files are read before any is shown, so a wrong file among them leaves no partial output.
  const results = await readResults(args, options);
  if (asFiles) {
    const outputs = await filesOf(results, args, options);
    for (const file of await writeOutputs(outputs, options)) stdout.write(`${file}\n`);
    if (options.format === undefined) return 0;
  }
  const comparison =
    options.format === 'html' && results.length > 1 ? await compare(results, args) : null;
  const how = { ...fittedTo(stdout), comparison, explain };
  stdout.write(`${render(results, how).trimEnd()}\n`);
  return 0;
}

/**
 * @param {Result[]} results
 * @param {string[]} files
 * @param {Record<string, any>} options
 */
async function filesOf(results, files, options) {
  const { theme } = options;
  const comparison = results.length < 2 ? null : await compare(results, files);
  return outputsOf(
    options,
    async (name) => {
      const { render } = await loadReport(name);
      return () => render(results, name === 'html' ? { comparison } : {});
    },
    async () => {
      const { loadPictures } = await import('../../report/pictures.js');
      return (await loadPictures())(results, { comparison, theme });
    },
  );
}

/**
 * @param {Result[]} results
 * @param {string[]} files
 */
async function compare(results, files) {
  const { compareResults } = await import('../../report/analysis/comparison.js');
  const [base, ...others] = results.map((result, i) => ({ result, file: files[i] }));
  return compareResults(base, others);
}

/**
 * @param {readonly string[]} files
 * @param {{ trust?: boolean }} options
 * @returns {Promise<Result[]>}
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE for the first file that is not a
 *   result
 */
export async function readResults(files, options) {
  const results = [];
  for (const file of files) results.push(await readResult(file, options));
  return results;
}

/**
 * @param {string} file
 * @param {Parameters<typeof parseResult>[2]} [options]
 * @returns {Promise<Result>} with a warning if the digest is missing
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE
 */
export async function readResult(file, options = {}) {
  let bytes;
  try {
    bytes = await readFile(file);
  } catch (error) {
    throw usageError(`${file}: ${unreadable(error)}`, 'name a stored result');
  }
  const { trust, digest = /** @type {const} */ ('expected') } = options;
  return parseResult(textOf(bytes, file), file, { trust, digest });
}

/**
 * @param {Buffer} bytes plain, or packed as in the download of a page
 * @param {string} file
 * @returns {string}
 */
function textOf(bytes, file) {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes.toString();
  try {
    return gunzipSync(bytes, { maxOutputLength: UNPACKED_MAX }).toString();
  } catch (error) {
    throw usageError(`${file}: cannot be unpacked (${error.code})`, 'download it again');
  }
}
