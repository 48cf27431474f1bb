/**
 * What a driver's error is called in a result: its code, where it has one that tells something;
 * otherwise the code that the server put before the text, as Redis does; otherwise its class.
 */

/** Redis: `OOM command not allowed …`, `READONLY You can't write …`, `ERR unknown command …`. */
const SERVER_CODE = /^-?([A-Z][A-Z0-9_]{2,30})(?: |$)/;
/** Names of classes that say only that the server replied with an error. */
const REPLIES = new Set(['Error', 'ReplyError', 'ErrorReply', 'SimpleError', 'BlobError']);

/**
 * @param {any} error anything that was thrown
 * @returns {string | null} null: it is no object
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
