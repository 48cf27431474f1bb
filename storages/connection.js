/**
 * Shared parts of adapters for opening and losing a connection: endpoints, one clear error without
 * a server, a time limit, and codes for errors of drivers without one. Not for the path of an
 * operation.
 */

import { formatEndpoint } from '../lib/address.js';
import { METHODS_OF } from '../lib/capabilities.js';
import { DragstripError, targetError } from '../lib/errors.js';
import { hintOf } from '../lib/hints.js';
import { hideSecrets } from '../lib/secrets.js';
import { explainTls } from '../lib/tls.js';
import { within } from '../lib/within.js';

/** @typedef {import('../lib/types.js').Address} Address */
/** @typedef {import('../lib/types.js').Credentials} Credentials */
/** @typedef {import('../lib/types.js').Endpoint} Endpoint */

/** Time limit in milliseconds for opening, since a server of a different protocol may not reply. */
export const OPEN_LIMIT_MS = 8000;

/**
 * @param {Address} address
 * @param {string} name name of the endpoint: `main`, `sql`, `read`
 * @param {string} storage for the message
 * @returns {Endpoint}
 * @throws {DragstripError} E_TARGET: the address is unknown
 */
export function requireEndpoint(address, name, storage) {
  const endpoint = address[name];
  if (endpoint !== undefined) return endpoint;
  throw targetError(
    `${storage}: no address for its server's endpoint "${name}"`,
    'start one with "npx dragstrip servers start", or give its address',
  );
}

/**
 * @typedef {object} Target address of a storage, also for messages
 * @property {string} storage
 * @property {Endpoint} endpoint
 * @property {Credentials} credentials
 */

/**
 * @param {Pick<import('../lib/types.js').OpenContext,
 *   'address' | 'credentials' | 'logins'>} context
 * @param {string} name name of the endpoint
 * @param {string} storage
 * @returns {Target}
 * @throws {DragstripError} E_TARGET: the address is unknown
 */
export function targetOf({ address, credentials: own, logins }, name, storage) {
  const credentials = logins?.[name] ?? own;
  return { storage, endpoint: requireEndpoint(address, name, storage), credentials };
}

/**
 * @template {import('../lib/types.js').OpenContext} T
 * @param {T} context
 * @param {Credentials} [login] absent: the login of the endpoint
 * @returns {T} with this login for every endpoint
 */
export function withLogin(context, login) {
  return login === undefined ? context : { ...context, credentials: login, logins: {} };
}

/**
 * @param {Endpoint} endpoint
 * @returns {{ host: string, port: number } | { path: string }} options of node:net
 */
export function connectOptions(endpoint) {
  return endpoint.path === undefined
    ? { host: endpoint.host, port: endpoint.port }
    : { path: endpoint.path };
}

/**
 * Waits for `opening`; any failure becomes an E_TARGET error with the address.
 * @template T
 * @param {Target} target
 * @param {Promise<T>} opening
 * @param {() => unknown} abandon releases the attempt; called once if opening fails
 * @returns {Promise<T>}
 * @throws {DragstripError} E_TARGET
 */
export async function openOrThrow({ storage, endpoint, credentials }, opening, abandon) {
  const late = () => new Error(`no reply in its protocol within ${OPEN_LIMIT_MS / 1000} s`);
  try {
    return await within(opening, OPEN_LIMIT_MS, late);
  } catch (error) {
    try {
      await abandon();
    } catch {
      // The first error is reported; closing a connection that never opened may fail too.
    }
    if (error instanceof DragstripError) throw error;
    throw targetError(
      `${storage}: ${formatEndpoint(endpoint)}: ${describe(error, credentials)}`,
      hintOf(error) ??
        'start a server with "npx dragstrip servers start", fill it with "npx dragstrip seed", or give the ' +
          'address of the right one',
    );
  }
}

/**
 * A server of a different protocol may echo its input including the password, which is removed; for
 * the same reason the driver's error is not kept as the cause.
 * @param {any} error some drivers wrap the attempts on ::1 and 127.0.0.1 in an AggregateError
 * @param {Credentials} credentials
 * @returns {string} one line
 */
function describe(error, credentials) {
  const inner = Array.isArray(error?.errors) && error.message === '' ? error.errors[0] : error;
  const reason = explainTls(inner) ?? String(inner?.message ?? inner).split('\n')[0];
  return hideSecrets(reason, credentials);
}

/**
 * Adds a code to a driver's error without one, in place, because the driver rejects with that
 * object.
 * @template T
 * @param {T} error
 * @param {string} [code] ECONNRESET, as in Node for a lost peer
 * @returns {T} the same object
 */
export function withCode(error, code = 'ECONNRESET') {
  const target = /** @type {any} */ (error);
  if (target instanceof Error && /** @type {any} */ (target).code === undefined) {
    /** @type {any} */ (target).code = code;
  }
  return error;
}

/**
 * The same for all errors of a class of the driver that are created out of reach of listeners.
 * @param {Function} errorClass
 * @param {string} [code]
 */
export function codeClass(errorClass, code = 'ECONNRESET') {
  errorClass.prototype.code ??= code;
}

/**
 * Requests after a loss fail with the error of the loss, since drivers have others without a code.
 * The operations of the handle are replaced, so requests before the loss have no overhead.
 * @param {import('../lib/types.js').RowsHandle} handle
 * @param {Error} error
 * @param {import('../lib/types.js').CallStyle} [calls]
 */
export function loseHandle(handle, error, calls = 'promise') {
  const fail = () => Promise.reject(error);
  const later = (/** @type {any[]} */ ...words) => process.nextTick(words.at(-1), error);
  const lost = calls === 'callback' ? later : fail;
  for (const name of Object.values(METHODS_OF).flat()) {
    if (handle[name] !== undefined) handle[name] = lost;
  }
}

/**
 * Calls loseHandle as soon as the socket of a connection fails, ends or closes, before the driver's
 * own listeners, whose callbacks may send new requests immediately.
 * @param {import('node:net').Socket} socket
 * @param {import('../lib/types.js').RowsHandle} handle
 * @param {import('../lib/types.js').CallStyle} [calls]
 * @returns {import('../lib/types.js').RowsHandle} the same handle
 */
export function watchLoss(socket, handle, calls) {
  onLoss(socket, (error) => loseHandle(handle, error, calls));
  return handle;
}

/**
 * @param {import('node:net').Socket} socket
 * @param {(error: Error) => void} lose called once, before the driver's own listeners
 */
export function onLoss(socket, lose) {
  let lost = false;
  const once = (/** @type {unknown} */ error) => {
    if (lost) return;
    lost = true;
    lose(error instanceof Error ? withCode(error) : closedError());
  };
  for (const event of ['error', 'end', 'close']) socket.prependListener(event, once);
  // A failed write destroys the socket at once but emits events only in the next tick: a request
  // between the two would reject with the driver's own error, without a code.
  const destroy = socket._destroy;
  socket._destroy = (error, callback) => {
    once(error);
    destroy.call(socket, error, callback);
  };
}

/**
 * @param {string} [message]
 * @returns {Error} error of requests rejected by close()
 */
export function closedError(message = 'the connection was closed') {
  return withCode(new Error(message));
}

/**
 * Drivers reject connect() with messages such as "Connection is closed."; an event has the reason.
 * @param {any} client
 * @param {readonly string[]} [events]
 * @returns {Promise<unknown>} rejected with the first reason
 */
export async function connectWithCause(client, events = ['error']) {
  /** @type {unknown} */
  let cause;
  for (const event of events) {
    client.on(event, (/** @type {unknown} */ error) => {
      cause ??= error;
    });
  }
  try {
    return await client.connect();
  } catch (error) {
    throw cause ?? error;
  }
}

/**
 * @param {import('node:net').Socket} socket
 * @param {() => void} [end] destroys the client
 * @returns {Promise<void>} resolves when it is closed
 */
export async function closeSocket(socket, end = () => void socket.destroy()) {
  if (socket.destroyed) return;
  const closed = new Promise((resolve) => socket.once('close', resolve));
  end();
  await closed;
}

/**
 * The handle of a pool. A lost connection ends it, because the pool would silently open a new one.
 * @param {readonly import('node:net').Socket[]} sockets sockets of all connections
 * @param {Omit<import('../lib/types.js').RowsHandle, 'close'>} operations
 * @param {import('./pool-wait.js').PoolWait} waits
 * @param {(error: Error) => void} abort rejects outstanding requests
 * @returns {import('../lib/types.js').RowsHandle}
 */
export function poolHandle(sockets, operations, waits, abort) {
  /** @type {import('../lib/types.js').RowsHandle} */
  const handle = {
    ...operations,
    poolWait: () => waits.take(),
    async close() {
      loseHandle(handle, closedError());
      abort(closedError());
    },
  };
  for (const socket of sockets) {
    onLoss(socket, (error) => {
      loseHandle(handle, error);
      abort(error);
    });
  }
  return handle;
}

/**
 * Joins the writes of one tick on a stream: cork at the first, uncork at the end of the tick.
 * @param {import('node:stream').Writable} stream
 * @returns {() => void} function to call before each write; takes some nanoseconds after the first
 */
export function createCork(stream) {
  let corked = false;
  const uncork = () => {
    corked = false;
    stream.uncork();
  };
  return () => {
    if (corked) return;
    corked = true;
    stream.cork();
    process.nextTick(uncork);
  };
}

/**
 * @template {any[]} T
 * @param {(() => void) | null} cork see createCork; null: writes are not joined
 * @param {(...words: T) => any} send sends a command of at most three words
 * @returns {(...words: T) => any} send with cork
 */
export function corked(cork, send) {
  if (cork === null) return send;
  const call = /** @type {(a: any, b?: any, c?: any) => any} */ (/** @type {unknown} */ (send));
  return /** @type {any} */ (
    (/** @type {any} */ a, /** @type {any} */ b, /** @type {any} */ c) => {
      cork();
      return call(a, b, c);
    }
  );
}
