/**
 * Addresses: `host:port`, `[::1]:port`, `unix:/path` and URLs to an Endpoint and back. A user and a
 * password in a URL are taken from the environment or a file only.
 */

import { usageError } from './errors.js';

/** @typedef {import('./types.js').Endpoint} Endpoint */

/** Schemes of URLs: the port if none is given, and whether connections are encrypted. */
const SCHEMES = Object.freeze({
  redis: { port: 6379 },
  rediss: { port: 6379, tls: true },
  valkey: { port: 6379 },
  valkeys: { port: 6379, tls: true },
  mysql: { port: 3306, database: 'hs_test' },
  mariadb: { port: 3306, database: 'hs_test' },
  tarantool: { port: 3301 },
  /** of no server: as formatEndpoint writes an encrypted one */
  tls: { port: undefined, tls: true },
});

/** Values of `ssl-mode`, as MySQL's own clients take it, and whether they encrypt. */
const SSL_MODES = { DISABLED: false, REQUIRED: true, VERIFY_CA: true, VERIFY_IDENTITY: true };

/**
 * @typedef {object} Located
 * @property {Endpoint} endpoint
 * @property {string} [scheme] of a URL
 * @property {string} [user]
 * @property {string} [password]
 */

/**
 * @param {string} text `host:port`, `port`, `[v6]:port`, `unix:/path` or a URL
 * @param {string} [source] the flag or variable it came from, for the message
 * @returns {Endpoint}
 * @throws {import('./errors.js').DragstripError} E_USAGE
 */
export function parseEndpoint(text, source = 'address') {
  const { endpoint, user, password } = locate(text, source);
  if (user === undefined && password === undefined) return endpoint;
  throw wrong(
    { text, source },
    'a user or password in a command line is visible to other users',
    'set the URL in the environment, such as DRAGSTRIP_REDIS, or in a file by DRAGSTRIP_REDIS_FILE',
  );
}

/**
 * @param {Readonly<Record<string, string>>} address by endpoint
 * @returns {import('./types.js').Address}
 */
export function parseAddress(address) {
  const endpoints = Object.entries(address).map(([name, text]) => [
    name,
    parseEndpoint(text, name),
  ]);
  return Object.fromEntries(endpoints);
}

/**
 * The same for texts that other users cannot read.
 * @param {string} text
 * @param {string} source
 * @returns {Located}
 * @throws {import('./errors.js').DragstripError} E_USAGE
 */
export function locate(text, source) {
  const url = /^([a-z]+):\/\/(?:([^/?#]*)@)?([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/.exec(text);
  if (url !== null && url[1] !== 'unix') return locateUrl(url, { text, source });
  if (text.startsWith('unix:') && text.length > 5) {
    return { endpoint: { path: text.slice(5).replace(/^\/\/(?=\/)/, '') } };
  }
  return { endpoint: parsePlace(text, undefined, { text, source }) };
}

/**
 * @param {RegExpExecArray} url
 * @param {{ text: string, source: string }} from
 * @returns {Located}
 */
function locateUrl([, scheme, login, place, path, query], from) {
  if (!Object.hasOwn(SCHEMES, scheme)) {
    const known = Object.keys(SCHEMES).filter((name) => name !== 'tls');
    throw wrong(from, `unknown scheme ${scheme}`, `the schemes: ${known.join(', ')}`);
  }
  const about = /** @type {Record<string, { port?: number, tls?: boolean, database?: string }>} */ (
    SCHEMES
  )[scheme];
  const endpoint = parsePlace(place, about.port, from);
  const isTls = about.tls ?? false;
  const encrypts = query === undefined || query === '' ? isTls : readQuery(query, about, from);
  if (encrypts) endpoint.tls = {};
  readPath(endpoint, path ?? '', about, from);
  const colon = login?.indexOf(':') ?? -1;
  const user = colon === -1 ? login : login.slice(0, colon);
  const password = colon === -1 ? undefined : login.slice(colon + 1);
  return {
    endpoint,
    scheme,
    ...(user && { user: decode(user, from) }),
    ...(password !== undefined && { password: decode(password, from) }),
  };
}

/**
 * @param {string} text
 * @param {number | undefined} usual port
 * @param {{ text: string, source: string }} from
 * @returns {{ host: string, port: number, tls?: import('./types.js').TlsFiles, db?: number }}
 */
function parsePlace(text, usual, from) {
  const form = /^(?:(?:\[([0-9a-fA-F:.]+)\]|([^\s:/[\]@]+)):)?(\d{1,5})$/;
  const alone = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:/[\]@]+))$/.exec(text);
  if (usual !== undefined && alone !== null) return { host: alone[1] ?? alone[2], port: usual };
  const match = form.exec(text);
  const port = match === null ? Number.NaN : Number(match[3]);
  if (match === null || port < 1 || port > 65535) {
    throw wrong(from, 'not an address', 'write host:port, unix:/path or a URL');
  }
  return { host: match[1] ?? match[2] ?? '127.0.0.1', port };
}

/**
 * @param {Endpoint} endpoint gets the logical database of Redis
 * @param {string} path
 * @param {{ database?: string }} about
 * @param {{ text: string, source: string }} from
 */
function readPath(endpoint, path, { database }, from) {
  if (path === '' || path === database) return;
  if (database !== undefined) {
    const hint = 'leave the database out of the URL';
    throw wrong(from, `Dragstrip uses the database ${database}`, hint);
  }
  const db = /^\d{1,9}$/.test(path) ? Number(path) : Number.NaN;
  if (Number.isNaN(db)) throw wrong(from, 'the path is not the number of a database');
  if (db > 0) endpoint.db = db;
}

/**
 * @param {string} query
 * @param {{ database?: string, tls?: boolean }} about
 * @param {{ text: string, source: string }} from
 * @returns {boolean} whether connections are encrypted
 */
function readQuery(query, { database, tls = false }, from) {
  const [name, value = ''] = query.split('=');
  const mode = value.toUpperCase();
  if (database !== undefined && name === 'ssl-mode' && Object.hasOwn(SSL_MODES, mode)) {
    return /** @type {Record<string, boolean>} */ (SSL_MODES)[mode];
  }
  const modes = `ssl-mode=${Object.keys(SSL_MODES).join(', ')}`;
  const hint = database === undefined ? 'leave it out' : `supported: ${modes}`;
  throw wrong(from, tls ? 'a query in the URL' : `unknown query ${JSON.stringify(name)}`, hint);
}

/** @param {string} text @param {{ text: string, source: string }} from */
function decode(text, from) {
  try {
    return decodeURIComponent(text);
  } catch {
    throw wrong(from, 'a % in the user or password is written %25');
  }
}

/**
 * @param {{ text: string, source: string }} from
 * @param {string} what
 * @param {string} [hint]
 */
function wrong({ text, source }, what, hint) {
  // What stands before an @ may be a password, as in redis://user:password@host.
  const shown = JSON.stringify(text.replace(/^.*@/s, '***@'));
  return usageError(`${source} ${shown}: ${what}`, hint);
}

/**
 * @param {Endpoint} endpoint
 * @returns {string} the text that parseEndpoint takes
 */
export function formatEndpoint(endpoint) {
  if (endpoint.path !== undefined) return `unix:${endpoint.path}`;
  return `${endpoint.tls === undefined ? '' : 'tls://'}${formatPlace(endpoint)}`;
}

/**
 * @param {Endpoint} endpoint
 * @returns {string} the same without a scheme: encrypted or not, it is one server
 */
export function formatPlace(endpoint) {
  if (endpoint.path !== undefined) return `unix:${endpoint.path}`;
  const host = endpoint.host.includes(':') ? `[${endpoint.host}]` : endpoint.host;
  return `${host}:${endpoint.port}`;
}

/**
 * Loopback is 127.0.0.0/8 and ::1 (RFC 1122, 3.2.1.3; RFC 4291, 2.5.3), the name localhost, and
 * every unix socket.
 * @param {Endpoint} endpoint
 * @returns {boolean}
 */
export function isLoopback(endpoint) {
  if (endpoint.path !== undefined) return true;
  const { host } = endpoint;
  return host === 'localhost' || host === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
}

/**
 * Asks the endpoints of a cluster in turn until one answers: some may be down.
 * @template T
 * @param {import('./types.js').Address} address
 * @param {(endpoint: Endpoint) => Promise<T>} ask
 * @returns {Promise<T>}
 * @throws what the first one threw, where none answers
 */
export async function firstAnswer({ tls: _encrypted, ...nodes }, ask) {
  /** @type {unknown} */
  let first;
  for (const endpoint of Object.values(nodes)) {
    try {
      return await ask(endpoint);
    } catch (error) {
      first ??= error;
    }
  }
  throw first;
}
