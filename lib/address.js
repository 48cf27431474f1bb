/**
 * Addresses: converts `host:port`, `[::1]:port`, `unix:/path` and URLs to an Endpoint and back. A
 * user and a password in a URL are accepted only from the environment or a file.
 */

import { usageError } from './errors.js';

/** @typedef {import('./types.js').Endpoint} Endpoint */

/** Schemes of URLs: the default port, and whether connections are encrypted. */
const SCHEMES = Object.freeze({
  redis: { port: 6379 },
  rediss: { port: 6379, tls: true },
  valkey: { port: 6379 },
  valkeys: { port: 6379, tls: true },
  mysql: { port: 3306, database: 'hs_test' },
  mariadb: { port: 3306, database: 'hs_test' },
  tarantool: { port: 3301 },
  /** of no server; written by formatEndpoint for an encrypted endpoint */
  tls: { port: undefined, tls: true },
});

/** Values of `ssl-mode` as in MySQL's own clients, and whether they encrypt. */
const SSL_MODES = { DISABLED: false, REQUIRED: true, VERIFY_CA: true, VERIFY_IDENTITY: true };

/**
 * @typedef {object} Located
 * @property {Endpoint} endpoint
 * @property {string} [scheme] scheme of a URL
 * @property {string} [user]
 * @property {string} [password]
 *
 * @typedef {{ anyDatabase?: boolean }} Allowed anyDatabase: accept a URL that names another
 *   database, and ignore the name
 * @typedef {Allowed & { text: string, source: string }} From
 */

/**
 * @param {string} text `host:port`, `port`, `[v6]:port`, `unix:/path` or a URL
 * @param {string} [source] option or variable, for the message
 * @param {Allowed} [allowed]
 * @returns {Endpoint}
 * @throws {import('./errors.js').DragstripError} E_USAGE
 */
export function parseEndpoint(text, source = 'address', allowed = {}) {
  const { endpoint, user, password } = locate(text, source, allowed);
  if (user === undefined && password === undefined) return endpoint;
  throw wrong(
    { text, source },
    'a user or password on the command line is visible to other users',
    'set the URL in the environment, such as DRAGSTRIP_REDIS, or in a file by DRAGSTRIP_REDIS_FILE',
  );
}

/**
 * @param {Readonly<Record<string, string>>} address address by endpoint
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
 * @param {Allowed} [allowed]
 * @returns {Located}
 * @throws {import('./errors.js').DragstripError} E_USAGE
 */
export function locate(text, source, allowed = {}) {
  const url = /^([a-z]+):\/\/(?:([^/?#]*)@)?([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/.exec(text);
  if (url !== null && url[1] !== 'unix') return locateUrl(url, { ...allowed, text, source });
  if (text.startsWith('unix:') && text.length > 5) {
    return { endpoint: { path: text.slice(5).replace(/^\/\/(?=\/)/, '') } };
  }
  return { endpoint: parsePlace(text, undefined, { text, source }) };
}

/**
 * @param {RegExpExecArray} url
 * @param {From} from
 * @returns {Located}
 */
function locateUrl([, scheme, login, place, path, query], from) {
  if (!Object.hasOwn(SCHEMES, scheme)) {
    const known = Object.keys(SCHEMES).filter((name) => name !== 'tls');
    throw wrong(from, `unknown scheme ${scheme}`, `available schemes: ${known.join(', ')}`);
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
 * @param {number | undefined} usual default port
 * @param {From} from
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
 * @param {Endpoint} endpoint receives the logical database of Redis
 * @param {string} path
 * @param {{ database?: string }} about
 * @param {From} from
 */
function readPath(endpoint, path, { database }, from) {
  if (path === '' || path === database) return;
  if (database !== undefined) {
    if (from.anyDatabase) return;
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
 * @param {From} from
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
  throw wrong(
    from,
    tls ? 'the URL has a query' : `unknown query parameter ${JSON.stringify(name)}`,
    hint,
  );
}

/** @param {string} text @param {From} from */
function decode(text, from) {
  try {
    return decodeURIComponent(text);
  } catch {
    throw wrong(from, 'write % in the user or password as %25');
  }
}

/**
 * @param {From} from
 * @param {string} what
 * @param {string} [hint]
 */
function wrong({ text, source }, what, hint) {
  // Text before an @ may be a password, as in redis://user:password@host.
  const shown = JSON.stringify(text.replace(/^.*@/s, '***@'));
  return usageError(`${source} ${shown}: ${what}`, hint);
}

/**
 * @param {Endpoint} endpoint
 * @returns {string} text that parseEndpoint accepts
 */
export function formatEndpoint(endpoint) {
  if (endpoint.path !== undefined) return `unix:${endpoint.path}`;
  return `${endpoint.tls === undefined ? '' : 'tls://'}${formatPlace(endpoint)}`;
}

/**
 * @param {Endpoint} endpoint endpoint that closes connections without a reply
 * @param {string} title title of the expected server, such as `Redis`
 * @returns {string | undefined} a hint if the port may accept TLS only: other servers have no TLS
 *   here, or greet in plain text
 */
export function hintOfTls(endpoint, title) {
  if (endpoint.path !== undefined || endpoint.tls !== undefined) return undefined;
  if (!/^(Redis|Valkey)/.test(title)) return undefined;
  return `if the port accepts TLS only, write rediss://${formatPlace(endpoint)}`;
}

/**
 * @param {Endpoint} endpoint
 * @returns {string} the same without a scheme, since encrypted or not, it is one server
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
 * Tries the endpoints of a cluster in turn until one replies, since some may be down.
 * @template T
 * @param {import('./types.js').Address} address
 * @param {(endpoint: Endpoint) => Promise<T>} ask
 * @returns {Promise<T>}
 * @throws the first error, if none replies
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
