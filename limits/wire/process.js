/**
 * A separate process for a group of points of the wire loop: names and numbers in, points out.
 */

import { fileURLToPath } from 'node:url';
import { DragstripError } from '../../lib/errors.js';
import { describeEnd, startChild } from '../../lib/node-child.js';

const CHILD = fileURLToPath(new URL('./child.js', import.meta.url));

/**
 * @typedef {object} WireSpec
 * @property {string} protocol name
 * @property {import('../../lib/types.js').Endpoint} endpoint
 * @property {Record<string, string> | null} credentialVariables environment variables to read them
 *   from
 * @property {import('../../lib/types.js').DatasetOptions} dataset
 * @property {number} connections
 * @property {readonly number[]} depths measured one after another
 * @property {number} warmNs before each, not measured
 * @property {number} measureNs
 * @property {number} stallMs
 * @property {readonly number[]} serverPids
 */

/**
 * @typedef {object} WireRecord
 * @property {import('./pump.js').WirePoint[]} points in the order of the depths
 * @property {import('./pump.js').WireCounts} counts
 */

/**
 * @callback WireExecutor
 * @param {WireSpec} spec
 * @param {{ signal?: AbortSignal }} [context]
 * @returns {Promise<WireRecord>}
 * @throws {DragstripError} what the loop threw; E_ABORTED; E_TARGET where the process died
 */

/** @type {WireExecutor} */
export async function runWire(spec, { signal } = {}) {
  const child = startChild(CHILD, { signal });
  /** @type {any} */
  let answer = null;
  child.on('message', (message) => {
    answer = message;
  });
  if (child.connected) child.send({ type: 'run', spec }, () => {});
  const ended = await child;
  if (answer?.type === 'done') return { points: answer.points, counts: answer.counts };
  if (signal?.aborted) throw new DragstripError('E_ABORTED', 'stopped in a wire loop');
  if (answer !== null) {
    const { code, message, hint } = answer.failure;
    throw new DragstripError(code, message, { hint });
  }
  throw new DragstripError('E_TARGET', `the wire loop’s process ${describeEnd(ended)}`);
}
