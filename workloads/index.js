/** The registry of workloads: names to definitions, loaded when they are needed. */

import { usageError } from '../lib/errors.js';

/** @typedef {import('../lib/types.js').WorkloadDefinition} WorkloadDefinition */

/** @type {Record<string, () => Promise<{ workload: WorkloadDefinition }>>} */
const REGISTRY = {
  get: () => import('./get/index.js'),
  mix: () => import('./mix/index.js'),
  mget: () => import('./mget/index.js'),
  'mget-single': () => import('./mget/single.js'),
  mutex: () => import('./mutex/index.js'),
  commands: () => import('./commands/index.js'),
  insert: () => import('./insert/index.js'),
  codec: () => import('./codec/index.js'),
};

export const WORKLOAD_NAMES = Object.freeze(Object.keys(REGISTRY));

/**
 * @param {string} name
 * @returns {Promise<WorkloadDefinition>}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE where there is none of that name
 */
export async function loadWorkload(name) {
  if (Object.hasOwn(REGISTRY, name)) return (await REGISTRY[name]()).workload;
  throw usageError(`unknown workload "${name}"`, `the workloads: ${WORKLOAD_NAMES.join(', ')}`);
}
