/** The ratio of two series of rounds as in a table. */

import { ratioMetric } from '../../workloads/paired-ratio.js';

/**
 * @param {import('../../workloads/paired-ratio.js').Rounds | undefined} a
 * @param {import('../../workloads/paired-ratio.js').Rounds | undefined} b
 * @returns {import('../../lib/report-types.js').Value}
 */
export function pairedRatio(a, b) {
  const { of } = ratioMetric({ key: 'ratio' }, () => [a, b]);
  return of(/** @type {any} */ ({}), /** @type {any} */ ({}));
}
