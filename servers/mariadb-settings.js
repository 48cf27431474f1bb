/** Version and settings of a MariaDB or MySQL, and the state of HandlerSocket. */

import { formatEndpoint } from '../lib/address.js';
import { targetError } from '../lib/errors.js';
import { hintOf } from '../lib/hints.js';
import { explainTls, forMysql2, sqlLogin } from '../lib/tls.js';
import { PROBE_TIMEOUT_MS } from './conversation.js';

/** @typedef {import('../lib/types.js').Credentials} Credentials */
/** @typedef {import('../lib/types.js').Endpoint} Endpoint */

const SETTINGS = [
  'innodb_buffer_pool_size',
  'innodb_flush_log_at_trx_commit',
  'log_bin',
  'performance_schema',
  'handlersocket_threads',
  'handlersocket_threads_wr',
  'handlersocket_accept_balance',
];

/** Identifies other products with the protocol of MySQL. */
const PRODUCT_VARIABLES = ['version_comment', 'aurora_version'];

/**
 * The version in results, with the product name unless it is MariaDB. Pure.
 * @param {{ version: string, comment?: string, aurora?: string }} variables variables of the server
 * @returns {string} `10.11.19-MariaDB`, `MySQL 8.4.2`, `Percona Server 8.0.36-28`
 */
export function sqlProduct({ version, comment = '', aurora }) {
  if (/MariaDB/i.test(version)) return version;
  const tidb = /-TiDB-v?(\S+)$/.exec(version)?.[1];
  if (tidb !== undefined) return `TiDB ${tidb}`;
  if (aurora) return `Aurora MySQL ${aurora}`;
  if (/Percona/i.test(comment)) return `Percona Server ${version}`;
  return /MySQL|^Source distribution$/i.test(comment) ? `MySQL ${version}` : version;
}

/**
 * @param {Endpoint} endpoint
 * @param {Credentials} credentials
 */
export async function readSettings(endpoint, { user = 'root', password }) {
  const { createConnection } = await import('mysql2/promise');
  let connection;
  try {
    const login = sqlLogin(endpoint, { user, password });
    connection = await createConnection(forMysql2({ ...login, connectTimeout: PROBE_TIMEOUT_MS }));
    return await querySettings(connection);
  } catch (error) {
    throw targetError(
      `MariaDB at ${formatEndpoint(endpoint)}, user ${user}: ${explainTls(error) ?? error.message}`,
      hintOf(error) ??
        'set DRAGSTRIP_MYSQL_USER, and DRAGSTRIP_MYSQL_PASSWORD or ' +
          'DRAGSTRIP_MYSQL_PASSWORD_FILE',
      error,
    );
  } finally {
    connection?.destroy();
  }
}

/** @param {import('mysql2/promise').Connection} connection */
async function querySettings(connection) {
  const [variables] = await connection.query({
    sql: 'SHOW GLOBAL VARIABLES WHERE Variable_name IN (?)',
    values: [['version', ...PRODUCT_VARIABLES, ...SETTINGS]],
    timeout: PROBE_TIMEOUT_MS,
  });
  const [plugins] = await connection.query({
    sql: 'SELECT plugin_status AS status FROM information_schema.plugins WHERE plugin_name = ?',
    values: ['handlersocket'],
    timeout: PROBE_TIMEOUT_MS,
  });
  /** @type {Record<string, string>} */
  const settings = {};
  for (const row of /** @type {any[]} */ (variables)) settings[row.Variable_name] = row.Value;
  const {
    version = 'unknown',
    version_comment: comment,
    aurora_version: aurora,
    ...rest
  } = settings;
  return {
    version: sqlProduct({ version, comment, aurora }),
    settings: rest,
    plugin: /** @type {any[]} */ (plugins)[0]?.status,
  };
}
