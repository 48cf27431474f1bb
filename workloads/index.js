/** The registry of workloads: names to definitions, loaded when they are needed. */

import { usageError } from '../lib/errors.js';

/** @typedef {import('../lib/types.js').WorkloadDefinition} WorkloadDefinition */

/** @type {Record<string, () => Promise<{ workload: WorkloadDefinition }>>} */
const REGISTRY = {
  get: () => import('./get.js'),
  mix: () => import('./mix.js'),
  mget: () => import('./mget.js'),
  'mget-single': () => import('./mget-single.js'),
  mutex: () => import('./mutex.js'),
  commands: () => import('./commands.js'),
  insert: () => import('./insert.js'),
  codec: () => import('./codec.js'),
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
