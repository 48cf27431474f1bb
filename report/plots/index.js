/** The plots of documents, by kind, as declared by the reports of workloads. */

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
 * @param {readonly string[]} [contenders] contenders of several documents with common colours
 * @returns {import('./plot.js').Plot[]}
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE: unknown kind
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
    `unknown kind of plot ${JSON.stringify(kind)}`,
    `available kinds: ${Object.keys(KINDS).join(', ')}`,
  );
}

/**
 * @param {readonly import('../../lib/report-types.js').Document[]} documents
 * @returns {string[]} distinct contenders of all; the index is the index of the colour
 */
export function contendersOf(documents) {
  return [...new Set(documents.flatMap(({ contenders }) => contenders))];
}

/**
 * @param {readonly import('./plot.js').Plot[]} plots
 * @returns {import('./plot.js').Plot[]} with unique names, since names may omit differences of
 *   windows
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
