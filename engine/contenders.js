/**
 * What takes part in a run: storages of the registry, or contenders that the workload brings
 * itself. What can run here and now is decided in targets.js.
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
 * @typedef {Pick<WorkloadDefinition, 'needs' | 'contenders'>} Choice what decides who takes part
 */

/**
 * @typedef {object} ContenderSource
 * @property {() => Promise<readonly string[]>} names what `all` stands for
 * @property {() => Promise<readonly string[]>} defaults what a run takes where nothing is named
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
 * @returns {import('../lib/types.js').Capability[]} what it needs and the contender does not have
 */
export function lackedBy({ needs, contenders }, contender) {
  if (contenders !== undefined) return [];
  const has = capabilitiesOf(/** @type {StorageDefinition} */ (contender));
  return needs.filter((need) => !has.includes(need));
}

/**
 * @param {Choice} workload
 * @param {Contender} contender
 * @param {any} context of its `open`
 * @returns {Promise<import('../lib/types.js').Handle>} of the kind that the workload needs
 * @throws {Error} where it has none
 */
export async function openContender({ needs, contenders }, contender, context) {
  if (contenders !== undefined) return /** @type {OwnContender} */ (contender).open(context);
  const kind = kindOf(needs);
  const open = /** @type {StorageDefinition} */ (contender).open[kind];
  if (open === undefined) throw new Error(`${contender.name} does not support ${kind}`);
  return open(context);
}
