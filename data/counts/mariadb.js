/**
 * Statements executed by a MariaDB or MySQL, prepared or not, and index operations of
 * HandlerSocket, which its plugin does not count: `Handler_read_key` and `Handler_write` are exact
 * for them, but statements increase both, too. They count in the intervals between two readings in
 * which the plugin has locked a table. The absolute count therefore includes all earlier
 * operations, and only differences are meaningful. The server does not count error replies. No
 * privilege is needed.
 */

import { SqlSession } from '../connections/mariadb.js';

const STATEMENTS = ['select', 'insert', 'replace', 'update', 'delete', 'load', 'do'].map(
  (name) => `Com_${name}`,
);
const INDEX_OPERATIONS = ['Handler_read_key', 'Handler_write'];
/** Once per batch of requests that a thread of the plugin processes together. */
const TABLE_LOCKS = 'Handlersocket_hs_table_lock';
/** Seconds from the start to the session's fixed time of day. */
const UPTIME = 'Uptime';
const NAMES = [...STATEMENTS, ...INDEX_OPERATIONS, TABLE_LOCKS, UPTIME];

/** SHOW is not counted as a statement, so a reading does not count itself. */
const READ = `SHOW GLOBAL STATUS WHERE Variable_name IN ('${NAMES.join("','")}')`;
/**
 * With a fixed time of day in this session, Uptime is a constant that identifies the second of the
 * start: `now - Uptime` of two readings may differ by one. This is the last time that the server
 * accepts.
 */
const FIX_TIME = `SET SESSION timestamp = ${2 ** 31 - 1}`;

/**
 * @param {import('../../lib/types.js').ConnectionContext} context
 * @returns {Promise<import('./index.js').Counter>}
 */
export async function openCounter(context) {
  const session = await SqlSession.open(context);
  let operations = 0;
  let before = { statements: 0, indexOperations: 0, tableLocks: -1 };
  try {
    await session.query(FIX_TIME);
  } catch (error) {
    session.close();
    throw error;
  }
  return {
    async read() {
      const values = new Map();
      for (const { Variable_name: name, Value: value } of await session.query(READ)) {
        values.set(name, Number(value));
      }
      const sum = (/** @type {readonly string[]} */ names) =>
        names.reduce((total, name) => total + values.get(name), 0);
      const now = {
        statements: sum(STATEMENTS),
        indexOperations: sum(INDEX_OPERATIONS),
        tableLocks: values.get(TABLE_LOCKS) ?? 0,
      };
      operations += now.statements - before.statements;
      if (now.tableLocks !== before.tableLocks) {
        operations += now.indexOperations - before.indexOperations;
      }
      before = now;
      return { identity: `${values.get(UPTIME)}`, operations, errors: null };
    },
    close: () => session.close(),
  };
}
