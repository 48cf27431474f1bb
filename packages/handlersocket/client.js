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
 * @property {ColumnType | Readonly<Record<string, ColumnType>>} [types] of all columns, or by
 *   column; utf8
 * @property {Encoding} [keyEncoding] of strings in keys and filters; utf8
 * @property {boolean} [own] strings get memory of their own; false: a string of 13 characters or
 *   more may keep up to 64 KiB of what came with it, as long as it is kept. For caches
 * @property {AbortSignal} [signal]
 */

/**
 * @typedef {object} Counters
 * @property {number} pending requests without a reply, in flight and waiting
 * @property {number} inFlight sent and not answered
 * @property {number} requests sent, ever; those sent again count again
 * @property {number} batches writes to sockets that carried them
 * @property {number} bytesOut
 * @property {number} bytesIn
 * @property {number} connects handshakes done
 * @property {number} losses connections lost after that
 */

/**
 * Events: `connect` (address), `disconnect` (address, error) of each connection.
 */
export class HandlerSocketClient extends EventEmitter {
  /**
   * Connects nothing yet; use connect() of this module.
   * @param {ClientOptions} [options]
   */
  constructor(options = {}) {
    super();
    const settings = resolveOptions(options);
    this.settings = settings;
    const { limits, secret, writeSecret } = settings;
    // Outside the parser: an exception of a listener belongs to the caller.
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
    /** @type {Promise<void> | null} tables that failed openIndex calls have left open are let go */
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
   * @returns {Promise<void>} when every connection has answered; rejects with the first failure,
   *   and closes then
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
   * Opens an index for reading; for changes it is opened when the first one is asked for. Where the
   * table has no such index or column, the server has opened the table all the same, and would keep
   * it from ALTER and DROP: the connections are then made anew before this rejects.
   * @param {IndexDefinition & IndexOptions} options
   * @returns {Promise<OpenIndex>}
   * @throws {HandlerSocketError} HS_ARGUMENT, HS_OPEN_TABLE, HS_INDEX, HS_COLUMN, or what a
   *   connection can reject with
   */
  async openIndex(options) {
    const { database, table, index = 'PRIMARY', columns, filters = [] } = options;
    const { types: given = 'utf8', keyEncoding = 'utf8', own = false, signal } = options;
    if (this.closed) throw new HandlerSocketError('HS_CLOSED', 'the client is closed');
    const definition = { database, table, index, columns, filters };
    checkDefinition(definition, this.settings.allowSystemTables);
    const types = columnTypes(columns, given, own);
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
   * @returns {boolean} whether an index of its table is open: then the table is to be open
   */
  usesTable({ database, table }) {
    return [...this.opened.keys()].some((name) => {
      const other = JSON.parse(name);
      return other.database === database && other.table === table;
    });
  }

  /** @returns {Promise<void>} when the server has let go of tables without an open index */
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

  /** @param {string} name of a definition, one of whose users goes */
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
   * @returns {Pool} where changes go; opens the index there in the same flight
   */
  poolForChange(index) {
    const pool = this.writePool;
    if (pool === null) {
      throw argumentError('the client has no write listener: connect with writePort or writePath');
    }
    if (index !== undefined && !pool.indexes.has(index.id)) {
      // Where it cannot be opened, the change itself rejects, with that error as its cause.
      pool.open(index.id, index.definition, index.keepBytes).catch(() => pool.forget(index.id));
    }
    return pool;
  }

  /**
   * A request by its tokens: `request(['=', 1, 42], { index })` is a find by one key value.
   * @param {readonly import('./request-lines.js').Value[]} tokens
   * @param {import('./raw-request.js').RawOptions} [options]
   * @returns {Promise<import('./reply-values.js').RawReply>} of a reply of
   *   success; others reject as those of all calls
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
   * FLUSH TABLES. Requests in flight are answered first; others wait until `work` has ended, then
   * connections and indexes are opened again.
   * @template T
   * @param {() => T | Promise<T>} work
   * @param {{ timeoutMs?: number }} [options] 10 minutes; 0: no bound. The server keeps a table
   *   open while any other client is connected to the same thread: then the SQL of `work` waits
   * @returns {Promise<T>} result of `work`
   * @throws {HandlerSocketError} HS_RELEASE_TIMEOUT: connections are made again, but `work`, once
   *   begun, goes on
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
   * Refuses new requests, waits for the replies of those under way, closes.
   * @param {{ timeoutMs?: number }} [options] after which the rest rejects with HS_CLOSED; without,
   *   the timeouts of the connections bound the wait
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

  /** Closes at once: outstanding requests reject with HS_CLOSED. */
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
        : 'requests under way were not answered; the work was not begun';
      const text = `releaseTables: after ${timeoutMs} ms ${why}`;
      reject(new HandlerSocketError('HS_RELEASE_TIMEOUT', text));
    }, timeoutMs);
    done.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** The server reports these after it has opened the table (database.cpp, cmd_open). */
const TABLE_STAYS_OPEN = new Set(['HS_INDEX', 'HS_COLUMN']);

/** Of an index that was closed: its id may be another's by now. */
const NO_POOL = /** @type {any} */ ({
  pick() {
    throw argumentError('the index was closed');
  },
});

/**
 * @param {readonly string[]} columns
 * @param {ColumnType | Readonly<Record<string, ColumnType>>} given
 * @param {boolean} own
 * @returns {DecodedType[]}
 */
function columnTypes(columns, given, own) {
  if (given !== null && typeof given === 'object') {
    for (const column of Object.keys(given)) {
      if (!columns.includes(column)) throw argumentError(`types: ${column} is not a column opened`);
    }
  }
  return columns.map((column) => {
    const type = typeof given === 'string' ? given : (given[column] ?? 'utf8');
    if (own && type === 'utf8') return 'utf8:own';
    if (own && type === 'latin1') return 'latin1:own';
    if (COLUMN_TYPES.has(type)) return type;
    throw argumentError(
      `types: ${JSON.stringify(type)} is not one of ${[...COLUMN_TYPES].join(', ')}`,
    );
  });
}
