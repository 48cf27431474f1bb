/** The options of a client: defaults, bounds, and their check. */

import { argumentError } from './handlersocket-error.js';
import { checkInteger, checkSecret } from './validate.js';

/**
 * @typedef {import('./handlersocket-error.js').HandlerSocketError
 *   } HandlerSocketError
 */
/** @typedef {import('./request-lines.js').IndexDefinition} IndexDefinition */

/**
 * A plain secret, or a function that is asked for it at each connect (the server draws a new one at
 * each start unless one is configured).
 * @typedef {string | (() => string | Promise<string>)} Secret
 */

/**
 * @typedef {object} ClientOptions
 * @property {string} [host] 127.0.0.1
 * @property {number} [port] of the read listener; 9998
 * @property {string} [path] unix socket of the read listener, instead of host and port
 * @property {number} [writePort] of the write listener, such as 9999; without it (and without
 *   writePath) the client cannot change anything
 * @property {string} [writePath] unix socket of the write listener
 * @property {Secret} [secret] handlersocket_plain_secret
 * @property {Secret} [writeSecret] handlersocket_plain_secret_wr; the same as secret
 * @property {number} [connections] to the read listener, 1 to 64; 3
 * @property {number} [writeConnections] to the write listener; 1, so that changes stay in order
 * @property {number} [connectTimeoutMs] until TCP is connected; 5000
 * @property {number} [handshakeTimeoutMs] until the listener answers at all; 5000
 * @property {number} [requestTimeoutMs] silence of the server with requests in flight; 30000
 * @property {number} [offlineTimeoutMs] that requests wait for a connection; 5000
 * @property {number} [keepAliveMs] idle time before a ping, below handlersocket_timeout (300 s, at
 *   least 30 s); 20000. 0: none, the server then closes idle connections
 * @property {number} [backoffMs] wait before the first reconnect; 50. Doubles, with jitter
 * @property {number} [backoffMaxMs] 2000
 * @property {number} [maxRetries] times that a find is sent again after a loss; 2
 * @property {number} [maxInFlight] requests sent and not answered, per connection; 16384
 * @property {number} [maxReplyBytes] estimated bytes of the replies to them; 16 MiB
 * @property {number} [maxPending] requests in flight and waiting, per connection; 1048576. Beyond
 *   it requests reject with HS_QUEUE_FULL
 * @property {boolean} [allowSystemTables] open tables of mysql, information_schema …; false
 * @property {(definition: IndexDefinition) => unknown} [guard] called before
 *   an index is opened; may throw, or give a promise that rejects. See baseTableGuard
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
 * @typedef {object} Limits the numbers above, complete
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
    if (!(name in NUMBERS) && !OTHER.has(name)) throw argumentError(`option ${name}: not known`);
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
