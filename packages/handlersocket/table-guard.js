/** Checks that a table to open is a base table: opening a view kills the server. */

import { argumentError } from './handlersocket-error.js';

/** @typedef {import('./request-lines.js').IndexDefinition} IndexDefinition */

/**
 * Makes a `guard` for the client's options out of any SQL connection. HandlerSocket itself cannot
 * tell a view from a table.
 * @param {(sql: string, values: string[]) => Promise<any>} query gives rows, or [rows, …] as mysql2
 * @returns {(definition: IndexDefinition) => Promise<void>} rejects with
 *   HS_ARGUMENT for a view; a table that does not exist is left to the server
 */
export function baseTableGuard(query) {
  return async ({ database, table }) => {
    const answer = await query(
      'SELECT TABLE_TYPE AS type FROM information_schema.TABLES ' +
        'WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?',
      [database, table],
    );
    const rows = Array.isArray(answer?.[0]) ? answer[0] : answer;
    const type = rows[0]?.type;
    if (type === undefined || type === 'BASE TABLE') return;
    throw argumentError(
      `${database}.${table} is a ${String(type).toLowerCase()}, not a table: opening it would ` +
        'kill the server',
    );
  };
}
