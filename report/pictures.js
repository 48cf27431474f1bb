/** The plots of results as pictures that stand alone, each with a name for its file. */

import { plainText } from '../lib/format.js';
import { loadReports } from '../workloads/index.js';
import { documentOf } from './document.js';
import { comparisonPlots } from './plots/comparison.js';
import { plotsOf } from './plots/index.js';
import { labelsOf } from './plots/plot.js';
import { plotPicture } from './svg.js';

/** @typedef {import('../lib/result.js').Result} Result */
/** @typedef {{ name: string, svg: string }} Picture */

/**
 * @returns {Promise<(results: readonly Result[], options?: PictureOptions) => Picture[]>}
 */
export async function loadPictures() {
  const specs = await loadReports();
  return (results, options) =>
    picturesOf(
      results.map((result) => documentOf(result, specs)),
      options,
    );
}

/**
 * @typedef {{ comparison?: import('./analysis/comparison.js').Comparison | null,
 *   theme?: 'light' | 'dark' }} PictureOptions comparison: of the results, where there are several
 */

/**
 * @param {readonly import('../lib/report-types.js').Document[]} documents
 * @param {PictureOptions} [options]
 * @returns {Picture[]}
 */
function picturesOf(documents, { comparison = null, theme = 'light' } = {}) {
  const results = documents.map(({ source }) => source);
  const labels = labelsOf(results);
  const compared = comparison === null ? [] : comparisonPlots(comparison);
  return [
    ...compared.map((plot) => ({ name: plot.id, svg: plotPicture(plot, { theme }) })),
    ...results.flatMap((result, i) => {
      const prefix = results.length === 1 ? '' : `r${i + 1}-`;
      const subtitle = subtitleOf(result);
      return plotsOf(result, documents[i].parts, labels).plots.map((plot) => ({
        name: `${prefix}${plot.id}`,
        svg: plotPicture(plot, { theme, subtitle }),
      }));
    }),
  ];
}

/** @param {Result} result */
function subtitleOf({ environment, startedAt, dragstrip }) {
  const { cpu, cores, node } = environment;
  return plainText(
    `Dragstrip ${dragstrip}, ${startedAt.slice(0, 10)}, Node ${node}, ` +
      `${cpu}, ${cores} ${cores === 1 ? 'core' : 'cores'}`,
  );
}
