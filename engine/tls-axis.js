/**
 * TLS as an axis of a run (--tls on, --tls both): a storage that has it takes part with a profile
 * of its own, the same driver and options at the encrypted endpoint of its server.
 */

import { TLS_PROFILE, tlsProfileOf } from '../lib/tls-profile.js';

/** @typedef {import('./targets.js').ServerTarget} ServerTarget */
/** @typedef {{ source: string, profile: string, named: boolean }} Selection */

/**
 * @param {readonly Selection[]} selections
 * @param {'on' | 'both' | undefined} mode
 * @param {(source: string) => Promise<import('../lib/types.js').Contender>} load
 * @returns {Promise<Selection[]>} a storage without TLS stays as it is
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
 * @returns {ServerTarget} the same server at its encrypted endpoint, which one of that storage
 *   connects to in place of the other
 */
export function overTls(server) {
  const { tls, unix: _unix, ...plain } = server.address;
  const name = plain.main === undefined ? 'sql' : 'main';
  if (tls !== undefined) return { ...server, address: { ...plain, [name]: tls } };
  if (plain[name]?.tls !== undefined || server.unavailable !== null) return server;
  return {
    ...server,
    unavailable: {
      reason: `no encrypted address of ${server.name} is known`,
      hint:
        `npx dragstrip servers start --tls ${server.name}, or name both: ` +
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
 * @returns {import('../lib/types.js').Unavailable | null} for an embedded store: null
 */
export function lackOfTls({ package: driver, protocol, tls }, { address }, mode) {
  const { main, sql } = address;
  const endpoint = protocol === 'handlersocket' ? undefined : (main ?? sql);
  if (tls === true || (endpoint?.tls === undefined && mode !== 'on')) return null;
  const asked = mode === 'on' ? '--tls on' : 'the address of its server';
  return {
    reason: `${driver ?? 'it'} has no TLS, which ${asked} asks for`,
    hint: 'leave out TLS, or choose other storages',
  };
}
