/**
 * Where a server is: the flag, then the environment, then our own running server, then the original
 * program's default port. Nothing is connected here.
 */

import { formatEndpoint, parseEndpoint } from '../lib/address.js';
import { readCredentials } from '../lib/credentials.js';
import { findHome } from '../lib/home.js';
import { findRunningAt, readRunning } from '../servers/record.js';
import { loadServer } from '../servers/registry.js';

/** @typedef {import('../lib/types.js').Address} Address */
/** @typedef {import('../lib/types.js').EndpointDefinition} EndpointDefinition */

/**
 * @typedef {object} ResolvedAddress
 * @property {Address} address every endpoint of the server; for our own also `unix`, where it has
 *   one
 * @property {'flag' | 'env' | 'dragstrip' | 'default'} source where the first of them came from
 * @property {import('../lib/types.js').Credentials} credentials of the environment; of our own
 *   server those of its record
 * @property {Record<string, string>} credentialVariables where they were found, for the processes
 *   of benchmarks: lib/credentials.js
 * @property {import('../lib/types.js').RunningServer} [running] our own server, where that is the
 *   source
 */

/**
 * @param {string} serverName
 * @param {{ flags?: Record<string, string | undefined>, env?: NodeJS.ProcessEnv, home?: string }}
 *   [options] flags: by the flag's name without dashes
 * @returns {Promise<ResolvedAddress>}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE for a text that is no address, an
 *   unknown
 *   server, or a file of a password that cannot be read
 */
export async function resolveAddress(
  serverName,
  { flags = {}, env = process.env, home = findHome({ env }) } = {},
) {
  const { endpoints, credentials } = await loadServer(serverName);
  const given = findGiven(endpoints, flags, env);
  if (given === null) {
    const running = readRunning(home, serverName);
    if (running !== null) {
      const address = parseAll(running.address);
      return { address, source: 'dragstrip', ...(await readFiles(running)), running };
    }
  }
  const address = completeAddress(endpoints, given?.address ?? {});
  const source = given?.source ?? 'default';
  if (given !== null) {
    const started = findRunningAt(home, Object.values(given.address).map(formatEndpoint));
    if (started !== null) return { address, source, ...(await readFiles(started)) };
  }
  const named = await readCredentials(credentials, env);
  return { address, source, credentials: named, credentialVariables: credentials };
}

/**
 * The secrets of a server that Dragstrip started are in its folder, whichever way it was named.
 * @param {import('../lib/types.js').RunningServer} running
 */
async function readFiles({ credentials = {} }) {
  return { credentials: await readCredentials(credentials), credentialVariables: credentials };
}

/**
 * @param {Record<string, EndpointDefinition>} endpoints
 * @param {Record<string, string | undefined>} flags
 * @param {NodeJS.ProcessEnv} env
 * @returns {{ address: Address, source: 'flag' | 'env' } | null} what the user named; null for
 *   nothing
 */
function findGiven(endpoints, flags, env) {
  /** @type {Address} */
  const address = {};
  /** @type {'flag' | 'env' | null} */
  let source = null;
  for (const [name, { flag, env: variable }] of Object.entries(endpoints)) {
    const fromFlag = flags[flag];
    const text = fromFlag ?? env[variable];
    if (text === undefined || text === '') continue;
    const isFlag = fromFlag !== undefined;
    const [first, socket] = name === 'main' ? splitSocket(text) : [text, undefined];
    const origin = isFlag ? `--${flag}` : variable;
    address[name] = parseEndpoint(first, origin);
    if (socket !== undefined) address['unix'] = parseEndpoint(socket, origin);
    if (isFlag || source === null) source = isFlag ? 'flag' : 'env';
  }
  return source === null ? null : { address, source };
}

/**
 * @param {string} text `host:port,unix:/path`: one server by TCP and by its socket
 * @returns {[string, string | undefined]}
 */
function splitSocket(text) {
  const match = /^(?!unix:)([^,]*),(unix:.+)$/.exec(text);
  return match === null ? [text, undefined] : [match[1], match[2]];
}

/**
 * Endpoints that the user did not name are on the host of the first one named, at their default
 * port: SQL of one server and HandlerSocket of another would be a mistake that no reply shows.
 * @param {Record<string, EndpointDefinition>} endpoints
 * @param {Address} given
 * @returns {Address}
 */
function completeAddress(endpoints, given) {
  const host = Object.values(given).find((endpoint) => endpoint.host !== undefined)?.host;
  /** @type {Address} */
  const address = { ...given };
  for (const [name, definition] of Object.entries(endpoints)) {
    const endpoint = parseEndpoint(definition.default);
    const moved =
      host !== undefined && endpoint.path === undefined ? { ...endpoint, host } : endpoint;
    address[name] = given[name] ?? moved;
  }
  return address;
}

/** @param {Record<string, string>} texts */
function parseAll(texts) {
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, parseEndpoint(text)]),
  );
}
