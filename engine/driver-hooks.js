/**
 * Lets a process load another version of one package: an adapter's `import 'ioredis'` is resolved
 * as if it stood in the folder where that version is installed. All else is resolved as ever. Where
 * Node has synchronous hooks (22.15, 23.5) they see `require` too; before, they see `import`, by
 * which our adapters load their drivers.
 */

import * as nodeModule from 'node:module';
import { pathToFileURL } from 'node:url';

/** @typedef {import('./drivers/install.js').Driver} Driver */
/** @typedef {(specifier: string, context: any, next: (specifier: string, context: any) => any) =>
 *   any} Resolve */

/** Of Dragstrip, with a slash at the end. */
const ROOT = new URL('../', import.meta.url).href;

/**
 * To be called before the adapter is loaded.
 * @param {Driver} driver
 */
export function useDriver(driver) {
  const { registerHooks } = /** @type {any} */ (nodeModule);
  if (registerHooks !== undefined) registerHooks({ resolve: resolveFor(driver) });
  else nodeModule.register(import.meta.url, { data: driver });
}

/**
 * @param {Driver} driver
 * @param {string} [root] URL of Dragstrip's folder
 * @returns {Resolve}
 */
export function resolveFor({ name, package: own, folder }, root = ROOT) {
  const parentURL = pathToFileURL(`${folder}/package.json`).href;
  return (specifier, context, next) => {
    const isMeant = specifier === name || specifier.startsWith(`${name}/`);
    // Packages among themselves keep what they have: one may need another version of it. Our own
    // adapters are in node_modules, too, where Dragstrip is installed as a package.
    const importer = context.parentURL?.replace(root, '/') ?? '';
    const fromPackage = importer.includes('/node_modules/');
    if (!isMeant || fromPackage) return next(specifier, context);
    // A fork may have another name than the package that adapters import.
    return next(`${own}${specifier.slice(name.length)}`, { ...context, parentURL });
  };
}

/** @type {Resolve | null} */
let chosen = null;

/**
 * The hooks of older Nodes live in a separate thread, which loads this module and calls this.
 * @param {Driver} driver
 */
export function initialize(driver) {
  chosen = resolveFor(driver);
}

/** @type {Resolve} */
export function resolve(specifier, context, next) {
  return chosen === null ? next(specifier, context) : chosen(specifier, context, next);
}
