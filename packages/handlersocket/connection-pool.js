/**
 * The connections to one listener, and the indexes that are open on all of them under the same ids.
 * A request is sent on the connection with the fewest requests. The pool does not interpret
 * requests.
 */

import { formatTarget } from './client-options.js';
import { argumentError } from './handlersocket-error.js';
import { Connection } from './pipelined-connection.js';
import { encodeOpen } from './request-lines.js';

/** @typedef {import('./request-lines.js').IndexDefinition} IndexDefinition */

export class Pool {
  /**
   * @param {import('./client-options.js').Target} target
   * @param {{ secret: import('./client-options.js').Secret | undefined,
   *   limits: import('./client-options.js').Limits }} settings
   * @param {number} size number of connections
   * @param {Pick<import('./pipelined-connection.js').ConnectionHooks,
   *   'onConnect' | 'onDisconnect'>} hooks
   */
  constructor(target, settings, size, hooks) {
    this.address = formatTarget(target);
    /** @type {Map<number, IndexDefinition>} */
    this.indexes = new Map();
    /** @type {Connection[]} */
    this.connections = [];
    for (let i = 0; i < size; i += 1) {
      const all = { ...hooks, indexes: () => this.indexes };
      this.connections.push(new Connection(target, settings, all));
    }
    this.first = this.connections[0];
    this.single = size === 1;
  }

  /** @returns {Connection} the connected one with the fewest requests */
  pick() {
    if (this.single) return this.first;
    const { connections } = this;
    let best = this.first;
    let bestLoad = loadOf(best);
    for (let i = 1; i < connections.length; i += 1) {
      const load = loadOf(connections[i]);
      if (load < bestLoad) {
        best = connections[i];
        bestLoad = load;
      }
    }
    return best;
  }

  /**
   * In sequence, because on a busy machine the server thread that wakes first accepts nearly all
   * connections that arrive together, and then serves them alone (of 3, on 1.5 threads of 4 instead
   * of 2.5; on a quiet machine the difference is small).
   * @returns {Promise<void>} resolves when all are connected; rejects with the first failure
   */
  async connect() {
    for (const connection of this.connections) await connection.connect();
  }

  /** Keeps undecoded bytes, for a column or a reply that needs them. */
  keepAllBytes() {
    for (const { serverSocket } of this.connections) serverSocket.keepAllBytes();
  }

  /**
   * Opens an index on every connection, including later ones.
   * @param {number} id
   * @param {IndexDefinition} definition
   * @param {boolean} keepBytes
   * @returns {Promise<void>} rejects if a connection could not open it
   */
  async open(id, definition, keepBytes) {
    if (keepBytes) this.keepAllBytes();
    if (this.indexes.has(id)) return;
    this.indexes.set(id, definition);
    const line = encodeOpen(id, definition);
    const opened = this.connections.map((connection) => this.openOn(connection, id, line));
    const results = await Promise.allSettled(opened);
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }

  /**
   * @param {Connection} connection
   * @param {number} id
   * @param {string} line
   * @returns {Promise<void>}
   */
  async openOn(connection, id, line) {
    // Without a socket the next handshake opens it.
    if (connection.serverSocket.state !== 'open') {
      if (connection !== this.first) return;
      await connection.connect();
      const error = connection.serverSocket.openErrors.get(id);
      if (error !== undefined) throw error;
      return;
    }
    await new Promise((resolve, reject) => {
      connection.sendOpen(id, line, (error) => (error ? reject(error) : resolve(undefined)));
    });
  }

  /** @param {number} id id that is not opened on new connections any more */
  forget(id) {
    this.indexes.delete(id);
  }

  /** @returns {number} number of outstanding requests */
  get pending() {
    return this.connections.reduce((sum, { sendQueue }) => sum + sendQueue.size, 0);
  }
}

/** A connection that is not ready ranks after any connection that is. */
const NOT_READY = 2 ** 40;

/** @param {Connection} connection */
function loadOf(connection) {
  const load = connection.sendQueue.pending.size;
  return connection.serverSocket.state === 'open' ? load : load + NOT_READY;
}

/**
 * Allocates index ids: small, because the server has a vector up to the largest, and reused,
 * because it cannot close an index.
 */
export class IndexIds {
  /** @param {number} max */
  constructor(max) {
    this.max = max;
    this.next = 0;
    /** @type {number[]} */
    this.free = [];
  }

  /**
   * @param {boolean} quiet whether nothing is in flight; ids are reused only then, because a
   *   retried find on the old index would read the new one
   * @returns {number}
   */
  take(quiet) {
    const id = (quiet ? this.free.pop() : undefined) ?? this.next;
    if (id > this.max) throw argumentError(`more than ${this.max + 1} indexes are open`);
    if (id === this.next) this.next += 1;
    return id;
  }

  /** @param {number} id */
  give(id) {
    this.free.push(id);
  }
}
