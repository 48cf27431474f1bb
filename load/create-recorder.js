/** Chooses a recorder: the plain one, unless the load is open, mixed or traces each operation. */

import { DetailedRecorder } from './detailed-recorder.js';
import { Recorder } from './recorder.js';
import { TraceRecorder } from './trace-recorder.js';

/**
 * @param {number} startNs
 * @param {import('./load.js').LoadOptions} options
 * @returns {Recorder}
 */
export function createRecorder(startNs, { rate, kinds, windowNs, series, operations, recorder }) {
  if (recorder !== undefined) return recorder(startNs);
  if (series !== undefined) return new TraceRecorder(startNs, operations, windowNs);
  if (rate === undefined && kinds === undefined) return new Recorder(startNs, windowNs);
  const what = { service: rate !== undefined, kinds: kinds ?? null };
  return new DetailedRecorder(startNs, what, windowNs);
}
