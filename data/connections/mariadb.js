/**
 * A connection to MariaDB for the loader and for namespaces: mysql2's, with Dragstrip's errors, an
 * inactivity timeout, and a bound on waiting for locks. Not the raced driver: storages/mysql2.js.
 */

import mysql from 'mysql2';
import { formatEndpoint } from '../../lib/address.js';
import { targetError } from '../../lib/errors.js';
import { FULL_DISK, hintOf } from '../../lib/hints.js';
import { forMysql2, sqlLogin } from '../../lib/tls.js';
import { abortedError, HANDSHAKE_MS_MAX, TIMEOUT_MS_DEFAULT } from './socket-connection.js';

/** The server's own default is a day. */
const LOCK_WAIT_SECONDS_MAX = 15;

/** @typedef {import('../../lib/types.js').ConnectionContext} SessionContext */

/** One statement at a time; the first error ends it. */
export class SqlSession {
  /** max_allowed_packet, read once */
  packetBytes = 1024 * 1024;
  /** @type {Error | null} */
  failure = null;
  /** @type {((error: Error) => void) | null} */
  reject = null;

  /** @param {SessionContext} context */
  constructor({ address, credentials, signal, timeoutMs = TIMEOUT_MS_DEFAULT }) {
    const { sql } = address;
    this.where = `MariaDB at ${formatEndpoint(sql)}`;
    this.timeoutMs = timeoutMs;
    // Shorter than Dragstrip's own timeout, since the server's error includes the reason.
    this.lockWaitSeconds = Math.min(LOCK_WAIT_SECONDS_MAX, Math.max(1, timeoutMs / 2000)) | 0;
    this.signal = signal;
    const options = {
      ...sqlLogin(sql, credentials),
      connectTimeout: Math.min(timeoutMs, HANDSHAKE_MS_MAX),
      charset: 'utf8mb4_general_ci',
    };
    this.connection = mysql.createConnection(forMysql2(options));
    // The error of a lost connection also reaches the pending statement, if any, through its
    // callback.
    this.connection.on('error', (error) => this.fail(this.explain(error)));
    this.onAbort = () => this.fail(abortedError(this.where));
    signal?.addEventListener('abort', this.onAbort);
    this.timer = setTimeout(() => {
      if (this.reject !== null) this.fail(this.silent());
    }, timeoutMs);
    this.timer.unref();
  }

  /**
   * @param {SessionContext} context
   * @returns {Promise<SqlSession>} connected
   * @throws {import('../../lib/errors.js').DragstripError} E_TARGET, E_ABORTED
   */
  static async open(context) {
    const session = new SqlSession(context);
    try {
      if (context.signal?.aborted) session.onAbort();
      await session.wait((done) => session.connection.connect(done));
      await session.query(
        `SET SESSION lock_wait_timeout = ${session.lockWaitSeconds}, autocommit = 1, ` +
          "sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'",
      );
      return session;
    } catch (error) {
      session.close();
      throw error;
    }
  }

  /**
   * @param {string} sql
   * @param {readonly (string | number)[]} [values] one for each `?`, escaped by the driver
   * @returns {Promise<any>} rows, or the outcome of a statement without rows
   */
  query(sql, values = []) {
    return this.wait((done) => this.connection.query({ sql, values: [...values] }, done));
  }

  /**
   * @param {string} sql a LOAD DATA LOCAL INFILE
   * @param {import('node:stream').Readable} stream the contents sent as the file
   * @returns {Promise<any>}
   */
  async load(sql, stream) {
    try {
      const infileStreamFactory = () => stream;
      const options = /** @type {any} */ ({ sql, infileStreamFactory });
      return await this.wait((done) => this.connection.query(options, done));
    } finally {
      stream.destroy();
    }
  }

  /** Reports activity, which restarts the inactivity timeout. */
  alive() {
    this.timer.refresh();
  }

  /**
   * @param {(done: (error: any, result?: any) => void) => void} start
   * @returns {Promise<any>}
   */
  wait(start) {
    return new Promise((resolve, reject) => {
      if (this.failure !== null) {
        reject(this.failure);
        return;
      }
      this.reject = reject;
      this.alive();
      start((error, result) => {
        this.reject = null;
        if (error) reject(this.failure ?? this.explain(error));
        else resolve(result);
      });
    });
  }

  /** @param {Error} error */
  fail(error) {
    if (this.failure !== null) return;
    this.failure = error;
    this.close();
    this.reject?.(error);
  }

  close() {
    clearTimeout(this.timer);
    this.signal?.removeEventListener('abort', this.onAbort);
    this.connection.destroy();
  }

  silent() {
    return targetError(
      `${this.where}: no reply within ${this.timeoutMs / 1000} s`,
      'check whether it hangs',
    );
  }

  /** @param {any} error error of mysql2 */
  explain(error) {
    if (error.code === 'ER_LOCK_WAIT_TIMEOUT') {
      return targetError(
        `${this.where}: another connection holds the table open (waited ${this.lockWaitSeconds} s)`,
        'close its HandlerSocket clients and open transactions: an open index locks the table',
        error,
      );
    }
    const hint = HINTS[error.code] ?? hintOf(error) ?? undefined;
    if (error.code === 'PROTOCOL_CONNECTION_LOST' || /^E[A-Z]+$/.test(error.code ?? '')) {
      const what = error.syscall === 'connect' ? 'cannot connect' : 'connection lost';
      return targetError(`${this.where}: ${what} (${error.code})`, hint ?? 'check its log', error);
    }
    return targetError(`${this.where}: ${error.message} (${error.code})`, hint, error);
  }
}

const START = 'start it (`npx dragstrip servers start mariadb`), or name its address';

/** @type {Record<string, string>} by mysql2's code */
const HINTS = {
  ECONNREFUSED: START,
  ENOENT: START,
  ER_ACCESS_DENIED_ERROR: 'set the user and the password in the environment',
  ER_DBACCESS_DENIED_ERROR: 'the user needs all privileges on the database hs_test',
  ER_RECORD_FILE_FULL: `${FULL_DISK}, or choose fewer --rows`,
  ER_DISK_FULL: `${FULL_DISK}, or choose fewer --rows`,
};
