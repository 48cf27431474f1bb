/**
 * Fills embedded stores before anything is measured, since their files belong to Dragstrip. A store
 * that cannot be filled (disk full, folder not writable) cannot run, like one without its server.
 */

import { createDataset } from '../lib/dataset.js';
import { isGone } from '../lib/error-code.js';
import { targetError } from '../lib/errors.js';
import { rowsOf } from './value-sizes.js';

/** @typedef {import('./benchmarks.js').Job} Job */

const FILL_HINT = 'free some space, or set DRAGSTRIP_HOME to a writable folder';
/** For a storage of a server that only its own file knows. */
const GONE_HINT = 'start the server that this storage fills, or correct its address';

/**
 * @param {Job[]} jobs
 * @param {Pick<import('./runner.js').RunContext, 'signal' | 'onEvent'> & { folder: string, dataset:
 *   import('../lib/types.js').DatasetOptions }} context folder: location of their files
 * @returns {Promise<Job[]>} targets that can run
 * @throws {import('../lib/errors.js').DragstripError} E_TARGET: a named storage cannot be filled;
 *   E_REFUSED: a file was not created by Dragstrip
 */
export async function fillEmbedded(jobs, { signal, onEvent, folder, dataset: rows }) {
  /** @type {Map<string, { reason: string, hint: string }>} why it could not be filled, by name */
  const done = new Map();
  /** @type {Set<string>} name and dataset */
  const begun = new Set();
  for (const { target, load } of jobs) {
    const { name, fill } = target.definition;
    const dataset = createDataset(rowsOf({ load: load.load, dataset: rows }).dataset);
    const key = `${name} ${dataset.valueSize}`;
    if (fill === undefined || begun.has(key) || done.has(name) || signal?.aborted) continue;
    begun.add(key);
    onEvent?.({ type: 'filling', storage: name });
    try {
      await target.definition.fill?.({ dataset, folder, signal });
    } catch (error) {
      if (signal?.aborted) continue;
      if (error.code === 'E_REFUSED') throw error;
      const reason = `its rows could not be written: ${error.message}`;
      done.set(name, { reason, hint: isGone(error) ? GONE_HINT : FILL_HINT });
    }
  }
  for (const { target, benchmark } of jobs) {
    const { name } = target.definition;
    const failure = done.get(name);
    if (failure === undefined) continue;
    const { reason, hint } = failure;
    if (target.named) throw targetError(`storage ${name}: ${reason}`, hint);
    Object.assign(benchmark, { state: 'skipped', reason, hint });
  }
  return jobs.filter(({ benchmark }) => benchmark.state !== 'skipped');
}
