/** `dragstrip history FOLDER`: stored results over time, and where the level of a benchmark changed. */

import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { usageError } from '../../lib/errors.js';
import { historyOf } from '../../report/analysis/history.js';
import { readResult } from './report.js';

/** @typedef {{ file: string, result: import('../../lib/result.js').Result }} StoredResult */

/**
 * @param {import('../main.js').CommandContext} context
 * @returns {Promise<number>} exit status
 */
export async function execute({ args: [folder], options, stdout }) {
  const { html, svg, png, theme, metric, benchmark: benchmarks } = options;
  const { stored, left } = await readFolder(folder);
  if (stored.length === 0) {
    throw usageError(
      `${folder}: no result is in it`,
      'name a folder that --out or `npm start` has written to',
    );
  }
  const results = stored.map(({ result }) => result);
  const histories = historyOf(results, { benchmarks, metric });
  if (benchmarks !== undefined && histories.length === 0) {
    throw usageError(
      `--benchmark ${benchmarks.join(', ')}: no such benchmark is in two results or more`,
      'without --benchmark all are listed',
    );
  }
  const report = await import('../../report/history.js');
  if ([html, svg, png].some((place) => place !== undefined)) {
    const [{ pictureOutputs, writeOutputs }, { plotPicture }, { toPng }] = await Promise.all([
      import('../outputs.js'),
      import('../../report/svg.js'),
      import('../../report/png.js'),
    ]);
    const pictures =
      svg === undefined && png === undefined
        ? []
        : report
            .plotsOfHistory(histories, metric)
            .map((plot) => ({ name: plot.id, svg: plotPicture(plot, { theme }) }));
    const page = {
      flag: '--html',
      file: html,
      make: () => report.renderHistoryPage(stored, histories, { metric }),
    };
    const outputs = [
      ...(html === undefined ? [] : [page]),
      ...pictureOutputs(pictures, { svg, png }, toPng),
    ];
    for (const file of await writeOutputs(outputs, options)) stdout.write(`${file}\n`);
    return 0;
  }
  const width = stdout.columns;
  stdout.write(report.renderHistory(stored, histories, { metric, width, left }));
  return 0;
}

/**
 * @param {string} folder
 * @returns {Promise<{ stored: StoredResult[], left: string[] }>} left: files that are no results
 */
async function readFolder(folder) {
  /** @type {string[]} */
  let names;
  try {
    names = await readdir(folder);
  } catch (error) {
    throw usageError(`${folder}: cannot be read (${error.code})`, 'name a folder of results');
  }
  /** @type {StoredResult[]} */
  const stored = [];
  /** @type {string[]} */
  const left = [];
  for (const name of names.filter((one) => one.endsWith('.json')).sort()) {
    const file = path.join(folder, name);
    try {
      stored.push({ file, result: await readResult(file) });
    } catch (error) {
      if (error.code !== 'E_USAGE') throw error;
      left.push(error.message);
    }
  }
  return { stored, left };
}
