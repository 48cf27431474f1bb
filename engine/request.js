/**
 * From the options of a run to its plan; loads the workload and the storages that they name.
 */

import { DEFAULT_WORKLOAD, loadWorkload } from '../workloads/index.js';
import { contendersOf } from './contenders.js';
import { parseRunOptions, planParsed } from './plan.js';

/** @typedef {import('../lib/types.js').WorkloadDefinition} WorkloadDefinition */

/**
 * @typedef {object} RunRequest
 * @property {import('./plan.js').RunPlan} plan
 * @property {WorkloadDefinition} workload
 * @property {Record<string, any>} options parsed options, with defaults
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
  const request = first ? { test: first, ...options } : options;
  const parsed = parseRunOptions(request, named, how);
  const { storages } = parsed.values;
  const files = named.filesIn?.(parsed.values) ?? [];
  const chosen = named.plan === undefined ? [] : await chooseStorages(named, storages, files);
  const plan = planParsed(parsed, named, chosen);
  const main = named.preset === undefined ? name : named.name;
  const workload = plan.workload === main ? named : await loadWorkload(plan.workload);
  return { plan, workload, options: parsed.values };
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
 * @param {readonly string[] | undefined} given selections of storages as written; absent: all
 * @param {readonly string[]} files storage files that other options name
 * @returns {Promise<import('../lib/types.js').ChosenStorage[]>} whether it is `all` or `name:all`,
 *   which need no definition
 */
async function chooseStorages(workload, given, files) {
  const { defaults, load, parse } = contendersOf(workload);
  return Promise.all(
    [...(given ?? (await defaults())), ...files].map(async (text) => {
      if (/^all$|:all$/.test(text.trim())) return { text, profile: 'all', definition: null };
      const { source, profile } = parse(text);
      return { text, profile, definition: /** @type {any} */ (await load(source)) };
    }),
  );
}
