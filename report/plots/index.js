/** The plots of documents, by kind: what reports of workloads declare, from their tables. */

import { usageError } from '../../lib/errors.js';
import { bars } from './bars.js';
import { dots } from './dots.js';
import { lines } from './lines.js';
import { plotContext } from './plot.js';
import { scatter } from './scatter.js';
import { timeline } from './timeline.js';

/**
 * @type {Readonly<Record<string, (tables: readonly import('../../lib/report-types.js').Table[],
 *   spec: any, context: import('./plot.js').PlotContext) => import('./plot.js').Plot[]>>}
 */
const KINDS = Object.freeze({ bars, dots, lines, scatter, timeline });

/**
 * @param {import('../../lib/report-types.js').Document} document
 * @param {readonly string[]} [contenders] of several documents that share their colours
 * @returns {import('./plot.js').Plot[]}
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE: a kind that is not known
 */
export function plotsOf({ parts, contenders: own }, contenders = own) {
  const context = plotContext(contenders);
  const plots = parts.flatMap(({ plots: specs, tables }) =>
    specs.flatMap((spec) => kindOf(spec.kind)(tables, spec, context)),
  );
  return withOwnIds(plots);
}

/** @param {string} kind */
function kindOf(kind) {
  if (Object.hasOwn(KINDS, kind)) return KINDS[kind];
  throw usageError(
    `plot of kind ${JSON.stringify(kind)}: not known`,
    `a report names one of ${Object.keys(KINDS).join(', ')}`,
  );
}

/**
 * @param {readonly import('../../lib/report-types.js').Document[]} documents
 * @returns {string[]} the contenders of all, each once: the number of one is that of its colour
 */
export function contendersOf(documents) {
  return [...new Set(documents.flatMap(({ contenders }) => contenders))];
}

/**
 * @param {readonly import('./plot.js').Plot[]} plots
 * @returns {import('./plot.js').Plot[]} no two of one name: windows may differ in what the name
 *   leaves out
 */
function withOwnIds(plots) {
  /** @type {Map<string, number>} */
  const seen = new Map();
  return plots.map((plot) => {
    const n = (seen.get(plot.id) ?? 0) + 1;
    seen.set(plot.id, n);
    return n === 1 ? plot : { ...plot, id: `${plot.id}-${n}` };
  });
}
