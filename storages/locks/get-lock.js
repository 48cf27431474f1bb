/**
 * GET_LOCK of MariaDB and MySQL: the server queues waiters; a lock belongs to a connection, ends
 * with it, and has no expiry. Every locked or waiting mutex has a separate connection.
 */

import { commandError, MutexError, timedOut } from '../../packages/mutex/mutex-error.js';
import { openOrThrow } from '../connection.js';
import { sqlTarget } from '../sql-clients.js';

/** @typedef {import('../../lib/types.js').Locks} Locks */
/** @typedef {import('../sql-clients.js').SqlDriver} SqlDriver */
/** @typedef {import('../../lib/types.js').LockHandler} LockHandler */
/** @typedef {import('../../lib/types.js').DistributedLock} DistributedLock */

/** @type {Readonly<Record<string, LockHandler>>} */
export const GET_LOCKS = Object.freeze({
  'get-lock': {
    summary: 'SQL GET_LOCK and RELEASE_LOCK: the server queues; the connection is the owner',
    several: 'GET_LOCK locks one name: several would be locked in sequence, not all or none',
    options: { connectionLimit: 400, expiry: 'none: a lock ends with its connection' },
  },
});

/** Maximum connections, out of the 500 of my.cnf. */
const CONNECTIONS_MAX = 400;
/** Maximum wait of MariaDB: a year. */
const FOREVER_S = 31_536_000;

/**
 * @param {import('../../lib/types.js').OpenContext} context
 * @param {SqlDriver} driver
 * @returns {Promise<Locks>}
 */
export async function openGetLocks(context, driver) {
  const { target, options } = sqlTarget(context, driver.name);
  const pool = await driver.createPool(options, CONNECTIONS_MAX);
  const locks = poolLocks(driver, pool, context.names);
  // The first connection checks the server.
  await openOrThrow(target, locks.number.get('none'), () => locks.close());
  return locks;
}

/**
 * @param {SqlDriver} driver
 * @param {import('../sql-clients.js').SqlPool} pool
 * @param {import('../../lib/types.js').NamespaceNames} names
 * @returns {Locks}
 */
function poolLocks({ result }, pool, { table, mysqlLock }) {
  return {
    mutex: ([name], { blockMs }) => new GetLock({ pool, result }, mysqlLock + name, blockMs),
    number: {
      set: (name, value) =>
        pool.execute(`replace into ${table} (name, value) values (?, ?)`, [name, value]),
      async increment(name) {
        // LAST_INSERT_ID(expression) returns the value without a second round trip.
        const reply = await pool.execute(
          `update ${table} set value = last_insert_id(value + 1) where name = ?`,
          [name],
        );
        return result(reply).insertId;
      },
      async get(name) {
        const reply = await pool.execute(`select value from ${table} where name = ?`, [name]);
        return result(reply)[0]?.value;
      },
      remove: (name) => pool.execute(`delete from ${table} where name = ?`, [name]),
    },
    async close() {
      await pool.end();
    },
  };
}

/** @implements {DistributedLock} */
class GetLock {
  /** @type {any} the connection that holds it */
  #connection = null;

  /**
   * @param {{ pool: import('../sql-clients.js').SqlPool, result: SqlDriver['result'] }} driver
   * @param {string} name
   * @param {number} blockMs
   */
  constructor({ pool, result }, name, blockMs) {
    this.pool = pool;
    this.result = result;
    this.name = name;
    this.blockMs = blockMs;
  }

  async lock() {
    const seconds = this.blockMs === Number.POSITIVE_INFINITY ? FOREVER_S : this.blockMs / 1000;
    if (await this.#take(seconds)) return;
    throw timedOut(this.name, this.blockMs);
  }

  tryLock() {
    return this.#take(0);
  }

  /** @param {number} seconds */
  async #take(seconds) {
    // The same connection would lock it a second time.
    if (this.#connection !== null) {
      throw new MutexError('MUTEX_DEADLOCK', `lock ${this.name}: this mutex already holds it`);
    }
    const connection = await this.pool.getConnection();
    try {
      const sql = 'select get_lock(?, ?) as got';
      const [row] = this.result(await connection.execute(sql, [this.name, seconds]));
      if (Number(row.got) !== 1) {
        connection.release();
        return false;
      }
      this.#connection = connection;
      return true;
    } catch (error) {
      connection.destroy();
      throw commandError(error, `lock ${this.name}`);
    }
  }

  async unlock() {
    const connection = this.#connection;
    if (connection === null) return false;
    this.#connection = null;
    try {
      const sql = 'select release_lock(?) as freed';
      const [row] = this.result(await connection.execute(sql, [this.name]));
      connection.release();
      return Number(row.freed) === 1;
    } catch (error) {
      connection.destroy();
      throw commandError(error, `unlock ${this.name}`);
    }
  }

  /** Without an expiry there is nothing to refresh. */
  refresh() {
    return this.owned();
  }

  async owned() {
    const connection = this.#connection;
    if (connection === null) return false;
    try {
      const sql = 'select is_used_lock(?) = connection_id() as ours';
      const [row] = this.result(await connection.execute(sql, [this.name]));
      return Number(row.ours) === 1;
    } catch (error) {
      throw commandError(error, `owned ${this.name}`);
    }
  }
}
