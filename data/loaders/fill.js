/**
 * The steps of every load: check existing rows, write missing ones, count and sample, and only
 * then say that it is whole. What each step means is the server's own affair.
 */

import { targetError } from '../../lib/errors.js';
import { isWhole } from './marker.js';

/** @typedef {import('../../lib/types.js').Dataset} Dataset */
/** @typedef {import('./marker.js').Marker} Marker */

/**
 * @typedef {object} Finding
 * @property {string | null} fault description of what is wrong with the rows
 * @property {number} sampled rows compared in full
 */

/**
 * @param {object} steps
 * @param {string} steps.where the server as messages call it
 * @param {Dataset} steps.dataset
 * @param {Marker | null} steps.marker the mark found, if any
 * @param {() => number | Promise<number>} steps.rowsThere ids 1 to this need not be written again
 * @param {(keep: number) => Promise<void>} steps.write marks the rows as incomplete, then writes
 *   those above `keep` and removes those above the last
 * @param {() => Promise<Finding>} steps.verify counts all rows and samples some
 * @param {() => Promise<any>} steps.finish marks the rows as complete
 * @returns {Promise<import('../../lib/types.js').SeedReport>}
 * @throws {import('../../lib/errors.js').DragstripError} E_TARGET where rows do not stay written
 */
export async function fill({ where, dataset, marker, rowsThere, write, verify, finish }) {
  const { rows } = dataset;
  const whole = isWhole(marker, dataset);
  if (whole) {
    const { fault, sampled } = await verify();
    if (fault === null) return { rows, written: false, sampled };
  }
  let keep = whole ? 0 : await rowsThere();
  for (;;) {
    await write(keep);
    const { fault, sampled } = await verify();
    if (fault === null) {
      await finish();
      return { rows, written: true, sampled };
    }
    if (keep === 0) {
      throw targetError(
        `${where}: rows just written are missing: ${fault}`,
        'check whether it evicts or expires rows, or whether another client changes them',
      );
    }
    // The rows differ from an earlier load's marker: all are written again, once.
    keep = 0;
  }
}
