/**
 * A request by its tokens, for requests without a method in the client: combinations of options,
 * commands of other servers. The client handles escaping, the order of replies, reconnecting and
 * timeouts; the caller is responsible for the meaning of the tokens.
 */

import { argumentError } from './handlersocket-error.js';
import { abortedError, limited } from './limited.js';
import { COLUMN_TYPES, keepsBytes, rawDecoder } from './reply-values.js';
import { encodeTokens } from './request-lines.js';
import { capturedResolve, newPromise, RequestType } from './request-type.js';

/** @typedef {import('./reply-values.js').ColumnType} ColumnType */
/** @typedef {import('./reply-values.js').RawReply} RawReply */
/** @typedef {import('./request-lines.js').Value} Value */

/**
 * @typedef {object} RawOptions
 * @property {import('./open-index.js').OpenIndex} [index] its id precedes the tokens
 * @property {boolean} [write] send to the write port, without retries
 * @property {ColumnType} [type] type of the fields of the reply, and of strings in the tokens; utf8
 * @property {AbortSignal} [signal]
 * @property {number} [timeoutMs]
 */

/** Each connection opens indexes and authenticates by itself, with ids allocated by the client. */
const OWN_COMMANDS = new Set(['P', 'A']);

/**
 * @param {import('./client.js').HandlerSocketClient} client
 * @param {readonly Value[]} tokens null: NULL
 * @param {RawOptions} options
 * @returns {Promise<RawReply>}
 * @throws {import('./handlersocket-error.js').HandlerSocketError} HS_ARGUMENT, or an error of the
 *   server
 */
export async function sendRaw(client, tokens, options) {
  const { index, write = false, type = 'utf8', signal } = options;
  if (!Array.isArray(tokens) || tokens.length === 0) {
    throw argumentError('request: must be an array of tokens, such as ["=", "1", "42"]');
  }
  if (!COLUMN_TYPES.has(type)) throw argumentError(`type: one of ${[...COLUMN_TYPES].join(', ')}`);
  if (index === undefined && OWN_COMMANDS.has(String(tokens[0]))) {
    throw argumentError(`request ${tokens[0]}: use openIndex, or the options of connect`);
  }
  if (index !== undefined && index.client !== client) {
    throw argumentError('request: index of another client');
  }
  index?.checkOpen();
  if (signal?.aborted) throw abortedError(signal, false);
  const pool = write ? client.poolForChange(index) : client.readPool;
  if (keepsBytes(type)) pool.keepAllBytes();
  const all = index === undefined ? tokens : [index.id, ...tokens];
  const line = encodeTokens(all, type === 'latin1' ? 'latin1' : 'utf8');
  const kind = { promise: true, change: write, indexId: index?.id ?? -1 };
  const promise = newPromise();
  pool.pick().sendLine(line, new RequestType(rawDecoder(type), kind), capturedResolve());
  return limited(promise, options, write);
}
