/** The plots of results as standalone pictures with file names. */

import { loadReports } from '../workloads/index.js';
import { comparisonDocument } from './comparison.js';
import { documentOf } from './document.js';
import { contendersOf, plotsOf } from './plots/index.js';
import { plotPicture } from './svg.js';

/** @typedef {import('../lib/result.js').Result} Result */
/** @typedef {import('../lib/report-types.js').Document} Document */
/** @typedef {{ name: string, svg: string }} Picture */

/**
 * @typedef {{ comparison?: import('./analysis/comparison.js').Comparison | null, theme?: 'light' |
 *   'dark' }} PictureOptions comparison: comparison of several results
 */

/**
 * @returns {Promise<(results: readonly Result[], options?: PictureOptions) => Picture[]>}
 */
export async function loadPictures() {
  const specs = await loadReports();
  return (results, { comparison = null, ...options } = {}) => [
    ...(comparison === null ? [] : picturesOf([comparisonDocument(comparison)], options)),
    ...picturesOf(
      results.map((result) => documentOf(result, specs)),
      options,
    ),
  ];
}

/**
 * @param {readonly Document[]} documents
 * @param {{ theme?: 'light' | 'dark' }} [options]
 * @returns {Picture[]}
 */
export function picturesOf(documents, { theme = 'light' } = {}) {
  const contenders = contendersOf(documents);
  return documents.flatMap((document, i) => {
    const prefix = documents.length === 1 ? '' : `r${i + 1}-`;
    const { subtitle } = document;
    return plotsOf(document, contenders).map((plot) => ({
      name: `${prefix}${plot.id}`,
      svg: plotPicture(plot, { theme, subtitle }),
    }));
  });
}
