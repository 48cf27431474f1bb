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
  const chosen = named.plan === undefined ? [] : await chooseStorages(named, asked.storages);
  const [first] = Object.keys(named.tests ?? {});
  const whole = first ? { test: first, ...options } : options;
  const taken = takeGiven(whole, named, how);
  const plan = planTaken(taken, named, chosen);
  const workload = plan.workload === name ? named : await loadWorkload(plan.workload);
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
  const { defaults, load, parse } = contendersOf(workload);
  const { storages: own } = shared;
  const byDefault = Array.isArray(own) ? own : /** @type {any} */ (own)?.default;
  const texts = given ?? byDefault ?? (await defaults());
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
