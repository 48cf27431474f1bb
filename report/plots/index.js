/**
 * The plots of a result, in the order in which a page shows them. Workloads name
 * theirs in their reports, by kind.
 */

import { toGroups } from '../analysis/rows.js';
import { bars } from './bars.js';
import cpu from './cpu.js';
import { dots } from './dots.js';
import { groupedBars } from './grouped-bars.js';
import latency from './latency.js';
import { lines } from './lines.js';
import memory from './memory.js';
import { percentiles } from './percentile-curves.js';
import { plotContext } from './plot.js';
import { scatter } from './scatter.js';
import { surface } from './surface.js';
import throughput from './throughput.js';
import timeline from './timeline.js';

/** @type {readonly import('./plot.js').PlotDefinition[]} */
export const PLOTS = Object.freeze([throughput, latency, cpu, memory, timeline]);

/**
 * What the reports of workloads name.
 * @type {Readonly<Record<string, (tables: readonly import('../../lib/report-types.js').Table[],
 *   spec: any, context: import('./plot.js').PlotContext) => import('./plot.js').Plot[]>>}
 */
const KINDS = Object.freeze({
  ...{ bars, dots, lines, percentiles, scatter, surface },
  'grouped-bars': groupedBars,
});

/**
 * @param {import('../../lib/result.js').Result} result
 * @param {readonly import('../document.js').Part[]} [parts] of its document
 * @param {readonly string[]} [labels] of labelsOf, where several results share their colours
 * @returns {{ plots: import('./plot.js').Plot[], context: import('./plot.js').PlotContext }}
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE where the result is damaged
 */
export function plotsOf(result, parts = [], labels = undefined) {
  const context = plotContext(result, toGroups(result), labels);
  const plots = [
    ...PLOTS.flatMap(({ build }) => build(context)),
    ...parts.flatMap(({ spec, tables }) =>
      (spec.plots ?? []).flatMap((plot) => KINDS[plot.kind](tables, plot, context)),
    ),
  ];
  return { plots: withOwnIds(plots), context };
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
