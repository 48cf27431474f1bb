/**
 * The client: a pool of connections to the read listener, one to the write listener, and the
 * indexes that are open through them.
 */

import { EventEmitter } from 'node:events';
import { resolveOptions } from './client-options.js';
import { IndexIds, Pool } from './connection-pool.js';
import { argumentError, HandlerSocketError } from './handlersocket-error.js';
import { abortedError, limited } from './limited.js';
import { OpenIndex } from './open-index.js';
import { sendRaw } from './raw-request.js';
import { COLUMN_TYPES, keepsBytes } from './reply-values.js';
import { RequestBatch } from './request-batch.js';
import { checkDefinition, INDEX_ID_MAX } from './validate.js';

/** @typedef {import('./reply-values.js').DecodedType} DecodedType */
/** @typedef {import('./request-lines.js').Encoding} Encoding */
/** @typedef {import('./request-lines.js').IndexDefinition} IndexDefinition */
/** @typedef {import('./client-options.js').ClientOptions} ClientOptions */
/** @typedef {import('./reply-values.js').ColumnType} ColumnType */
/** @typedef {import('./pipelined-connection.js').Connection} Connection */
/** @typedef {import('./index-requests.js').IndexRequests} IndexRequests */

/**
 * @typedef {object} IndexOptions
 * @property {ColumnType | Readonly<Record<string, ColumnType>>} [types] types of all columns, or by
 *   column; utf8
 * @property {Encoding} [keyEncoding] encoding of strings in keys and filters; utf8
 * @property {boolean} [own] copy strings; false: a string of 13 characters or more may retain up to
 *   64 KiB of the received data as long as it lives. For caches
 * @property {AbortSignal} [signal]
 */

/**
 * @typedef {object} Counters
 * @property {number} pending outstanding requests, in flight and queued
 * @property {number} inFlight requests in flight
 * @property {number} requests total requests sent, including retries
 * @property {number} batches writes to sockets
 * @property {number} bytesOut
 * @property {number} bytesIn
 * @property {number} connects completed handshakes
 * @property {number} losses connections lost after their handshake
 */

/**
 * Events: `connect` (address), `disconnect` (address, error) of each connection.
 */
export class HandlerSocketClient extends EventEmitter {
  /**
   * Does not connect; use connect() of this module.
   * @param {ClientOptions} [options]
   */
  constructor(options = {}) {
    super();
    const settings = resolveOptions(options);
    this.settings = settings;
    const { limits, secret, writeSecret } = settings;
    // Outside the parser, so that an exception of a listener is the caller's.
    const hooks = {
      onConnect: (/** @type {Connection} */ { address }) => {
        process.nextTick(() => this.emit('connect', address));
      },
      onDisconnect: (/** @type {Connection} */ { address }, /** @type {Error} */ error) => {
        process.nextTick(() => this.emit('disconnect', address, error));
      },
    };
    this.readPool = new Pool(settings.read, { secret, limits }, limits.connections, hooks);
    this.writePool =
      settings.write === null
        ? null
        : new Pool(settings.write, { secret: writeSecret, limits }, limits.writeConnections, hooks);
    this.ids = new IndexIds(INDEX_ID_MAX);
    /** @type {Map<string, { id: number, users: number, opened: Promise<void> }>} by definition */
    this.opened = new Map();
    /** Calls of releaseTables under way. */
    this.releases = 0;
    /** @type {Promise<void> | null} release of tables left open by failed openIndex calls */
    this.healing = null;
    this.closed = false;
  }

  /** @returns {Pool[]} */
  get pools() {
    return this.writePool === null ? [this.readPool] : [this.readPool, this.writePool];
  }

  /** @returns {Connection[]} */
  get connections() {
    return this.pools.flatMap(({ connections }) => connections);
  }

  /**
   * @param {{ signal?: AbortSignal }} [options]
   * @returns {Promise<void>} resolves when every connection has replied; rejects with the first
   *   failure and closes
   */
  async connect({ signal } = {}) {
    try {
      if (signal?.aborted) throw abortedError(signal, false);
      const all = Promise.all(this.pools.map((pool) => pool.connect()));
      await limited(all, { signal }, false);
    } catch (error) {
      this.destroy();
      throw error;
    }
  }

  /**
   * Opens an index for reading; it is opened for changes with the first change. If the table lacks
   * the index or a column, the server has still opened the table, which would block ALTER and DROP,
   * so the connections are replaced before this rejects.
   * @param {IndexDefinition & IndexOptions} options
   * @returns {Promise<OpenIndex>}
   * @throws {HandlerSocketError} HS_ARGUMENT, HS_OPEN_TABLE, HS_INDEX, HS_COLUMN, or an error of a
   *   connection
   */
  async openIndex(options) {
    const { database, table, index = 'PRIMARY', columns, filters = [] } = options;
    const {
      types: typeOption = 'utf8',
      keyEncoding = 'utf8',
      own: copies = false,
      signal,
    } = options;
    if (this.closed) throw new HandlerSocketError('HS_CLOSED', 'the client is closed');
    const definition = { database, table, index, columns, filters };
    checkDefinition(definition, this.settings.allowSystemTables);
    const types = columnTypes(columns, typeOption, copies);
    await this.settings.guard?.(definition);
    if (signal?.aborted) throw abortedError(signal, false);
    const keepBytes = types.some(keepsBytes);
    const name = JSON.stringify(definition);
    let entry = this.opened.get(name);
    if (entry === undefined) {
      const id = this.ids.take(this.pools.every((pool) => pool.pending === 0));
      const opened = this.readPool.open(id, definition, keepBytes);
      entry = { id, users: 0, opened };
      this.opened.set(name, entry);
    } else if (keepBytes) {
      this.readPool.keepAllBytes();
    }
    entry.users += 1;
    try {
      await limited(entry.opened, { signal }, false);
    } catch (error) {
      this.release(name);
      if (TABLE_STAYS_OPEN.has(error.code) && !this.usesTable(definition)) await this.heal();
      throw error;
    }
    const { readPool } = this;
    const { id } = entry;
    return new OpenIndex({ id, definition, types, keyEncoding, readPool, client: this, name });
  }

  /**
   * @param {IndexDefinition} definition
   * @returns {boolean} whether an index of its table is open, so that the table must stay open
   */
  usesTable({ database, table }) {
    return [...this.opened.keys()].some((name) => {
      const other = JSON.parse(name);
      return other.database === database && other.table === table;
    });
  }

  /** @returns {Promise<void>} resolves when the server has released tables without an open index */
  async heal() {
    if (this.closed) return;
    this.healing ??= this.releaseTables(() => {}).finally(() => {
      this.healing = null;
    });
    await this.healing.catch(() => {});
  }

  /**
   * @param {IndexRequests} index
   */
  closeIndex(index) {
    if (index.id < 0) return;
    index.id = -1;
    index.readPool = NO_POOL;
    this.release(index.name);
  }

  /** @param {string} name name of a definition that loses a user */
  release(name) {
    const entry = this.opened.get(name);
    if (entry === undefined) return;
    entry.users -= 1;
    if (entry.users > 0) return;
    this.opened.delete(name);
    for (const pool of this.pools) pool.forget(entry.id);
    this.ids.give(entry.id);
  }

  /**
   * @param {IndexRequests} [index]
   * @returns {Pool} pool for changes; opens the index there in the same flight
   */
  poolForChange(index) {
    const pool = this.writePool;
    if (pool === null) {
      throw argumentError('the client has no write listener: connect with writePort or writePath');
    }
    if (index !== undefined && !pool.indexes.has(index.id)) {
      // If it cannot be opened, the change rejects with that error as its cause.
      pool.open(index.id, index.definition, index.keepBytes).catch(() => pool.forget(index.id));
    }
    return pool;
  }

  /**
   * A request by its tokens: `request(['=', 1, 42], { index })` is a find by one key value.
   * @param {readonly import('./request-lines.js').Value[]} tokens
   * @param {import('./raw-request.js').RawOptions} [options]
   * @returns {Promise<import('./reply-values.js').RawReply>} tokens of a successful reply; others
   *   reject like all calls
   */
  request(tokens, options = {}) {
    return sendRaw(this, tokens, options);
  }

  /** @returns {RequestBatch} an explicit batch: all its requests go to one connection at once */
  batch() {
    return new RequestBatch(this);
  }

  /** @returns {Counters} */
  counters() {
    const sum = { requests: 0, batches: 0, bytesOut: 0, bytesIn: 0, connects: 0, losses: 0 };
    let pending = 0;
    let inFlight = 0;
    for (const { counters, sendQueue, acks } of this.connections) {
      const pings = acks?.outstanding ?? 0;
      pending += sendQueue.size - pings;
      inFlight += Math.max(0, sendQueue.inFlight - pings);
      for (const name of /** @type {(keyof typeof sum)[]} */ (Object.keys(sum))) {
        sum[name] += counters[name];
      }
    }
    return { pending, inFlight, ...sum };
  }

  /**
   * Closes every connection so that the server lets go of its tables, for ALTER, TRUNCATE, DROP or
   * FLUSH TABLES. Requests in flight are completed first; others wait until `work` has ended, then
   * connections and indexes are opened again.
   * @template T
   * @param {() => T | Promise<T>} work
   * @param {{ timeoutMs?: number }} [options] 10 minutes; 0: no limit. The server keeps a table
   *   open while another client is connected to the same thread; the SQL of `work` then waits
   * @returns {Promise<T>} result of `work`
   * @throws {HandlerSocketError} HS_RELEASE_TIMEOUT: connections are opened again, but `work`, if
   *   started, continues
   */
  async releaseTables(work, { timeoutMs = RELEASE_TIMEOUT_MS } = {}) {
    const { connections } = this;
    this.releases += 1;
    const turn = { isOver: false, hasBegun: false };
    const held = Promise.all(connections.map((connection) => connection.hold()));
    const done = held.then(() => {
      if (turn.isOver) return /** @type {any} */ (undefined);
      turn.hasBegun = true;
      return work();
    });
    try {
      return await (timeoutMs === 0 ? done : withinRelease(done, timeoutMs, turn));
    } finally {
      turn.isOver = true;
      this.releases -= 1;
      if (this.releases === 0) for (const connection of connections) connection.resume();
    }
  }

  /**
   * Refuses new requests, waits for outstanding replies, then closes.
   * @param {{ timeoutMs?: number }} [options] after this time the rest rejects with HS_CLOSED; by
   *   default the timeouts of the connections apply
   * @returns {Promise<void>}
   */
  async close({ timeoutMs } = {}) {
    this.closed = true;
    const all = Promise.all(this.connections.map((connection) => connection.close()));
    /** @type {NodeJS.Timeout | undefined} */
    let timer;
    if (timeoutMs !== undefined) timer = setTimeout(() => this.destroy(), timeoutMs);
    try {
      await all;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Closes immediately; outstanding requests reject with HS_CLOSED. */
  destroy() {
    this.closed = true;
    for (const connection of this.connections) connection.destroy();
  }
}

/** An ALTER of a large table takes minutes. */
const RELEASE_TIMEOUT_MS = 600_000;

/**
 * @template T
 * @param {Promise<T>} done
 * @param {number} timeoutMs
 * @param {{ hasBegun: boolean }} turn
 * @returns {Promise<T>}
 */
function withinRelease(done, timeoutMs, turn) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      const why = turn.hasBegun
        ? 'the work has not ended. Other clients may keep the table open: close them, and set ' +
          'lock_wait_timeout in the session of its SQL'
        : 'outstanding requests got no reply; the work was not started';
      const text = `releaseTables: after ${timeoutMs} ms ${why}`;
      reject(new HandlerSocketError('HS_RELEASE_TIMEOUT', text));
    }, timeoutMs);
    done.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** The server reports these after it has opened the table (database.cpp, cmd_open). */
const TABLE_STAYS_OPEN = new Set(['HS_INDEX', 'HS_COLUMN']);

/** Pool of a closed index, whose id may have been reused. */
const NO_POOL = /** @type {any} */ ({
  pick() {
    throw argumentError('the index was closed');
  },
});

/**
 * @param {readonly string[]} columns
 * @param {ColumnType | Readonly<Record<string, ColumnType>>} types
 * @param {boolean} copies
 * @returns {DecodedType[]}
 */
function columnTypes(columns, types, copies) {
  if (types !== null && typeof types === 'object') {
    for (const column of Object.keys(types)) {
      if (!columns.includes(column)) throw argumentError(`types: ${column} is not an open column`);
    }
  }
  return columns.map((column) => {
    const type = typeof types === 'string' ? types : (types[column] ?? 'utf8');
    if (copies && type === 'utf8') return 'utf8:own';
    if (copies && type === 'latin1') return 'latin1:own';
    if (COLUMN_TYPES.has(type)) return type;
    throw argumentError(
      `types: ${JSON.stringify(type)} is not one of ${[...COLUMN_TYPES].join(', ')}`,
    );
  });
}
