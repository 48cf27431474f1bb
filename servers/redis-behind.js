/**
 * The Redis that a proxy forwards to, and whether a proxy reaches it.
 */

import { formatEndpoint, locate, parseAddress, parseEndpoint } from '../lib/address.js';
import { readCredentials } from '../lib/credentials.js';
import { targetError } from '../lib/errors.js';
import { nameKind, notThere } from './conversation.js';
import { readThrough } from './proxied-read.js';
import { readRunning } from './record.js';

/** @typedef {import('../lib/types.js').Address} Address */
/** @typedef {import('../lib/types.js').Endpoint} Endpoint */

/** Configurations of proxies have no quotes, or different ones, so such paths are refused. */
export const UNQUOTABLE = /[\s#'"]/;

/**
 * @param {Pick<import('../lib/types.js').StartContext, 'home' | 'behind' | 'behindCredentials'>}
 *   context
 * @param {string} proxy its name
 * @returns {Promise<{ address: Address, password: string | undefined }>} addresses of the Redis
 *   behind the proxy: from the option, the environment, or the one started by Dragstrip; `main` by
 *   TCP and `unix` by its socket, if available. Without a password if its owner has a user name;
 *   clients without a login are then guests
 * @throws {import('../lib/errors.js').DragstripError} E_TARGET if there is none
 */
export async function redisBehind({ home, behind, behindCredentials }, proxy) {
  if (behind?.['redis'] !== undefined) {
    return { address: behind['redis'], password: passwordOf(behindCredentials?.['redis']) };
  }
  const named = process.env['DRAGSTRIP_REDIS'];
  if (named) {
    const [first, socket] = named.split(/,(?=unix:)/);
    const { endpoint: main, password } = locate(first, 'DRAGSTRIP_REDIS');
    const { DRAGSTRIP_REDIS_PASSWORD: passwordOfEnvironment, DRAGSTRIP_REDIS_PASSWORD_FILE: file } =
      process.env;
    if (password || passwordOfEnvironment || file) {
      throw targetError(
        `Redis needs a password; Dragstrip does not write passwords into ${proxy}'s configuration`,
        'start a proxy manually, and give its address with --proxy',
      );
    }
    if (main.tls !== undefined) {
      throw targetError(
        `${proxy} is started without TLS`,
        'set DRAGSTRIP_REDIS to an address without it',
      );
    }
    const unix = socket && { unix: parseEndpoint(socket, 'DRAGSTRIP_REDIS') };
    return { address: { main, ...unix }, password: undefined };
  }
  const running = readRunning(home, 'redis');
  if (running === null) {
    throw targetError(
      `${proxy} requires a Redis, and none is running`,
      `run \`npx dragstrip servers start redis ${proxy}\`, or set DRAGSTRIP_REDIS`,
    );
  }
  const address = parseAddress(running.address);
  return { address, password: passwordOf(await readCredentials(running.credentials ?? {})) };
}

/** @param {import('../lib/types.js').Credentials} [credentials] */
function passwordOf({ user, password } = {}) {
  return user === undefined || user === 'default' ? password : undefined;
}

/**
 * @param {Endpoint} main main of a proxy
 * @param {import('../lib/types.js').Credentials} credentials
 * @param {string} hint
 * @throws {import('../lib/errors.js').DragstripError} E_TARGET: no reply, or it cannot reach its
 *   Redis
 */
export async function requireThrough(main, credentials, hint) {
  const { answer, reached, error } = await readThrough(main, credentials);
  const isOther = !reached && nameKind(answer.bytes) !== 'Redis';
  if (answer.end !== 'enough' || isOther) throw notThere('A proxy', main, answer, hint);
  if (reached) return;
  throw targetError(
    `the proxy at ${formatEndpoint(main)} cannot reach its Redis: ${quote(error ?? '')}`,
    'check that its Redis is running, and set DRAGSTRIP_REDIS_PASSWORD if it has a password',
  );
}

/** @param {string} text */
function quote(text) {
  return JSON.stringify(text.slice(0, 100));
}
