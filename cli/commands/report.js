/**
 * `dragstrip report FILE…`: stored results on the standard output, or as files: a page, pictures of
 * the plots, markdown, CSV. Several results are set side by side.
 */

import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { usageError } from '../../lib/errors.js';
import { parseResult } from '../../lib/parse-result.js';
import { loadForPullRequest, loadReport } from '../../report/index.js';

/** A result of a thousand rounds has some hundred megabytes; a packed file may claim any size. */
const UNPACKED_MAX = 512 * 2 ** 20;

/** @typedef {import('../../lib/result.js').Result} Result */
/** @typedef {import('../outputs.js').Output} Output */

/**
 * @param {import('../main.js').CommandContext} context
 * @returns {Promise<number>} exit status
 */
export async function execute({ args, options, stdout }) {
  const { html, svg, png, markdown, csv, explain, for: audience } = options;
  if (audience !== undefined && options.format !== 'markdown' && markdown === undefined) {
    throw usageError(
      `--for ${audience}: it is markdown`,
      'add --format markdown or --markdown FILE',
    );
  }
  const asFiles = [html, svg, png, markdown, csv].some((place) => place !== undefined);
  const isShort = audience === 'pr';
  const { render } = await (isShort ? loadForPullRequest : loadReport)(options.format ?? 'console');
  // All are read before one is shown: a wrong file among them shows nothing half.
  const results = await Promise.all(args.map((file) => readResult(file, options)));
  if (asFiles) {
    const { writeOutputs } = await import('../outputs.js');
    const outputs = await outputsOf(results, args, options);
    for (const file of await writeOutputs(outputs, options)) stdout.write(`${file}\n`);
    if (options.format === undefined) return 0;
  }
  const color = stdout.isTTY === true && stdout.hasColors();
  const comparison =
    options.format === 'html' && results.length > 1 ? await compare(results, args) : null;
  const how = { width: stdout.columns || undefined, color, comparison, explain };
  stdout.write(`${render(results, how).trimEnd()}\n`);
  return 0;
}

/**
 * @param {Result[]} results
 * @param {string[]} files their names
 * @param {Record<string, any>} options
 * @returns {Promise<Output[]>}
 */
async function outputsOf(results, files, { html, svg, png, markdown, csv, theme, ...more }) {
  /** @type {Output[]} */
  const outputs = [];
  const comparison = results.length < 2 ? null : await compare(results, files);
  if (html !== undefined) {
    const { render } = await loadReport('html');
    outputs.push({ flag: '--html', file: html, make: () => render(results, { comparison }) });
  }
  if (svg !== undefined || png !== undefined) {
    const [{ loadPictures }, { toPng }, { pictureOutputs }] = await Promise.all([
      import('../../report/pictures.js'),
      import('../../report/png.js'),
      import('../outputs.js'),
    ]);
    const picturesOf = await loadPictures();
    outputs.push(
      ...pictureOutputs(picturesOf(results, { comparison, theme }), { svg, png }, toPng),
    );
  }
  if (markdown !== undefined) {
    const isShort = more['for'] === 'pr';
    const { render } = await (isShort ? loadForPullRequest : loadReport)('markdown');
    outputs.push({ flag: '--markdown', file: markdown, make: () => render(results) });
  }
  if (csv !== undefined) {
    const { render } = await loadReport('csv');
    outputs.push({ flag: '--csv', file: csv, make: () => render(results) });
  }
  return outputs;
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
 * @param {string} file
 * @param {{ trust?: boolean }} [options]
 * @returns {Promise<Result>}
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE
 */
export async function readResult(file, { trust } = {}) {
  let bytes;
  try {
    bytes = await readFile(file);
  } catch (error) {
    throw usageError(`${file}: cannot be read (${error.code})`, 'name a stored result');
  }
  return parseResult(textOf(bytes, file), file, { trust });
}

/**
 * @param {Buffer} bytes plain, or packed as a page offers it for download
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
