/**
 * From the options of a run to its plan: the workload and the storages that they name are loaded.
 */

import { DEFAULT_WORKLOAD, loadWorkload } from '../workloads/index.js';
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
  const { workload: name = DEFAULT_WORKLOAD } = asked;
  const named = await loadWorkload(String(name));
  const [first] = Object.keys(named.tests ?? {});
  const whole = first ? { test: first, ...options } : options;
  const taken = takeGiven(whole, named, how);
  const { storages } = taken.values;
  const chosen = named.plan === undefined ? [] : await chooseStorages(named, storages);
  const plan = planTaken(taken, named, chosen);
  const own = named.preset === undefined ? name : named.name;
  const workload = plan.workload === own ? named : await loadWorkload(plan.workload);
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
 * @param {readonly string[] | undefined} given storages as they are written; absent: all
 * @returns {Promise<import('../lib/types.js').ChosenStorage[]>} `all`, `name:all`: no definition
 */
async function chooseStorages(workload, given) {
  const { defaults, load, parse } = contendersOf(workload);
  return Promise.all(
    (given ?? (await defaults())).map(async (text) => {
      if (/^all$|:all$/.test(text.trim())) return { text, profile: 'all', definition: null };
      const { source, profile } = parse(text);
      return { text, profile, definition: /** @type {any} */ (await load(source)) };
    }),
  );
}
