/**
 * Entry of a process that opens a contender once, before the race: it reports the driver that the
 * race will load, and detects a broken one. It measures nothing.
 */

import * as nodeModule from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { findPackage, packageOfFile } from '../../lib/packages.js';
import { onParentMessage, sendToParent } from '../../lib/plain-message.js';
import { systemClock } from '../../measure/clock.js';
import { loadWorkload } from '../../workloads/index.js';
import { contendersOf } from '../contenders.js';
import { useDriver } from '../driver-hooks.js';
import { closeBounded } from '../guard.js';
import { bindWorkload, checkRows, openStorage } from '../opening.js';

/** @type {string[]} resolved files, if this Node reports them */
const resolved = [];

for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => {});
process.on('disconnect', () => process.exit(0));
process.once('uncaughtException', (error) => answer({ failure: String(error?.message ?? error) }));
process.once('unhandledRejection', (reason) => answer({ failure: String(reason) }));

onParentMessage(async ({ spec, name, opens }) => {
  /** @type {string | null} */
  let failure = null;
  try {
    if (spec.driver !== undefined) useDriver(spec.driver);
    watchResolutions();
    const workload = await loadWorkload(spec.workload);
    await contendersOf(workload).load(spec.storage);
    if (opens) await openOnce(spec);
  } catch (error) {
    failure = String(error?.message ?? error);
  }
  answer({ failure, folder: folderOf(name, spec) });
});

/** @param {{ failure: string | null, folder?: string | null }} message */
function answer(message) {
  sendToParent(message, () => process.exit(0));
}

/** This process only inspects and measures nothing. */
function watchResolutions() {
  const { registerHooks } = /** @type {any} */ (nodeModule);
  registerHooks?.({
    resolve(/** @type {string} */ specifier, /** @type {any} */ context, /** @type {any} */ next) {
      const found = next(specifier, context);
      if (String(found.url).startsWith('file:')) resolved.push(fileURLToPath(found.url));
      return found;
    },
  });
}

/** @param {import('../opening.js').BenchmarkSpec} spec */
async function openOnce(spec) {
  const opened = await openStorage(spec);
  await checkRows(await bindWorkload(spec, opened, systemClock), opened, 1);
  await closeBounded(opened.handles[0]);
}

/**
 * @param {string | null} name package that the adapter imports; null: none
 * @param {{ driver?: import('./install.js').Driver, storage: string }} spec
 * @returns {string | null} folder of the loaded package; if several have this name, the one that
 *   the adapter imports
 */
function folderOf(name, { driver, storage }) {
  if (name === null) return null;
  const expectedName = driver?.package ?? name;
  const loaded = new Set(
    [...resolved, ...Object.keys(nodeModule.createRequire(import.meta.url).cache)].flatMap(
      (file) => {
        const found = path.isAbsolute(file) ? packageOfFile(file) : null;
        return found?.name === expectedName ? found.folder : [];
      },
    ),
  );
  const importer = path.isAbsolute(storage) ? storage : undefined;
  const expected =
    driver === undefined
      ? findPackage(name, importer)?.folder
      : path.join(driver.folder, 'node_modules', expectedName);
  if (expected !== undefined && (loaded.size === 0 || loaded.has(expected))) return expected;
  return [...loaded][0] ?? null;
}
