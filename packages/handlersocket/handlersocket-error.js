/**
 * The errors of the HandlerSocket client: one class, a closed set of codes, and the names of the
 * storage engine's numbers. The client is a separate package, so this is not the error class of the
 * harness.
 */

/**
 * All codes of rejections, with their meaning.
 * @type {Readonly<Record<string, string>>}
 */
export const ERROR_CODES = Object.freeze({
  HS_ARGUMENT: 'refused by the client before anything was sent',
  HS_CONNECT: 'cannot connect',
  HS_CONNECT_TIMEOUT: 'no connection within connectTimeoutMs',
  HS_HANDSHAKE_TIMEOUT: 'connected, but the listener did not reply',
  HS_AUTH: 'the secret is missing or wrong',
  HS_CONNECTION_LOST: 'the connection was lost with the request in flight',
  HS_OFFLINE: 'waited offlineTimeoutMs without a connection',
  HS_REQUEST_TIMEOUT: 'no reply within the request timeout',
  HS_PROTOCOL: 'the reply is not HandlerSocket',
  HS_DECODE: 'a value does not have the type of its column',
  HS_QUEUE_FULL: 'maxPending requests are already outstanding',
  HS_RELEASE_TIMEOUT: 'releaseTables took longer than its timeoutMs',
  HS_ABORTED: 'the signal of the caller aborted',
  HS_CLOSED: 'the client is closed, or was closed before the reply',
  HS_NOT_OPEN: 'the index is not open on the server',
  HS_OPEN_TABLE: 'no such table, or it cannot be opened',
  HS_INDEX: 'no such index',
  HS_COLUMN: 'no such column',
  HS_READ_ONLY: 'a change was sent to the read port, or the server is read-only',
  HS_REQUEST: 'the server does not understand the request',
  HS_ENGINE: 'the storage engine refused; see errno and errnoName',
  HS_SERVER: 'another error reply of the server',
});

/** @typedef {keyof typeof ERROR_CODES & string} HandlerSocketErrorCode */

/**
 * Names of the handler errors in replies (MariaDB include/my_base.h, HA_ERR_*).
 * @type {Readonly<Record<number, string>>}
 */
export const ENGINE_ERRORS = Object.freeze({
  120: 'HA_ERR_KEY_NOT_FOUND',
  121: 'HA_ERR_FOUND_DUPP_KEY',
  122: 'HA_ERR_INTERNAL_ERROR',
  123: 'HA_ERR_RECORD_CHANGED',
  124: 'HA_ERR_WRONG_INDEX',
  126: 'HA_ERR_CRASHED',
  127: 'HA_ERR_WRONG_IN_RECORD',
  128: 'HA_ERR_OUT_OF_MEM',
  130: 'HA_ERR_NOT_A_TABLE',
  131: 'HA_ERR_WRONG_COMMAND',
  132: 'HA_ERR_OLD_FILE',
  133: 'HA_ERR_NO_ACTIVE_RECORD',
  134: 'HA_ERR_RECORD_DELETED',
  135: 'HA_ERR_RECORD_FILE_FULL',
  136: 'HA_ERR_INDEX_FILE_FULL',
  137: 'HA_ERR_END_OF_FILE',
  138: 'HA_ERR_UNSUPPORTED',
  139: 'HA_ERR_TO_BIG_ROW',
  140: 'HA_WRONG_CREATE_OPTION',
  141: 'HA_ERR_FOUND_DUPP_UNIQUE',
  142: 'HA_ERR_UNKNOWN_CHARSET',
  143: 'HA_ERR_WRONG_MRG_TABLE_DEF',
  144: 'HA_ERR_CRASHED_ON_REPAIR',
  145: 'HA_ERR_CRASHED_ON_USAGE',
  146: 'HA_ERR_LOCK_WAIT_TIMEOUT',
  147: 'HA_ERR_LOCK_TABLE_FULL',
  148: 'HA_ERR_READ_ONLY_TRANSACTION',
  149: 'HA_ERR_LOCK_DEADLOCK',
  150: 'HA_ERR_CANNOT_ADD_FOREIGN',
  151: 'HA_ERR_NO_REFERENCED_ROW',
  152: 'HA_ERR_ROW_IS_REFERENCED',
  153: 'HA_ERR_NO_SAVEPOINT',
  154: 'HA_ERR_NON_UNIQUE_BLOCK_SIZE',
  155: 'HA_ERR_NO_SUCH_TABLE',
  156: 'HA_ERR_TABLE_EXIST',
  157: 'HA_ERR_NO_CONNECTION',
  158: 'HA_ERR_NULL_IN_SPATIAL',
  159: 'HA_ERR_TABLE_DEF_CHANGED',
  160: 'HA_ERR_NO_PARTITION_FOUND',
  161: 'HA_ERR_RBR_LOGGING_FAILED',
  162: 'HA_ERR_DROP_INDEX_FK',
  163: 'HA_ERR_FOREIGN_DUPLICATE_KEY',
  164: 'HA_ERR_TABLE_NEEDS_UPGRADE',
  165: 'HA_ERR_TABLE_READONLY',
  166: 'HA_ERR_AUTOINC_READ_FAILED',
  167: 'HA_ERR_AUTOINC_ERANGE',
  168: 'HA_ERR_GENERIC',
  169: 'HA_ERR_RECORD_IS_THE_SAME',
});

/** The client's code for each message that the plugin sends (database.cpp, dbcontext::resp_*). */
const CODE_OF_MESSAGE = Object.freeze({
  open_table: 'HS_OPEN_TABLE',
  lock_tables: 'HS_READ_ONLY',
  readonly: 'HS_READ_ONLY',
  stmtnum: 'HS_NOT_OPEN',
  idxnum: 'HS_INDEX',
  fld: 'HS_COLUMN',
  unauth: 'HS_AUTH',
  authtype: 'HS_AUTH',
});

const REQUEST_MESSAGES =
  /^(?:cmd|op|modop|klen|kpnum|fldnum|invalueslen|filtertype|filterfld|filterblob|syntax|notimpl)$/;

/**
 * @typedef {object} ErrorDetail
 * @property {number} [serverCode] first token of the error reply: 1, 2 or 3
 * @property {string} [serverMessage] third token, as sent by the server; '' if missing
 * @property {number} [errno] error number of the storage engine, if the message is a number
 * @property {string} [address] the endpoint: host:port or unix:/path
 * @property {boolean} [outcomeUnknown] a change was sent, and its reply was lost
 * @property {unknown} [cause]
 */

/** The error class of all rejections of the client. */
export class HandlerSocketError extends Error {
  /**
   * @param {HandlerSocketErrorCode} code one of ERROR_CODES
   * @param {string} message the problem, its location, and a hint
   * @param {ErrorDetail} [detail]
   */
  constructor(code, message, detail = {}) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.name = 'HandlerSocketError';
    /** @type {HandlerSocketErrorCode} */
    this.code = code;
    /** @type {number | undefined} */
    this.serverCode = detail.serverCode;
    /** @type {string | undefined} */
    this.serverMessage = detail.serverMessage;
    /** @type {number | undefined} */
    this.errno = detail.errno;
    /** @type {string | undefined} such as HA_ERR_FOUND_DUPP_KEY */
    this.errnoName = detail.errno === undefined ? undefined : engineErrorName(detail.errno);
    /** @type {string | undefined} */
    this.address = detail.address;
    /** True: a change (insert, update …) may or may not have been executed. */
    this.outcomeUnknown = detail.outcomeUnknown === true;
  }
}

/**
 * @param {number} errno
 * @returns {string}
 */
export function engineErrorName(errno) {
  return ENGINE_ERRORS[errno] ?? `HA_ERR_${errno}`;
}

/**
 * @param {string} message
 * @returns {HandlerSocketError} error of a call that is refused before sending
 */
export function argumentError(message) {
  return new HandlerSocketError('HS_ARGUMENT', message);
}

/**
 * @param {string} message the problem in the received bytes
 * @returns {HandlerSocketError}
 */
export function protocolError(message) {
  return new HandlerSocketError('HS_PROTOCOL', message);
}

/**
 * Converts an error reply to an error.
 * @param {number} serverCode 1, 2 or 3
 * @param {string} serverMessage possibly ''
 * @param {string} [address]
 * @param {unknown} [cause] reason why the index is not open, if known
 * @returns {HandlerSocketError}
 */
export function serverError(serverCode, serverMessage, address, cause) {
  const errno = /^[1-9]\d{0,4}$/.test(serverMessage) ? Number(serverMessage) : undefined;
  /** @type {Record<string, string>} */
  const known = CODE_OF_MESSAGE;
  const code = Object.hasOwn(known, serverMessage)
    ? known[serverMessage]
    : serverCode === 3
      ? 'HS_AUTH'
      : errno !== undefined
        ? 'HS_ENGINE'
        : REQUEST_MESSAGES.test(serverMessage)
          ? 'HS_REQUEST'
          : 'HS_SERVER';
  const name = errno === undefined ? '' : ` ${engineErrorName(errno)}`;
  const shown = JSON.stringify(serverMessage.slice(0, 100));
  const where = address === undefined ? '' : ` at ${address}`;
  const text = `HandlerSocket${where} answered ${serverCode} ${shown}${name}: ${ERROR_CODES[code]}`;
  return new HandlerSocketError(code, text, { serverCode, serverMessage, errno, address, cause });
}
