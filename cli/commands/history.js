/**
 * `dragstrip history FOLDER`: stored results over time with the changes of level of each benchmark,
 * in the formats of every report.
 */

import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { unreadable, usageError } from '../../lib/errors.js';
import { historyOf } from '../../report/analysis/history.js';
import { historyDocument } from '../../report/history.js';
import { loadDocumentReport } from '../../report/index.js';
import { outputsOf, writeOutputs } from '../outputs.js';
import { fittedTo } from '../session.js';
import { readResult } from './report.js';

/** @typedef {{ file: string, result: import('../../lib/result.js').Result }} StoredResult */

/**
 * @param {import('../main.js').CommandContext} context
 * @returns {Promise<number>} exit status
 */
export async function execute({ args: [folder], options, stdout }) {
  const { theme, metric, benchmark: benchmarks, format } = options;
  const render = await loadDocumentReport(format ?? 'console');
  const { stored, left } = await readFolder(folder, options);
  if (stored.length === 0) {
    throw usageError(
      `${folder}: contains no results`,
      'name a folder that --out or `npm start` has written to',
    );
  }
  const results = stored.map(({ result }) => result);
  const histories = historyOf(results, { benchmarks, metric });
  if (benchmarks !== undefined && histories.length === 0) {
    throw usageError(
      `--benchmark ${benchmarks.join(', ')}: no such benchmark in two or more results`,
      'omit --benchmark to list all benchmarks',
    );
  }
  const document = historyDocument(stored, histories, { metric, left });
  const outputs = await outputsOf(
    options,
    async (name) => {
      const renderFile = await loadDocumentReport(name);
      return () => renderFile(document);
    },
    async () => {
      const { picturesOf } = await import('../../report/pictures.js');
      return picturesOf([document], { theme });
    },
  );
  for (const file of await writeOutputs(outputs, options)) stdout.write(`${file}\n`);
  if (outputs.length > 0 && format === undefined) return 0;
  stdout.write(`${render(document, fittedTo(stdout)).trimEnd()}\n`);
  return 0;
}

/**
 * @param {string} folder
 * @param {{ trust?: boolean }} options
 * @returns {Promise<{ stored: StoredResult[], left: string[] }>} left: files that are not results
 */
async function readFolder(folder, options) {
  /** @type {string[]} */
  let names;
  try {
    names = await readdir(folder);
  } catch (error) {
    throw usageError(`${folder}: ${unreadable(error)}`, 'name a folder of results');
  }
  /** @type {StoredResult[]} */
  const stored = [];
  /** @type {string[]} */
  const left = [];
  for (const name of names.filter((one) => /\.json(?:\.gz)?$/.test(one)).sort()) {
    const file = path.join(folder, name);
    try {
      stored.push({ file: name, result: await readResult(file, options) });
    } catch (error) {
      if (error.code !== 'E_USAGE') throw error;
      left.push(error.message.replace(file, name));
    }
  }
  return { stored, left };
}
