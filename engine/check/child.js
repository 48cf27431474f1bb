/**
 * The entry of a process in which a storage is checked: one check after the other, each answered by
 * a message. What the storage throws out of the event loop fails the check that runs.
 */

import path from 'node:path';
import { readCredentials } from '../../lib/credentials.js';
import { createDataset, ROW_NAMES } from '../../lib/dataset.js';
import { loadStorage, requireProfile } from '../../storages/index.js';
import { CHECKS } from './rows.js';

/** @type {(error: unknown) => void} */
let onUncaught = () => {};
process.on('uncaughtException', (error) => onUncaught(error));
process.on('unhandledRejection', (reason) => onUncaught(reason));
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => {});
process.on('disconnect', () => process.exit(0));

process.on('message', async (/** @type {any} */ { source, profile, ...spec }) => {
  const definition = await loadStorage(source);
  const context = {
    address: spec.address,
    names: ROW_NAMES,
    folder: path.join(spec.home, 'embedded'),
    credentials: await readCredentials(spec.credentialVariables),
    profile: requireProfile(definition, profile),
    dataset: createDataset(spec.dataset),
    writes: definition.rows?.includes('set') ?? false,
  };
  await definition.fill?.({ dataset: context.dataset, folder: context.folder });
  for (const check of CHECKS) process.send?.(await outcomeOf(check, { definition, context }));
  process.send?.({ done: true }, () => process.exit(0));
});

/**
 * @param {import('./rows.js').Check} check
 * @param {import('./rows.js').Subject} subject
 */
async function outcomeOf({ name, skip, run }, subject) {
  const reason = skip?.(subject) ?? null;
  if (reason !== null) return { name, outcome: 'skipped', text: reason };
  /** @type {Promise<never>} */
  const uncaught = new Promise((_, reject) => {
    onUncaught = (error) => {
      const said = error instanceof Error ? error.message : String(error);
      reject(new Error(`thrown out of the event loop: ${said}`));
    };
  });
  uncaught.catch(() => {});
  try {
    const text = await Promise.race([run(subject), uncaught]);
    await Promise.race([new Promise(setImmediate), uncaught]);
    return { name, outcome: 'ok', text };
  } catch (error) {
    return { name, outcome: 'failed', text: String(error?.message ?? error) };
  }
}
