/**
 * Latency as percentile curves, on an axis that gives each further nine of the percentile the same
 * room.
 */

import { plainText } from '../../lib/format.js';
import { loadName } from '../../lib/load-name.js';
import { mergedHistogram, percentileCurve } from '../analysis/curve.js';
import { curveSummary, curveTable, curveVariants } from './percentile-curves.js';
import { plainName, plotId, plottedRows, rowName } from './plot.js';

/** @typedef {import('./plot.js').Plot} Plot */
/** @typedef {import('./plot.js').Group} Group */

/** @typedef {import('./percentile-curves.js').Curve} Curve */

/** @type {import('./plot.js').PlotDefinition} */
export default {
  name: 'latency',
  summary: 'percentile curves',
  build: ({ groups, seriesOf }) =>
    groups
      .filter(({ load }) => load.kind !== 'rate')
      .flatMap((group) => {
        const curves = plottedRows(group).flatMap((row) => {
          const histogram = mergedHistogram(row.source);
          const points = histogram === null ? [] : percentileCurve(histogram);
          if (histogram === null || points.length < 2) return [];
          const name = rowName(row);
          const series = seriesOf(row.source);
          return [{ name, plain: plainName(row), series, points, histogram }];
        });
        return curves.length === 0 ? [] : [toPlot(group, curves)];
      }),
};

/**
 * @param {Group} group
 * @param {Curve[]} curves
 * @returns {Plot}
 */
function toPlot(group, curves) {
  return {
    id: plotId('latency', group),
    title: `Latency, ${plainText(group.workload)}, ${loadName(group.load)}`,
    summary: curveSummary(curves, 'Latency'),
    note:
      'Left: the fastest half; right: the slowest, one in a hundred, one in a thousand. Lower is ' +
      'better. Service times of all rounds together, drawn while at least ten values lie above. ' +
      (group.load.kind === 'burst'
        ? 'All requests are issued at once, so each one waits for those before it.'
        : ''),
    group,
    variants: curveVariants(curves),
    table: curveTable(curves, 'storage'),
  };
}
