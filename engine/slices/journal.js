/**
 * The round under way, into the result twice a second: a run that is killed leaves all but its
 * last second behind. It stays apart from the rounds, whose means must be of the same length, and
 * is removed when its round is complete.
 */

import { systemClock } from '../../measure/clock.js';
import { storedSlices } from './store.js';

/** @typedef {import('../../lib/comparison.js').StoredComparison} StoredComparison */
/** @typedef {import('./comparison.js').SoFar} SoFar */

const EVERY_NS = 0.5e9;
/** Nothing is measured while it is stored: that takes at most this share of the time. */
const SHARE_MAX = 0.05;

/**
 * @param {StoredComparison} stored
 * @param {Pick<import('./race.js').SliceContext, 'result' | 'onPartial'>} context
 * @param {import('../../measure/clock.js').Clock} [clock]
 * @returns {(soFar: SoFar) => Promise<void>} to call after each block
 */
export function keepJournal(stored, { result, onPartial }, clock = systemClock) {
  let nextNs = clock.now() + EVERY_NS;
  return async (soFar) => {
    const startNs = clock.now();
    if (startNs < nextNs) return;
    stored.unfinished = unfinishedOf(soFar, stored.loads.length);
    await onPartial?.(result);
    const endNs = clock.now();
    nextNs = Math.max(startNs + EVERY_NS, endNs + (endNs - startNs) / SHARE_MAX);
  };
}

/**
 * @param {SoFar} soFar
 * @param {number} loads
 * @returns {NonNullable<StoredComparison['unfinished']>}
 */
function unfinishedOf({ round, blocks, entrants, done }, loads) {
  return {
    round,
    blocks,
    loads: Array.from({ length: loads }, (_, load) =>
      entrants.flatMap(({ name, server }, i) => {
        const slices = done[i].slices[load];
        const invalid = slices.filter((slice) => slice?.valid === false).length;
        if (slices.every((slice) => slice === null)) return [];
        return [{ name, invalid, ...storedSlices(slices, { ofServer: server !== null }) }];
      }),
    ),
  };
}
