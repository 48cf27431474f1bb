/** `dragstrip report FILE…`: stored results as console, markdown or CSV. */

import { readFile } from 'node:fs/promises';
import { loadReport } from '../../../report/index.js';
import { usageError } from '../../errors.js';
import { parseResult } from '../../result.js';

/**
 * @param {import('../main.js').CommandContext} context
 * @returns {Promise<number>} exit status
 */
export async function execute({ args, options, stdout }) {
  const { render } = await loadReport(options.format ?? 'console');
  // All are read before one is shown: a wrong file among them shows nothing half.
  const results = await Promise.all(args.map(readResult));
  const color = stdout.isTTY === true && stdout.hasColors();
  for (const [index, result] of results.entries()) {
    if (index > 0) stdout.write('\n');
    stdout.write(`${render(result, { width: stdout.columns, color }).trimEnd()}\n`);
  }
  return 0;
}

/**
 * @param {string} file
 * @returns {Promise<import('../../result.js').Result>}
 * @throws {import('../../errors.js').DragstripError} E_USAGE
 */
export async function readResult(file) {
  let text;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw usageError(`${file}: cannot be read (${error.code})`, 'name a stored result');
  }
  return parseResult(text, file);
}
