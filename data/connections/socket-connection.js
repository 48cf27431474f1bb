/**
 * A socket with outstanding requests, the base of the Redis and Tarantool connections of loaders
 * and namespaces. No request waits forever, and the first error is reported in one line. Not for
 * measuring.
 */

import { once } from 'node:events';
import { formatEndpoint, hintOfTls } from '../../lib/address.js';
import { DragstripError, targetError } from '../../lib/errors.js';
import { openSocket } from '../../lib/tls.js';

/** A server without a reply for this long, while requests are outstanding, has failed. */
export const TIMEOUT_MS_DEFAULT = 30_000;
/** Time limit for connecting and the server's first reply: another protocol may wait silently. */
export const HANDSHAKE_MS_MAX = 5_000;

/**
 * @typedef {object} ConnectionOptions
 * @property {string} what name of the server in messages, `Redis`
 * @property {import('../../lib/types.js').Endpoint} endpoint
 * @property {number} [timeoutMs] see SeedContext
 * @property {AbortSignal} [signal] closes the connection and rejects outstanding requests
 */

/**
 * @typedef {object} PendingRequest
 * @property {(value: any) => void} resolve
 * @property {(error: Error) => void} reject
 */

/** Bytes in, replies out: subclasses parse the protocol in `consume`. */
export class SocketConnection {
  /** @param {ConnectionOptions} options */
  constructor({ what, endpoint, timeoutMs = TIMEOUT_MS_DEFAULT, signal }) {
    this.where = `${what} at ${formatEndpoint(endpoint)}`;
    this.endpoint = endpoint;
    this.timeoutMs = timeoutMs;
    /** inactivity timeout now: shorter until its first reply */
    this.limitMs = Math.min(timeoutMs, HANDSHAKE_MS_MAX);
    this.signal = signal;
    /** @type {Map<number, any>} outstanding requests, oldest first */
    this.waiting = new Map();
    /** @type {Error | null} */
    this.failure = null;
    /** @type {Buffer[]} received bytes that are not yet a reply */
    this.chunks = [];
    this.have = 0;
    /**
     * consume is called when this many bytes have arrived, so that a large reply is not parsed
     * piece by piece
     */
    this.need = 1;
    const { socket, ready } = openSocket(endpoint, { noDelay: true });
    this.socket = socket;
    this.ready = ready;
    this.onAbort = () => this.fail(abortedError(this.where));
  }

  /**
   * Waits for the connection; the subclass performs the handshake, if any.
   * @returns {Promise<void>}
   * @throws {DragstripError} E_TARGET, E_ABORTED
   */
  async opened() {
    const { socket } = this;
    socket.on('error', (error) => this.fail(this.lost(error)));
    socket.on('close', () => this.fail(this.lost()));
    socket.on('timeout', () => this.fail(this.silent()));
    socket.on('data', (chunk) => this.take(chunk));
    socket.setTimeout(this.limitMs);
    this.signal?.addEventListener('abort', this.onAbort);
    if (this.signal?.aborted) this.onAbort();
    if (this.failure === null) await once(socket, this.ready).catch(() => {});
    if (this.failure !== null) throw this.failure;
    if (this.waiting.size === 0) socket.setTimeout(0);
  }

  /**
   * Sends a request; `settle` resolves or rejects it. The bytes must not change until then.
   * @param {number} key
   * @param {Uint8Array} bytes
   * @param {object} [state] the subclass's own fields of the pending entry
   * @returns {Promise<any>}
   */
  request(key, bytes, state) {
    return new Promise((resolve, reject) => {
      if (this.failure !== null) {
        reject(this.failure);
        return;
      }
      this.waiting.set(key, { resolve, reject, ...state });
      this.socket.setTimeout(this.limitMs);
      this.socket.write(bytes);
    });
  }

  /**
   * @param {number} key
   * @param {Error | null} error
   * @param {any} [value]
   */
  settle(key, error, value) {
    const entry = this.waiting.get(key);
    this.waiting.delete(key);
    if (this.waiting.size === 0) this.socket.setTimeout(0);
    if (error === null) entry.resolve(value);
    else entry.reject(error);
  }

  /** @param {Buffer} chunk */
  take(chunk) {
    if (this.limitMs !== this.timeoutMs) {
      this.limitMs = this.timeoutMs;
      if (this.waiting.size > 0) this.socket.setTimeout(this.limitMs);
    }
    this.chunks.push(chunk);
    this.have += chunk.length;
    if (this.have < this.need || this.failure !== null) return;
    const bytes = this.chunks.length === 1 ? chunk : Buffer.concat(this.chunks, this.have);
    this.need = 1;
    try {
      const used = this.consume(bytes);
      this.chunks = used === bytes.length ? [] : [bytes.subarray(used)];
      this.have = bytes.length - used;
      if (this.need <= this.have) this.need = this.have + 1;
    } catch (error) {
      this.fail(error);
    }
  }

  /**
   * Parses the complete replies at the front; sets `need` if it knows the length of the next one.
   * @param {Buffer} _bytes
   * @returns {number} bytes used
   */
  consume(_bytes) {
    throw new Error('a subclass reads the protocol');
  }

  /** @param {Error} error the first one rejects all outstanding requests */
  fail(error) {
    if (this.failure !== null) return;
    this.failure = error;
    this.signal?.removeEventListener('abort', this.onAbort);
    this.socket.destroy();
    const entries = [...this.waiting.values()];
    this.waiting.clear();
    for (const entry of entries) entry.reject(error);
  }

  /** Closes immediately and rejects outstanding requests. */
  close() {
    this.fail(targetError(`${this.where}: the connection was closed by Dragstrip`));
  }

  /** @param {any} [error] */
  lost(error) {
    if (this.socket.connecting || /ECONNREFUSED|ENOENT|EHOSTUNREACH/.test(error?.code)) {
      return targetError(
        `${this.where}: cannot connect (${error?.code ?? 'closed'})`,
        START,
        error,
      );
    }
    const reason =
      error === undefined ? 'closed the connection' : `connection lost (${error.code})`;
    // Before its first reply it may be a port that accepts TLS only.
    const tls = this.limitMs < this.timeoutMs ? hintOfTls(this.endpoint, this.where) : undefined;
    return targetError(`${this.where}: ${reason}`, tls ?? 'check its log', error);
  }

  silent() {
    const seconds = this.limitMs / 1000;
    const what = this.socket.connecting ? 'no connection' : 'no reply';
    return targetError(`${this.where}: ${what} within ${seconds} s`, 'check whether it hangs');
  }

  /**
   * @param {Uint8Array} bytes
   * @returns {DragstripError} whether another protocol replies at this port
   */
  garbled(bytes) {
    const start = Buffer.from(bytes.subarray(0, 24)).toString('latin1');
    const what = this.where.slice(0, this.where.indexOf(' '));
    return targetError(
      `${this.where}: the reply is not in ${what}'s protocol: ${JSON.stringify(start)}`,
      'check the port: a different server listens there',
    );
  }
}

const START = 'start it (`npx dragstrip servers start`), or name its address';

/**
 * @param {string} where
 * @returns {DragstripError} E_ABORTED
 */
export function abortedError(where) {
  return new DragstripError('E_ABORTED', `${where}: stopped`);
}
