/** One picture of a run of locks, as SVG. */

import { usageError } from '../lib/errors.js';
import { toGroups } from './analysis/rows.js';
import mutex from './plots/mutex.js';
import { plotContext } from './plots/plot.js';
import { plotPicture } from './svg.js';

/**
 * @param {import('../lib/result.js').Result} result
 * @returns {string} Test 1, or else Test 2
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE where neither was measured
 */
export function mutexPicture(result) {
  const [plot] = mutex.build(plotContext(result, toGroups(result)));
  if (plot === undefined) throw usageError('there is no plot: no lock was measured by keys');
  return plotPicture(plot, { subtitle: `${result.id}, Dragstrip ${result.dragstrip}` });
}
