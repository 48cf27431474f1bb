/** One picture of a run of codecs, as SVG. */

import { usageError } from '../lib/errors.js';
import codec from './plots/codec.js';
import { plotContext } from './plots/plot.js';
import { plotPicture } from './svg.js';

/**
 * @param {import('../lib/result.js').Result} result
 * @returns {string} of the first protocol
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE where no codec was measured
 */
export function codecPicture(result) {
  const [plot] = codec.build(plotContext(result, []));
  if (plot === undefined) throw usageError('there is no plot: no codec was measured');
  return plotPicture(plot, { subtitle: `${result.id}, Dragstrip ${result.dragstrip}` });
}
