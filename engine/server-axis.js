/**
 * Servers as an axis of a run (--servers redis,valkey): each driver takes part once per server that
 * it can connect to, in the same blocks, as `ioredis on valkey`.
 */

import { hasLoader } from '../data/loaders/index.js';
import { usageError } from '../lib/errors.js';
import { SERVER_NAMES } from '../servers/registry.js';

/** @typedef {import('./tls-axis.js').Selection} Selection */

/**
 * @typedef {object} ListedServer
 * @property {string} label used in the names of benchmarks
 * @property {string} product name of the server
 * @property {string} kind server that drivers of its protocol are bound to
 * @property {string | null} address null: same as without the option
 */

/** Servers that speak the protocol of another, whose drivers, rows and namespaces they share. */
const KINDS = Object.freeze({ valkey: 'redis' });

/** @param {string} kind @returns {string[]} servers that speak its protocol, itself last */
export function productsOf(kind) {
  const others = Object.entries(KINDS).filter(([, of]) => of === kind);
  return [...others.map(([product]) => product), kind];
}

const FORM = /^(?:([A-Za-z0-9][\w.-]*)=)?([a-z][a-z-]*)(?:@(.+))?$/;
const EXAMPLE = 'write for example --servers redis,valkey or --servers redis,new=redis@host:port';

/**
 * @param {readonly string[]} texts `valkey`, `redis@127.0.0.1:6390`, `new=redis@127.0.0.1:6390`
 * @returns {ListedServer[]}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE
 */
export function parseServers(texts) {
  const listed = texts.map((text) => {
    const [, alias, product = '', address = null] = FORM.exec(text) ?? [];
    const kind = /** @type {Record<string, string>} */ (KINDS)[product] ?? product;
    if (!SERVER_NAMES.includes(product) || !hasLoader(kind)) {
      const known = SERVER_NAMES.filter((name) => hasLoader(name) || Object.hasOwn(KINDS, name));
      throw usageError(
        `--servers ${JSON.stringify(text)}: not a server with rows, such as ${known.join(', ')}`,
        EXAMPLE,
      );
    }
    if (alias === undefined && /^unix:|\//.test(address ?? '')) {
      throw usageError(`--servers ${JSON.stringify(text)}: this address needs a name`, EXAMPLE);
    }
    const label = alias ?? (address === null ? product : `${product}@${address}`);
    return { label, product, kind, address };
  });
  const twice = listed.find((one, i) => listed.findIndex(({ label }) => label === one.label) !== i);
  if (twice === undefined) return listed;
  throw usageError(`--servers: duplicate name ${twice.label}`, EXAMPLE);
}

/**
 * @param {readonly Selection[]} selections
 * @param {readonly ListedServer[]} listed empty: no axis
 * @param {(source: string) => Promise<import('../lib/types.js').Contender>} load
 * @returns {Promise<(Selection & { on?: ListedServer })[]>} targets; storages of other servers are
 *   omitted, unless named
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: a named storage, or a server, would
 *   take no part
 */
export async function withServerAxis(selections, listed, load) {
  if (listed.length === 0) return [...selections];
  /** @type {(Selection & { on?: ListedServer })[]} */
  const expanded = [];
  for (const selection of selections) {
    const { name, server } = await load(selection.source);
    const servers = listed.filter(({ kind }) => kind === server);
    expanded.push(...servers.map((on) => ({ ...selection, on })));
    if (servers.length > 0 || !selection.named) continue;
    if (server !== null) {
      throw usageError(
        `--servers: ${name} connects to ${server}, which is not listed`,
        `add ${server} to --servers, or leave out ${name}`,
      );
    }
    expanded.push(selection);
  }
  const unused = listed.find((server) => !expanded.some(({ on }) => on === server));
  if (unused === undefined) return expanded;
  throw usageError(
    `--servers: no storage of this run connects to ${unused.label}`,
    'name one by --storages; npx dragstrip list shows them',
  );
}

/**
 * A HandlerSocket port cannot be derived from the SQL address, and the port of another server would
 * reply too.
 * @param {import('../lib/types.js').Contender} definition
 * @param {ListedServer} [on]
 * @returns {import('../lib/types.js').Unavailable | null}
 */
export function missingPort({ protocol }, on) {
  if (on === undefined || on.address === null || protocol !== 'handlersocket') return null;
  return {
    reason: `the HandlerSocket address of ${on.label} is unknown`,
    hint: 'leave it out: --servers accepts SQL addresses',
  };
}
