/** One picture of a run of inserts, as SVG. */

import { usageError } from '../lib/errors.js';
import { toGroups } from './analysis/rows.js';
import insert from './plots/insert.js';
import { plotContext } from './plots/plot.js';
import { plotPicture } from './svg.js';

/**
 * @param {import('../lib/result.js').Result} result
 * @returns {string}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE where nothing was inserted
 */
export function insertPicture(result) {
  const [plot] = insert.build(plotContext(result, toGroups(result)));
  if (plot === undefined) throw usageError('there is no plot: no insert was measured');
  return plotPicture(plot, { subtitle: `${result.id}, Dragstrip ${result.dragstrip}` });
}
