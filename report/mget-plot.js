/** One picture of a run of many-key fetches, as SVG without gnuplot. */

import { usageError } from '../lib/errors.js';
import { toGroups } from './analysis/rows.js';
import mget from './plots/mget.js';
import { plotContext } from './plots/plot.js';
import { plotPicture } from './svg.js';

/**
 * @param {import('../lib/result.js').Result} result
 * @returns {string} of the first storage
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE where no fetch was measured
 */
export function fetchPicture(result) {
  const [plot] = mget.build(plotContext(result, toGroups(result)));
  if (plot === undefined) throw usageError('there is no plot: no fetch was measured');
  return plotPicture(plot, { subtitle: `${result.id}, Dragstrip ${result.dragstrip}` });
}
