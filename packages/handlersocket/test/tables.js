/**
 * A private MariaDB with a database and a client for a file of tests; each test has separate
 * tables.
 */

import { after, before } from 'node:test';
import { startMariadb } from '../../../test/helpers/handlersocket-server.js';
import { connect } from '../index.js';

/**
 * Call it at the top of a test file.
 * @param {string} database
 */
export function withTables(database) {
  /** @type {Awaited<ReturnType<typeof startMariadb>>} */
  let server;
  /** @type {import('mysql2/promise').Connection} */
  let sql;
  /** @type {Awaited<ReturnType<typeof connect>>} */
  let client;
  let tables = 0;

  before(async () => {
    server = await startMariadb();
    sql = await server.sql();
    await sql.query(`CREATE DATABASE ${database}`);
    await sql.query(`USE ${database}`);
    client = await connect({ port: server.read, writePort: server.write });
  });

  after(async () => {
    await client?.close();
    await sql?.end();
    await server?.stop();
  });

  return {
    server: () => server,
    sql: () => sql,
    client: () => client,

    /**
     * @param {string} columns as in CREATE TABLE
     * @param {readonly (string | any[])[]} [rows] each in the form of VALUES, or its values
     * @returns {Promise<string>} name of a new table
     */
    async makeTable(columns, rows = []) {
      tables += 1;
      const table = `t${tables}`;
      await sql.query(`CREATE TABLE ${table} (${columns}) ENGINE=InnoDB`);
      const texts = rows.map((row) => (typeof row === 'string' ? row : `(${sql.escape(row)})`));
      if (rows.length > 0) await sql.query(`INSERT INTO ${table} VALUES ${texts.join(',')}`);
      return table;
    },

    /** @param {string} table @param {string[]} columns @param {object} [more] */
    open: (table, columns, more) => client.openIndex({ database, table, columns, ...more }),
  };
}
