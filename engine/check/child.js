/**
 * Entry of the process that checks a storage: runs one check after another and answers each with a
 * message. An error thrown from the event loop fails the running check.
 */

import path from 'node:path';
import { readCredentials } from '../../lib/credentials.js';
import { createDataset, ROW_NAMES } from '../../lib/dataset.js';
import { loadStorage, requireProfile } from '../../storages/index.js';
import { CHECKS, NotChecked } from './rows.js';

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
  try {
    await definition.fill?.({ dataset: context.dataset, folder: context.folder });
    for (const check of CHECKS) process.send?.(await outcomeOf(check, { definition, context }));
  } catch (error) {
    const text = String(error?.message ?? error);
    process.send?.({ name: 'its rows are written', outcome: 'failed', text });
  }
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
      const text = error instanceof Error ? error.message : String(error);
      reject(new Error(`uncaught error: ${text}`));
    };
  });
  uncaught.catch(() => {});
  try {
    const text = await Promise.race([run(subject), uncaught]);
    await Promise.race([new Promise(setImmediate), uncaught]);
    return { name, outcome: 'ok', text };
  } catch (error) {
    const outcome = error instanceof NotChecked ? 'skipped' : 'failed';
    return { name, outcome, text: String(error?.message ?? error) };
  }
}
