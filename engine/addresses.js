/**
 * Where a server is: the flag, then the environment, then our own running server, then the original
 * program's default port. Nothing is connected here.
 */

import { isIP } from 'node:net';
import path from 'node:path';
import { formatEndpoint, locate, parseAddress, parseEndpoint } from '../lib/address.js';
import { OF_URL, readCredentials, readNamed } from '../lib/credentials.js';
import { usageError } from '../lib/errors.js';
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
  const files = tlsFiles(flags, env);
  if (given === null) {
    const running = readRunning(home, serverName);
    if (running !== null) {
      const address = withFiles(parseAddress(running.address), { ...running.tls, ...files });
      return { address, source: 'dragstrip', ...(await readFiles(running)), running };
    }
  }
  const complete = completeAddress(endpoints, given?.address ?? {});
  const source = given?.source ?? 'default';
  if (given !== null && given.login.length === 0) {
    const started = findRunningAt(home, Object.values(given.address).map(formatEndpoint));
    if (started !== null) {
      const address = withFiles(complete, { ...started.tls, ...files });
      return { address, source, ...(await readFiles(started)) };
    }
  }
  const credentialVariables = { ...credentials, ...Object.fromEntries(given?.login ?? []) };
  const named = await readCredentials(credentialVariables, env);
  return { address: withFiles(complete, files), source, credentials: named, credentialVariables };
}

/**
 * @param {readonly string[]} names of all servers of a command
 * @param {{ flags: Record<string, string | undefined>, home: string }} options
 * @returns {Promise<ResolvedAddress[]>}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE
 */
export async function resolveAddresses(names, options) {
  const found = await Promise.all(names.map((name) => resolveAddress(name, options)));
  requireTlsUse(
    options.flags,
    found.map(({ address }) => address),
  );
  return found;
}

/** Files of TLS, by flag; each also from the environment, such as DRAGSTRIP_TLS_CA. */
const TLS_FLAGS = Object.freeze({
  ca: 'tls-ca',
  cert: 'tls-cert',
  key: 'tls-key',
  serverName: 'tls-server-name',
});

/**
 * @param {Record<string, string | undefined>} flags
 * @param {NodeJS.ProcessEnv} env
 * @returns {import('../lib/types.js').TlsFiles} absolute paths
 */
function tlsFiles(flags, env) {
  /** @type {Record<string, string>} */
  const files = {};
  for (const [field, flag] of Object.entries(TLS_FLAGS)) {
    const value = flags[flag] ?? env[`DRAGSTRIP_${flag.toUpperCase().replaceAll('-', '_')}`];
    if (value) files[field] = field === 'serverName' ? value : path.resolve(value);
  }
  if ((files['cert'] === undefined) === (files['key'] === undefined)) return files;
  throw usageError('--tls-cert and --tls-key: one without the other', 'give both, or none');
}

/**
 * Options of TLS that nothing would use are refused. The environment is not: it may serve other
 * commands.
 * @param {Record<string, string | undefined>} flags
 * @param {readonly Address[]} addresses all of a command
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE
 */
export function requireTlsUse(flags, addresses) {
  const given = Object.values(TLS_FLAGS).find((flag) => flags[flag] !== undefined);
  const isUsed = addresses.some((one) => Object.values(one).some(({ tls }) => tls !== undefined));
  if (given === undefined || isUsed) return;
  throw usageError(
    `--${given}: no server of this command has an address with TLS`,
    'write rediss://HOST:PORT or mysql://HOST:PORT?ssl-mode=REQUIRED, or leave it out',
  );
}

/**
 * @param {Address} address
 * @param {import('../lib/types.js').TlsFiles} files
 * @returns {Address} its encrypted endpoints with the files, and the name that the certificate must
 *   have: the host may be replaced by the address that it resolves to
 */
function withFiles(address, files) {
  const entries = Object.entries(address).map(([name, endpoint]) => {
    if (endpoint.tls === undefined) return [name, endpoint];
    const named = isIP(endpoint.host) === 0 ? { serverName: endpoint.host } : {};
    return [name, { ...endpoint, tls: { ...named, ...files } }];
  });
  return Object.fromEntries(entries);
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
 * @returns {{ address: Address, source: 'flag' | 'env', login: [string, string][] } | null} what
 *   the user named; null for nothing; login: fields of credentials that a URL has, and its variable
 */
function findGiven(endpoints, flags, env) {
  /** @type {Address} */
  const address = {};
  /** @type {'flag' | 'env' | null} */
  let source = null;
  /** @type {[string, string][]} */
  const login = [];
  for (const [name, { flag, env: variable, schemes = [] }] of Object.entries(endpoints)) {
    const fromFlag = flags[flag];
    const text = fromFlag ?? readNamed(variable, env);
    if (text === undefined || text === '') continue;
    const isFlag = fromFlag !== undefined;
    const origin = isFlag ? `--${flag}` : variable;
    const [first, ...others] = text.split(/,(?=unix:|[a-z]+:\/\/)/);
    const { endpoint, scheme, user, password } = locate(first, origin);
    if (isFlag) parseEndpoint(first, origin); // refuses a user or a password
    requireScheme(scheme, schemes, origin);
    address[name] = endpoint;
    if (user !== undefined) login.push(['user', `${OF_URL}${variable}`]);
    if (password !== undefined) login.push(['password', `${OF_URL}${variable}`]);
    addOthers(address, others, { name, schemes, origin });
    if (isFlag || source === null) source = isFlag ? 'flag' : 'env';
  }
  return source === null ? null : { address, source, login };
}

/**
 * One server by TCP, by its socket and encrypted: `host:port,unix:/path,rediss://host:port`.
 * @param {Address} address
 * @param {readonly string[]} texts behind the first
 * @param {{ name: string, schemes: readonly string[], origin: string }} about
 */
function addOthers(address, texts, { name, schemes, origin }) {
  for (const text of texts) {
    const other = parseEndpoint(text, origin);
    const which = other.tls === undefined ? 'unix' : 'tls';
    requireScheme(locate(text, origin).scheme, schemes, origin);
    const isOne = ['main', 'sql'].includes(name) && address[which] === undefined;
    if (!isOne || (which === 'unix' && (other.path === undefined || name !== 'main'))) {
      throw usageError(`${origin} ${JSON.stringify(text)}: one address too many`);
    }
    address[which] = other;
  }
}

/**
 * @param {string | undefined} scheme
 * @param {readonly string[]} schemes of the server
 * @param {string} origin
 */
function requireScheme(scheme, schemes, origin) {
  if (scheme === undefined || scheme === 'tls' || schemes.includes(scheme)) return;
  const known = ['host:port', ...schemes.map((name) => `${name}://host:port`)];
  throw usageError(`${origin}: no URL of ${scheme}:// is expected`, `write ${known.join(', ')}`);
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
