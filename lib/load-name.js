/** How a load is called in a sentence. */

import { formatCount, formatThroughput } from './format.js';

/**
 * @param {import('./result.js').Load} load
 * @returns {string} `sync`, `window of 100 by 2 processes`, `2,000/s`
 */
export function loadName({ kind, inFlight, rate, processes = 1 }) {
  const by = processes === 1 ? '' : ` by ${processes} processes`;
  if (kind === 'rate') return `${formatThroughput(rate ?? null)}/s${by}`;
  return `${kind === 'window' ? `window of ${formatCount(inFlight)}` : kind}${by}`;
}
