/** The drivers of MariaDB and MySQL, as storages: capabilities and how they are opened. */

import { openSqlInserter, sqlInserts } from './inserts/sql.js';
import { GET_LOCKS, openGetLocks } from './locks/get-lock.js';
import { sqlTarget } from './sql-clients.js';
import { sqlStatements } from './sql-rows.js';

/** @typedef {import('../lib/types.js').StorageDefinition} StorageDefinition */
/** @typedef {NonNullable<StorageDefinition['open']['rows']>} OpenRows */

/**
 * @param {import('./sql-clients.js').SqlDriver} driver
 * @param {OpenRows} rows
 * @param {{ pipelines?: boolean }} [how] description of its inserts
 * @returns {Pick<StorageDefinition,
 *   'server' | 'protocol' | 'tls' | 'rows' | 'inserts' | 'locks' | 'open'>}
 */
export function onSql(driver, rows, how) {
  return {
    server: 'mariadb',
    protocol: 'mysql',
    tls: true,
    rows: ['get', 'mget', 'set', 'add', 'del', 'scan'],
    inserts: sqlInserts(driver, how),
    locks: GET_LOCKS,
    open: {
      rows,
      insert: (context) => openSqlInserter(context, driver),
      lock: (context) => openGetLocks(context, driver),
    },
  };
}

/**
 * @typedef {(target: import('./connection.js').Target, options: Record<string, unknown>,
 *   statements: ReturnType<typeof sqlStatements>, how: any) => ReturnType<OpenRows>} OpenSql
 */

/**
 * @param {string} name name of the storage
 * @param {OpenSql} openConnection opens the profile's `call`
 * @param {OpenSql} openPool opens the profile's `pool`
 * @returns {OpenRows}
 */
export function rowsBySql(name, openConnection, openPool) {
  return async (context) => {
    const { target, options } = sqlTarget(context, name);
    const { call, pool } = /** @type {any} */ (context.profile.options);
    const statements = sqlStatements(context.names.table);
    return pool === undefined
      ? openConnection(target, options, statements, call)
      : openPool(target, options, statements, pool);
  };
}
