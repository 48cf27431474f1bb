/**
 * Address of a server: the option, then the environment, then Dragstrip's running server, then the
 * default port of the original program. Opens no connection.
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
 * @property {Address} address every endpoint of the server; for Dragstrip's own server also `unix`,
 *   if it has a socket
 * @property {'flag' | 'env' | 'dragstrip' | 'default'} source source of the first endpoint
 * @property {string[]} [assumed] endpoints at their default port because only others were named: a
 *   different server may own them
 * @property {import('../lib/types.js').Credentials} credentials credentials from the environment;
 *   for Dragstrip's own server, from its record
 * @property {Record<string, string>} credentialVariables environment variables that hold them, for
 *   benchmark processes: lib/credentials.js
 * @property {import('../lib/types.js').RunningServer} [running] record of Dragstrip's own server,
 *   if that is the source
 */

/**
 * @param {string} serverName
 * @param {{ flags?: Record<string, string | undefined>, env?: NodeJS.ProcessEnv, home?: string,
 *   anyDatabase?: boolean }} [options] options by name, without dashes; anyDatabase: accept URLs
 *   that name another database, and ignore the name
 * @returns {Promise<ResolvedAddress>}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: invalid address, unknown server, or
 *   unreadable password file
 */
export async function resolveAddress(
  serverName,
  { flags = {}, env = process.env, home = findHome({ env }), anyDatabase = false } = {},
) {
  const { endpoints, credentials } = await loadServer(serverName);
  const named = findGiven(endpoints, { flags, env, anyDatabase });
  const files = tlsFiles(flags, env);
  if (named === null) {
    const running = readRunning(home, serverName);
    if (running !== null) {
      const address = withFiles(parseAddress(running.address), { ...running.tls, ...files });
      return { address, source: 'dragstrip', ...(await readFiles(running)), running };
    }
  }
  const complete = completeAddress(endpoints, named?.address ?? {});
  const source = named?.source ?? 'default';
  const assumed =
    named === null ? [] : Object.keys(endpoints).filter((one, i) => i > 0 && !named.address[one]);
  if (named !== null && named.login.length === 0) {
    const started = findRunningAt(home, Object.values(named.address).map(formatEndpoint));
    if (started !== null) {
      const address = withFiles(complete, { ...started.tls, ...files });
      return { address, source, assumed, ...(await readFiles(started)) };
    }
  }
  const credentialVariables = { ...credentials, ...Object.fromEntries(named?.login ?? []) };
  const secrets = await readCredentials(credentialVariables, env);
  return {
    address: withFiles(complete, files),
    source,
    assumed,
    credentials: secrets,
    credentialVariables,
  };
}

/**
 * @param {readonly string[]} names names of all servers of a command
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

/** TLS files by option; each can also come from the environment, for example DRAGSTRIP_TLS_CA. */
export const TLS_FLAGS = Object.freeze({
  ca: 'tls-ca',
  cert: 'tls-cert',
  key: 'tls-key',
  serverName: 'tls-server-name',
});

/** @param {string} flag `tls-ca` */
export function variableOf(flag) {
  return `DRAGSTRIP_${flag.toUpperCase().replaceAll('-', '_')}`;
}

/**
 * @param {Record<string, string | undefined>} flags
 * @param {NodeJS.ProcessEnv} env
 * @returns {import('../lib/types.js').TlsFiles} absolute paths
 */
function tlsFiles(flags, env) {
  /** @type {Record<string, string>} */
  const files = {};
  for (const [field, flag] of Object.entries(TLS_FLAGS)) {
    const value = flags[flag] ?? env[variableOf(flag)];
    if (value) files[field] = field === 'serverName' ? value : path.resolve(value);
  }
  if ((files['cert'] === undefined) === (files['key'] === undefined)) return files;
  throw usageError('--tls-cert and --tls-key require each other', 'give both, or neither');
}

/**
 * Refuses TLS options without effect. The environment may serve other commands, so it is not
 * checked.
 * @param {Record<string, string | undefined>} flags
 * @param {readonly Address[]} addresses all addresses of a command
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE
 */
export function requireTlsUse(flags, addresses) {
  const named = Object.values(TLS_FLAGS).find((flag) => flags[flag] !== undefined);
  const isUsed = addresses.some((one) => Object.values(one).some(({ tls }) => tls !== undefined));
  if (named === undefined || isUsed) return;
  throw usageError(
    `--${named}: no address of this command uses TLS`,
    'write rediss://HOST:PORT or mysql://HOST:PORT?ssl-mode=REQUIRED, or leave it out',
  );
}

/**
 * @param {Address} address
 * @param {import('../lib/types.js').TlsFiles} files
 * @returns {Address} its encrypted endpoints, with the files and the expected certificate name,
 *   since the host may be replaced by its IP address
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
 * The secrets of a server that Dragstrip started are in its folder, however the server was named.
 * @param {import('../lib/types.js').RunningServer} running
 */
async function readFiles({ credentials = {} }) {
  return { credentials: await readCredentials(credentials), credentialVariables: credentials };
}

/**
 * @param {Record<string, EndpointDefinition>} endpoints
 * @param {{ flags: Record<string, string | undefined>, env: NodeJS.ProcessEnv,
 *   anyDatabase: boolean }} how
 * @returns {{ address: Address, source: 'flag' | 'env', login: [string, string][] } | null}
 *   endpoint named by the user; null if none; login: credential fields from a URL, with the
 *   variable
 */
function findGiven(endpoints, { flags, env, anyDatabase }) {
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
    const { endpoint, scheme, user, password } = locate(first, origin, { anyDatabase });
    if (isFlag) parseEndpoint(first, origin, { anyDatabase }); // refuses a user or a password
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
 * One server over TCP, its socket and TLS: `host:port,unix:/path,rediss://host:port`.
 * @param {Address} address
 * @param {readonly string[]} texts texts after the first
 * @param {{ name: string, schemes: readonly string[], origin: string }} about
 */
function addOthers(address, texts, { name, schemes, origin }) {
  for (const text of texts) {
    const other = parseEndpoint(text, origin);
    const which = other.tls === undefined ? 'unix' : 'tls';
    requireScheme(locate(text, origin).scheme, schemes, origin);
    const isOne = ['main', 'sql'].includes(name) && address[which] === undefined;
    if (!isOne || (which === 'unix' && (other.path === undefined || name !== 'main'))) {
      throw usageError(`${origin} ${JSON.stringify(text)}: too many addresses`);
    }
    address[which] = other;
  }
}

/**
 * @param {string | undefined} scheme
 * @param {readonly string[]} schemes URL schemes of the server
 * @param {string} origin
 */
function requireScheme(scheme, schemes, origin) {
  if (scheme === undefined || scheme === 'tls' || schemes.includes(scheme)) return;
  const known = ['host:port', ...schemes.map((name) => `${name}://host:port`)];
  throw usageError(
    `${origin}: the scheme ${scheme}:// belongs to a different server`,
    `write ${known.join(', ')}`,
  );
}

/**
 * Endpoints that the user did not name are on the host of the first named one, at their default
 * port: SQL on one server and HandlerSocket on another would be a mistake that no reply reveals.
 * @param {Record<string, EndpointDefinition>} endpoints
 * @param {Address} named
 * @returns {Address}
 */
function completeAddress(endpoints, named) {
  const host = Object.values(named).find((endpoint) => endpoint.host !== undefined)?.host;
  /** @type {Address} */
  const address = { ...named };
  for (const [name, definition] of Object.entries(endpoints)) {
    const endpoint = parseEndpoint(definition.default);
    const moved =
      host !== undefined && endpoint.path === undefined ? { ...endpoint, host } : endpoint;
    address[name] = named[name] ?? moved;
  }
  return address;
}
