/**
 * Embedded stores are filled before anything is measured: their files are our own. One that cannot
 * be filled (a full disk, a folder that is not writable) cannot run, like one without its server.
 */

import { createDataset } from '../lib/dataset.js';
import { targetError } from '../lib/errors.js';
import { rowsOf } from './value-sizes.js';

/** @typedef {import('./benchmarks.js').Job} Job */

const FILL_HINT = 'free some space, or set DRAGSTRIP_HOME to a folder that you may write to';

/**
 * @param {Job[]} jobs
 * @param {Pick<import('./runner.js').RunContext, 'signal' | 'onEvent'> & { folder: string,
 *   dataset: import('../lib/types.js').DatasetOptions }} context folder: of their files
 * @returns {Promise<Job[]>} those that can run
 * @throws {import('../lib/errors.js').DragstripError} E_TARGET where the user named one that
 *   cannot,
 *   E_REFUSED where a file was not created by Dragstrip
 */
export async function fillEmbedded(jobs, { signal, onEvent, folder, dataset: rows }) {
  /** @type {Map<string, string | null>} name to why it could not be filled */
  const done = new Map();
  /** @type {Set<string>} name and dataset */
  const begun = new Set();
  for (const { target, load } of jobs) {
    const { name, fill } = target.definition;
    const dataset = createDataset(rowsOf({ load: load.load, dataset: rows }).dataset);
    const key = `${name} ${dataset.valueSize}`;
    if (fill === undefined || begun.has(key) || done.get(name) || signal?.aborted) continue;
    begun.add(key);
    onEvent?.({ type: 'filling', storage: name });
    try {
      await target.definition.fill?.({ dataset, folder, signal });
    } catch (error) {
      if (signal?.aborted) continue;
      if (error.code === 'E_REFUSED') throw error;
      done.set(name, `its rows could not be written: ${error.message}`);
    }
  }
  for (const { target, benchmark } of jobs) {
    const reason = done.get(target.definition.name) ?? null;
    if (reason === null) continue;
    if (target.named) throw targetError(`storage ${target.definition.name}: ${reason}`, FILL_HINT);
    Object.assign(benchmark, { state: 'skipped', reason, hint: FILL_HINT });
  }
  return jobs.filter(({ benchmark }) => benchmark.state !== 'skipped');
}
