/** The options of a client: defaults, bounds, and their check. */

import { argumentError } from './handlersocket-error.js';
import { checkInteger, checkSecret } from './validate.js';

/**
 * @typedef {import('./handlersocket-error.js').HandlerSocketError
 *   } HandlerSocketError
 */
/** @typedef {import('./request-lines.js').IndexDefinition} IndexDefinition */

/**
 * A plain secret, or a function that returns it, called at each connect (the server generates one
 * at each start unless configured).
 * @typedef {string | (() => string | Promise<string>)} Secret
 */

/**
 * @typedef {object} ClientOptions
 * @property {string} [host] 127.0.0.1
 * @property {number} [port] port of the read listener; 9998
 * @property {string} [path] unix socket of the read listener, instead of host and port
 * @property {number} [writePort] port of the write listener, such as 9999; without it (and without
 *   writePath) the client is read-only
 * @property {string} [writePath] unix socket of the write listener
 * @property {Secret} [secret] handlersocket_plain_secret
 * @property {Secret} [writeSecret] handlersocket_plain_secret_wr; the same as secret
 * @property {number} [connections] connections to the read listener, 1 to 64; 3
 * @property {number} [writeConnections] connections to the write listener; 1, so that changes stay
 *   in order
 * @property {number} [connectTimeoutMs] time to connect; 5000
 * @property {number} [handshakeTimeoutMs] time to the first reply of the listener; 5000
 * @property {number} [requestTimeoutMs] inactivity of the server with requests in flight; 30000
 * @property {number} [offlineTimeoutMs] time that requests wait for a connection; 5000
 * @property {number} [keepAliveMs] idle time before a ping, below handlersocket_timeout (300 s, at
 *   least 30 s); 20000. 0: no pings, so the server closes idle connections
 * @property {number} [backoffMs] wait before the first reconnect; 50. Doubles, with jitter
 * @property {number} [backoffMaxMs] 2000
 * @property {number} [maxRetries] retries of a find after a lost connection; 2
 * @property {number} [maxInFlight] requests in flight per connection; 16384
 * @property {number} [maxReplyBytes] estimated bytes of their replies; 16 MiB
 * @property {number} [maxPending] requests in flight and queued, per connection; 1048576. Further
 *   requests reject with HS_QUEUE_FULL
 * @property {boolean} [allowSystemTables] permit tables of mysql, information_schema …; false
 * @property {(definition: IndexDefinition) => unknown} [guard] called before an index is opened;
 *   may throw or return a rejecting promise. See baseTableGuard
 */

/** @type {Readonly<Record<string, readonly [number, number, number]>>} default, minimum, maximum */
const NUMBERS = Object.freeze({
  connections: [3, 1, 64],
  writeConnections: [1, 1, 64],
  connectTimeoutMs: [5000, 1, 3_600_000],
  handshakeTimeoutMs: [5000, 1, 3_600_000],
  requestTimeoutMs: [30_000, 1, 3_600_000],
  offlineTimeoutMs: [5000, 0, 3_600_000],
  keepAliveMs: [20_000, 0, 3_600_000],
  backoffMs: [50, 1, 60_000],
  backoffMaxMs: [2000, 1, 600_000],
  maxRetries: [2, 0, 1000],
  maxInFlight: [16_384, 1, 2 ** 24],
  maxReplyBytes: [16 * 1024 * 1024, 1, 2 ** 40],
  maxPending: [1_048_576, 1, 2 ** 26],
});

/**
 * @typedef {object} Limits the numbers above, all set
 * @property {number} connections
 * @property {number} writeConnections
 * @property {number} connectTimeoutMs
 * @property {number} handshakeTimeoutMs
 * @property {number} requestTimeoutMs
 * @property {number} offlineTimeoutMs
 * @property {number} keepAliveMs
 * @property {number} backoffMs
 * @property {number} backoffMaxMs
 * @property {number} maxRetries
 * @property {number} maxInFlight
 * @property {number} maxReplyBytes
 * @property {number} maxPending
 */

/** @typedef {{ host: string, port: number } | { path: string }} Target */

/**
 * @typedef {object} Settings
 * @property {Target} read
 * @property {Target | null} write
 * @property {Secret | undefined} secret
 * @property {Secret | undefined} writeSecret
 * @property {Limits} limits
 * @property {boolean} allowSystemTables
 * @property {ClientOptions['guard']} guard
 */

const OTHER = new Set([
  ...['host', 'port', 'path', 'writePort', 'writePath', 'secret', 'writeSecret'],
  ...['allowSystemTables', 'guard', 'signal'],
]);

/**
 * @param {ClientOptions} options
 * @returns {Settings} checked and complete
 * @throws {HandlerSocketError} HS_ARGUMENT
 */
export function resolveOptions(options) {
  for (const name of Object.keys(options)) {
    if (!(name in NUMBERS) && !OTHER.has(name)) throw argumentError(`unknown option ${name}`);
  }
  /** @type {Record<string, number>} */
  const limits = {};
  for (const [name, [normal, min, max]] of Object.entries(NUMBERS)) {
    const value = /** @type {Record<string, any>} */ (options)[name] ?? normal;
    checkInteger(name, value, min, max);
    limits[name] = value;
  }
  const { host = '127.0.0.1', port = 9998, path, writePort, writePath, guard } = options;
  const { secret, writeSecret = secret } = options;
  for (const each of [secret, writeSecret]) if (typeof each === 'string') checkSecret(each);
  return {
    read: path === undefined ? tcp(host, port, 'port') : { path },
    write:
      writePath !== undefined
        ? { path: writePath }
        : writePort !== undefined
          ? tcp(host, writePort, 'writePort')
          : null,
    secret,
    writeSecret,
    limits: /** @type {any} */ (limits),
    allowSystemTables: options.allowSystemTables === true,
    guard,
  };
}

/**
 * @param {string} host
 * @param {number} port
 * @param {string} name
 * @returns {Target}
 */
function tcp(host, port, name) {
  checkInteger(name, port, 1, 65535);
  return { host, port };
}

/**
 * @param {Target} target
 * @returns {string} host:port or unix:/path, for messages
 */
export function formatTarget(target) {
  if ('path' in target) return `unix:${target.path}`;
  return target.host.includes(':')
    ? `[${target.host}]:${target.port}`
    : `${target.host}:${target.port}`;
}
