/** A scatter as a script for gnuplot. */

import { NONE } from '../../lib/format.js';
import { groupName, scatterPoints, toFetchGroups } from './analysis.js';

/** @typedef {import('../../lib/result.js').Result} Result */

/** Default format of a plot: 8 by 5 inches on a screen. */
const PNG = 'set terminal png size 1000,640';

/**
 * A script for gnuplot 5 or later that writes a PNG to its standard output: the points inline, a
 * line by least squares and its equation.
 * @param {Result} result result of a scatter with one storage and one read method
 * @param {{ extra?: readonly string[] }} [options] extra: verbatim lines before the plot
 * @returns {string}
 */
export function gnuplotScript(result, { extra = [] } = {}) {
  const [group] = toFetchGroups(result);
  const source = group?.columns[0].source;
  const points = source === undefined ? [] : scatterPoints(source);
  const name = group === undefined ? NONE : groupName(group);
  const sizes = new Set(points.map(([keys]) => keys)).size;
  const dots = "$points using 1:2 with points pt 7 ps 0.5 title 'fetches'";
  const line = "f(x) with lines lw 2 title sprintf('%.6f x %+.6f', P_slope, P_intercept)";
  return [
    `# ${name}, ${source?.load.inFlight ?? 1} in flight; made by npx dragstrip mget scatter --gnuplot`,
    PNG,
    `set title '${name.replaceAll("'", "''")}, ${source?.load.inFlight ?? 1} in flight' noenhanced`,
    "set xlabel 'keys'",
    "set ylabel 'ms'",
    'set key left top noenhanced',
    'set grid',
    '$points << EOD',
    ...points.map(([keys, ns]) => `${keys}\t${(ns / 1e6).toFixed(6)}`),
    'EOD',
    // stats is exact and needs no start values; a single number of keys has no fit.
    ...(sizes > 1
      ? ["stats $points using 1:2 name 'P' nooutput", 'f(x) = P_slope * x + P_intercept']
      : []),
    ...extra,
    sizes > 1 ? `plot ${dots}, ${line}` : `plot ${dots}`,
    '',
  ].join('\n');
}
