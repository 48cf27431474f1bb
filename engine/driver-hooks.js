/**
 * Loads another version of one package into a process: an adapter's `import 'ioredis'` is resolved
 * as if it were in the folder where that version is installed. Everything else is resolved as
 * usual. Synchronous hooks (Node 22.15, 23.5) also cover `require`; earlier ones only `import`,
 * which Dragstrip's adapters use to load their drivers.
 */

import * as nodeModule from 'node:module';
import { pathToFileURL } from 'node:url';

/** @typedef {import('./drivers/install.js').Driver} Driver */
/** @typedef {(specifier: string, context: any, next: (specifier: string, context: any) => any) =>
 *   any} Resolve */

/** Root URL of Dragstrip, with a trailing slash. */
const ROOT = new URL('../', import.meta.url).href;

/**
 * Call it before the adapter is loaded.
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
export function resolveFor({ name, package: replacement, folder }, root = ROOT) {
  const parentURL = pathToFileURL(`${folder}/package.json`).href;
  return (specifier, context, next) => {
    const isMeant = specifier === name || specifier.startsWith(`${name}/`);
    // Packages keep their own dependencies, since one may need another version. Dragstrip's
    // adapters are also in node_modules if it is installed as a package.
    const importer = context.parentURL?.replace(root, '/') ?? '';
    const fromPackage = importer.includes('/node_modules/');
    if (!isMeant || fromPackage) return next(specifier, context);
    // A fork may have a different name than the package that adapters import.
    return next(`${replacement}${specifier.slice(name.length)}`, { ...context, parentURL });
  };
}

/** @type {Resolve | null} */
let chosen = null;

/**
 * Hooks of older Node versions run in a separate thread, which loads this module and calls this.
 * @param {Driver} driver
 */
export function initialize(driver) {
  chosen = resolveFor(driver);
}

/** @type {Resolve} */
export function resolve(specifier, context, next) {
  return chosen === null ? next(specifier, context) : chosen(specifier, context, next);
}
