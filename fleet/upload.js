/** What an agent uploads of a step, as text: JSON, deflated, since histograms are mostly small numbers. */

import { deflateRawSync, inflateRawSync } from 'node:zlib';

/**
 * @typedef {object} Upload what came of one benchmark of one round on one agent
 * @property {import('../engine/executor.js').Execution[]} executions of its processes
 * @property {(import('../engine/slices/timed-round.js').TimedContender | null)[]} [contenders] of a
 *   round of slices in its place; null: it did not run here
 * @property {{ code: string, message: string } | null} failure why there is none
 * @property {import('./clock.js').ClockReading} clock compared after it
 * @property {Record<string, number | null>} targets ns to open a connection to each server
 */

/** @param {Upload} upload @returns {string} */
export function packUpload(upload) {
  return deflateRawSync(JSON.stringify(upload)).toString('base64');
}

/** @param {string} text @returns {Upload} */
export function unpackUpload(text) {
  return JSON.parse(inflateRawSync(Buffer.from(text, 'base64')).toString());
}
