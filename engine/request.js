/** From the options of a run to its plan: the workload and the storages that they name are loaded. */

import { loadWorkload } from '../workloads/index.js';
import { contendersOf } from './contenders.js';
import { planTaken, takeGiven } from './plan.js';

/** @typedef {import('../lib/types.js').WorkloadDefinition} WorkloadDefinition */

/**
 * @typedef {object} RunRequest
 * @property {import('./plan.js').RunPlan} plan
 * @property {WorkloadDefinition} workload
 * @property {Record<string, any>} options as they were taken, with their defaults
 */

/**
 * @param {import('./plan.js').RunOptions} options
 * @param {{ asText?: boolean }} [how] asText: values are texts of the command line
 * @returns {Promise<RunRequest>}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE
 */
export async function requestRun(options, how) {
  const asked = /** @type {any} */ (options ?? {});
  const named = typeof asked.workload === 'string' ? await loadWorkload(asked.workload) : null;
  const chosen = named?.plan === undefined ? [] : await chooseStorages(named, asked.storages);
  const taken = takeGiven(options, named, how);
  const plan = planTaken(taken, named, chosen);
  const isNamed = named !== null && plan.workload === asked.workload;
  const workload = isNamed ? named : await loadWorkload(plan.workload);
  return { plan, workload, options: taken.values };
}

/**
 * @param {import('./plan.js').RunOptions | RunRequest} options
 * @returns {options is RunRequest}
 */
export function isRequest(options) {
  return typeof options === 'object' && options !== null && typeof options.workload === 'object';
}

/**
 * @param {WorkloadDefinition} workload
 * @param {unknown} given storages as they are written
 * @returns {Promise<import('../lib/types.js').ChosenStorage[]>} `all`, `name:all`: no definition
 */
async function chooseStorages(workload, given) {
  const { shared = {} } = workload;
  const { names, load, parse } = contendersOf(workload);
  const { storages: own } = shared;
  const byDefault = Array.isArray(own) ? own : /** @type {any} */ (own)?.default;
  const texts = given ?? byDefault ?? (await names());
  const list = typeof texts === 'string' ? texts.split(',') : texts;
  if (!Array.isArray(list)) return []; // the plan refuses it
  return Promise.all(
    list.map(async (text) => {
      if (/^all$|:all$/.test(String(text).trim()))
        return { text, profile: 'all', definition: null };
      const { source, profile } = parse(String(text));
      return { text, profile, definition: /** @type {any} */ (await load(source)) };
    }),
  );
}
