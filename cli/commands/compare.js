/**
 * `dragstrip compare A.json B.json …`: find the significant differences between results. The first
 * one is the reference.
 */

import { EXIT_STATUS, usageError } from '../../lib/errors.js';
import { compareResults } from '../../report/analysis/comparison.js';
import { comparisonDocument } from '../../report/comparison.js';
import { loadDocumentReport, loadReport } from '../../report/index.js';
import { fittedTo } from '../session.js';
import { openStore } from '../storage.js';
import { readResults } from './report.js';

/** @typedef {import('../../report/analysis/comparison.js').Comparison} Comparison */

/** Maximum number of differences in a message; without --fail-if-slower the report has all. */
const NAMED_MAX = 6;

/**
 * @param {import('../main.js').CommandContext} context
 * @returns {Promise<number>} exit status: 6 if a benchmark is slower by more than --fail-if-slower
 */
export async function execute({ args, options, stdout }) {
  if (args.length < 2) {
    throw usageError(
      'compare needs at least two results',
      'name two or more: npx dragstrip compare A.json B.json',
    );
  }
  const store = await openStore(options);
  const results = await readResults(args, options);
  const [base, ...others] = results.map((result, i) => ({ result, file: args[i] }));
  const { failIfSlower = null, ignoreConditions = false } = options;
  const comparison = compareResults(base, others, { failIfSlower });
  requireCommon(comparison);
  if (failIfSlower !== null && !ignoreConditions) requireComparable(comparison);
  const { format = 'console' } = options;
  const shown = fittedTo(stdout);
  if (format === 'html') {
    const { render } = await loadReport(format); // a page shows the results beside the comparison
    stdout.write(render(results, { ...shown, comparison }));
  } else {
    const render = await loadDocumentReport(format);
    stdout.write(render(comparisonDocument(comparison), shown));
  }
  if (store !== null) {
    await store.write(comparison);
    stdout.write(`\ncomparison: ${store.file()}\n`);
  }
  return comparison.regressions > 0 ? EXIT_STATUS.E_REGRESSION : 0;
}

/**
 * @param {Comparison} comparison
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE: two results have no benchmark in
 *   common
 */
function requireCommon({ base, others }) {
  for (const { file, benchmarks } of others) {
    if (benchmarks.length > 0) continue;
    throw usageError(
      `${base.file} and ${file} have no benchmark in common that was measured in both`,
      'npx dragstrip report FILE lists the benchmarks of a result',
    );
  }
}

/**
 * A gate must not be decided by a difference in conditions.
 * @param {Comparison} comparison
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE, listing the differences
 */
function requireComparable({ base, others }) {
  for (const { file, differences } of others) {
    if (differences.length === 0) continue;
    const named = differences
      .slice(0, NAMED_MAX)
      .map(({ what, base: one, other }) => `${what} (${one}; ${other})`);
    const more = differences.length - named.length;
    throw usageError(
      `--fail-if-slower: ${base.file} and ${file} are not comparable, they differ in ` +
        `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`,
      'compare runs of the same kind, or add --ignore-conditions',
    );
  }
}
