/** Checks that a table to open is a base table, because opening a view kills the server. */

import { argumentError } from './handlersocket-error.js';

/** @typedef {import('./request-lines.js').IndexDefinition} IndexDefinition */

/**
 * Creates a `guard` for the client's options from any SQL connection. HandlerSocket itself cannot
 * distinguish views from tables.
 * @param {(sql: string, values: string[]) => Promise<any>} query returns rows, or [rows, …] like
 *   mysql2
 * @returns {(definition: IndexDefinition) => Promise<void>} rejects with HS_ARGUMENT for a view;
 *   the server reports missing tables
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
