/**
 * The loaders by name; each is imported on first use, so that other commands do not load them.
 */

import { usageError } from '../../lib/errors.js';

/** @typedef {import('../../lib/types.js').LoaderDefinition} LoaderDefinition */

/** @type {Readonly<Record<string, { server: string, load: () => Promise<{ default: any }> }>>} */
const LOADERS = Object.freeze({
  redis: { server: 'redis', load: () => import('./redis.js') },
  mysql: { server: 'mariadb', load: () => import('./mysql.js') },
  tarantool: { server: 'tarantool', load: () => import('./tarantool.js') },
  'redis-cluster': { server: 'redis-cluster', load: () => import('./redis-cluster.js') },
});

/** Loaders of servers that are started only by name. */
const BY_NAME_ONLY = ['redis-cluster'];

/** Names of the loaders that run by default, in order. */
export const loaderNames = Object.freeze(
  Object.keys(LOADERS).filter((name) => !BY_NAME_ONLY.includes(name)),
);

/**
 * @param {string} server
 * @returns {boolean} whether it holds the rows of the race
 */
export function hasLoader(server) {
  return Object.values(LOADERS).some((loader) => loader.server === server);
}

/**
 * @param {string} name name of a loader (`mysql`) or of the server that it fills (`mariadb`)
 * @returns {Promise<LoaderDefinition>}
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE: unknown name
 */
export async function getLoader(name) {
  const known = Object.entries(LOADERS).find(
    ([own, { server }]) => own === name || server === name,
  );
  if (known === undefined) {
    throw usageError(
      `unknown server ${JSON.stringify(name)}`,
      `servers with rows: ${Object.keys(LOADERS).join(', ')}`,
    );
  }
  return (await known[1].load()).default;
}
