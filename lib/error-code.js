/**
 * Code of a driver's error in a result: the error's own code, if it is specific; otherwise the code
 * before the server's text, as in Redis; otherwise its class.
 */

/** Redis: `OOM command not allowed …`, `READONLY You can't write …`, `ERR unknown command …`. */
const SERVER_CODE = /^-?([A-Z][A-Z0-9_]{2,30})(?: |$)/;
/** Class names that only state that the server replied with an error. */
const REPLIES = new Set(['Error', 'ReplyError', 'ErrorReply', 'SimpleError', 'BlobError']);

/** Codes of a lost connection: from Node, mysql2 and mysql, mariadb, Dragstrip's client. */
const GONE = new Set([
  ...['ECONNRESET', 'ECONNREFUSED', 'ECONNABORTED', 'EPIPE', 'ENOTCONN', 'ENOENT'],
  ...['ERR_STREAM_DESTROYED', 'ERR_STREAM_WRITE_AFTER_END', 'ERR_SOCKET_CLOSED'],
  ...['PROTOCOL_CONNECTION_LOST', 'PROTOCOL_ENQUEUE_AFTER_FATAL_ERROR'],
  ...['ER_SOCKET_UNEXPECTED_CLOSE', 'ER_CMD_CONNECTION_CLOSED', 'ER_CLOSING_POOL'],
  ...['HS_CONNECTION_LOST', 'HS_CLOSED'],
]);

/** @param {any} error error of a request @returns {boolean} whether its connection is lost */
export function isGone(error) {
  return GONE.has(String(codeOfError(error)));
}

/**
 * @param {any} error any thrown value
 * @returns {string | null} null: not an object
 */
export function codeOfError(error) {
  if (typeof error !== 'object' || error === null) return null;
  if (error.code !== undefined && error.code !== null && error.code !== '') {
    return String(error.code);
  }
  const name = nameOf(error);
  if (name !== null && !REPLIES.has(name)) return name;
  return SERVER_CODE.exec(String(error.message ?? ''))?.[1] ?? name;
}

/**
 * Drivers derive classes and leave the inherited name, `Error`.
 * @param {any} error
 * @returns {string | null}
 */
function nameOf(error) {
  const { name } = error;
  if (typeof name === 'string' && name !== '' && name !== 'Error') return name;
  const own = error.constructor?.name;
  return typeof own === 'string' && own !== '' && own !== 'Object' ? own : (name ?? null);
}
