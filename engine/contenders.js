/**
 * Contenders of a run: storages of the registry, or contenders supplied by the workload. targets.js
 * decides which of them can run on this machine.
 */

import { capabilitiesOf, kindOf } from '../lib/capabilities.js';
import {
  loadStorage,
  parseSelection,
  splitSelection,
  storageNamesFor,
  withoutAlternatives,
} from '../storages/index.js';

/** @typedef {import('../lib/types.js').Contender} Contender */
/** @typedef {import('../lib/types.js').OwnContender} OwnContender */
/** @typedef {import('../lib/types.js').StorageDefinition} StorageDefinition */
/** @typedef {import('../lib/types.js').WorkloadDefinition} WorkloadDefinition */

/**
 * @typedef {Pick<WorkloadDefinition, 'needs' | 'contenders'>} Choice selection of participants
 */

/**
 * @typedef {object} ContenderSource
 * @property {() => Promise<readonly string[]>} names the names that `all` includes
 * @property {() => Promise<readonly string[]>} defaults the names used by default
 * @property {(source: string) => Promise<Contender>} load by name or path of a file
 * @property {(text: string) => import('../storages/index.js').Selection} parse
 */

/**
 * @param {Choice} workload
 * @returns {ContenderSource}
 */
export function contendersOf({ needs, contenders }) {
  if (contenders === undefined) {
    const names = () => storageNamesFor(needs);
    const defaults = async () => withoutAlternatives(await names());
    return { names, defaults, load: loadStorage, parse: parseSelection };
  }
  return {
    names: async () => contenders.names(),
    defaults: async () => contenders.names(),
    load: (source) => contenders.load(source),
    parse: splitSelection,
  };
}

/**
 * @param {Choice} workload
 * @param {Contender} contender
 * @returns {import('../lib/types.js').Capability[]} required operations that the contender lacks
 */
export function lackedBy({ needs, contenders }, contender) {
  if (contenders !== undefined) return [];
  const has = capabilitiesOf(/** @type {StorageDefinition} */ (contender));
  return needs.filter((need) => !has.includes(need));
}

/**
 * @param {Choice} workload
 * @param {Contender} contender
 * @param {any} context context of its `open`
 * @returns {Promise<import('../lib/types.js').Handle>} handle of the kind that the workload
 *   requires
 * @throws {Error} the contender has no such kind
 */
export async function openContender({ needs, contenders }, contender, context) {
  if (contenders !== undefined) return /** @type {OwnContender} */ (contender).open(context);
  const kind = kindOf(needs);
  const open = /** @type {StorageDefinition} */ (contender).open[kind];
  if (open === undefined) throw new Error(`${contender.name} does not support ${kind}`);
  return open(context);
}
