/** The place of the inserted rows in MariaDB: a table of ours, marked by its comment. */

import { formatEndpoint } from '../../lib/address.js';
import { refusedError, targetError } from '../../lib/errors.js';
import { INSERT_MARKER, INSERT_PLACE } from '../../lib/insertion.js';

const { database, table } = INSERT_PLACE;
const TABLE = `${database}.${table}`;
/** The server's own default is a day; who keeps the table open is told instead. */
const LOCK_WAIT_SECONDS = 15;

/**
 * @param {import('./stage.js').StageServer} server
 * @returns {Promise<import('./stage.js').InsertStage>}
 */
export async function openStage({ address: { sql }, credentials: { user = 'root', password } }) {
  const { createConnection } = await import('mysql2/promise');
  const place =
    sql.path === undefined ? { host: sql.host, port: sql.port } : { socketPath: sql.path };
  const where = `MariaDB at ${formatEndpoint(sql)}`;
  const connection = await createConnection({
    ...place,
    user,
    password,
    connectTimeout: 5000,
  }).catch((error) => {
    throw targetError(`${where}: ${error.message}`, undefined, error);
  });
  await connection.query(`SET lock_wait_timeout = ${LOCK_WAIT_SECONDS}`);
  const isOurs = async () => {
    const [found] = await connection.query(
      'SELECT table_type AS type, table_comment AS comment FROM information_schema.tables ' +
        'WHERE table_schema = ? AND table_name = ?',
      [database, table],
    );
    const [row] = /** @type {any[]} */ (found);
    return row === undefined ? null : row.type === 'BASE TABLE' && row.comment === INSERT_MARKER;
  };
  return {
    async make() {
      const ours = await isOurs();
      if (ours === false) {
        throw refusedError(
          `${where}: ${TABLE} is there and was not made by Dragstrip: nothing was touched`,
          'use another server (`dragstrip servers start mariadb`), or rename what is yours',
        );
      }
      if (ours) await connection.query(`DROP TABLE ${TABLE}`);
      await connection.query(`CREATE DATABASE IF NOT EXISTS ${database}`);
      await connection.query(
        `CREATE TABLE ${TABLE} (a INT NOT NULL PRIMARY KEY, b INT NOT NULL) ENGINE=InnoDB ` +
          `COMMENT='${INSERT_MARKER}'`,
      );
    },
    /** The database stays: it may be anybody's. */
    async strike() {
      if (await isOurs()) await connection.query(`DROP TABLE ${TABLE}`);
    },
    async close() {
      connection.destroy();
    },
  };
}
