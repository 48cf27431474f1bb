/**
 * TLS as an axis of a run (--tls on, --tls both): a TLS-capable storage takes part with a separate
 * profile, the same driver and options at the encrypted endpoint of its server.
 */

import { TLS_PROFILE, tlsProfileOf } from '../lib/tls-profile.js';

/** @typedef {import('./targets.js').ServerTarget} ServerTarget */
/** @typedef {{ source: string, profile: string, named: boolean }} Selection */

/**
 * @param {readonly Selection[]} selections
 * @param {'on' | 'both' | undefined} mode
 * @param {(source: string) => Promise<import('../lib/types.js').Contender>} load
 * @returns {Promise<Selection[]>} targets; a storage without TLS is unchanged
 */
export async function withTlsAxis(selections, mode, load) {
  if (mode === undefined) return [...selections];
  const expanded = await Promise.all(
    selections.map(async (one) => {
      const { tls } = await load(one.source);
      const isOver = one.profile === TLS_PROFILE || one.profile.endsWith(`-${TLS_PROFILE}`);
      if (tls !== true || isOver) return [one];
      const over = { ...one, profile: tlsProfileOf(one.profile) };
      return mode === 'on' ? [over] : [one, over];
    }),
  );
  const each = expanded.flat().map((one) => /** @type {const} */ ([key(one), one]));
  return [...new Map(each).values()];
}

/** @param {Selection} selection */
function key({ source, profile }) {
  return `${source}:${profile}`;
}

/**
 * @param {ServerTarget} server
 * @returns {ServerTarget} the same server with its encrypted endpoint instead of the plain one
 */
export function overTls(server) {
  const { tls, unix: _unix, ...plain } = server.address;
  const name = plain.main === undefined ? 'sql' : 'main';
  if (tls !== undefined) return { ...server, address: { ...plain, [name]: tls } };
  if (plain[name]?.tls !== undefined || server.unavailable !== null) return server;
  return {
    ...server,
    unavailable: {
      reason: `no encrypted address of ${server.name} is configured`,
      hint:
        `npx dragstrip servers start --with-tls ${server.name}, or name both: ` +
        (name === 'sql'
          ? '--mysql HOST:PORT,mysql://HOST:PORT?ssl-mode=REQUIRED'
          : '--redis HOST:PORT,rediss://HOST:PORT'),
    },
  };
}

/**
 * @param {import('../lib/types.js').Contender} definition
 * @param {ServerTarget} server
 * @param {'on' | 'both'} [mode]
 * @returns {import('../lib/types.js').Unavailable | null} null for an embedded store
 */
export function missingTls({ package: driver, protocol, tls }, { address }, mode) {
  const { main, sql } = address;
  const endpoint = protocol === 'handlersocket' ? undefined : (main ?? sql);
  if (tls === true || (endpoint?.tls === undefined && mode !== 'on')) return null;
  const asked = mode === 'on' ? '--tls on' : 'the address of its server';
  return {
    reason: `${driver ?? 'it'} has no TLS, which ${asked} requires`,
    hint: 'leave out TLS, or choose other storages',
  };
}
