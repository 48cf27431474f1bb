/** One command to one Redis node over a new connection, for starting and probing clusters. */

import { formatEndpoint } from '../lib/address.js';
import { targetError } from '../lib/errors.js';
import { askRedis } from './ask-redis.js';
import { nameKind, notThere } from './conversation.js';

/** @typedef {import('../lib/types.js').Credentials} Credentials */
/** @typedef {import('../lib/types.js').Endpoint} Endpoint */

/**
 * @typedef {object} Messages
 * @property {string} title title of the server
 * @property {string} hint hint if there is no reply
 * @property {string} password environment variable
 */

/**
 * @param {Endpoint} endpoint
 * @param {Credentials} credentials
 * @param {readonly (string | number)[]} words
 * @param {Messages} messages
 * @returns {Promise<any>} the reply: a text, a number, null or an array
 * @throws {import('../lib/errors.js').DragstripError} E_TARGET if there is none, or an error
 */
export async function callRedis(endpoint, credentials, words, { title, hint, password }) {
  const { answer, login, replies } = await askRedis(endpoint, credentials, [words]);
  const [reply] = replies;
  if (answer.end !== 'enough' || reply === undefined) {
    throw notThere(title, endpoint, answer, hint);
  }
  const refused = login?.error ?? reply.error;
  if (refused === null) return reply.value;
  const where = `${title} at ${formatEndpoint(endpoint)}`;
  if (/^ERR This instance has cluster support disabled/.test(refused)) {
    throw targetError(`${where}: not a cluster`, 'name it with --redis');
  }
  if (/^(NOAUTH|WRONGPASS|ERR AUTH)/.test(refused)) {
    throw targetError(`${where}: ${refused}`, `set ${password} or ${password}_FILE`);
  }
  if (nameKind(answer.bytes) !== 'Redis') throw notThere(title, endpoint, answer, hint);
  throw targetError(`${where} answered ${JSON.stringify(refused)}`);
}

/**
 * @param {string} text lines `name:value` of INFO and CLUSTER INFO
 * @returns {Record<string, string>}
 */
export function fieldsOf(text) {
  /** @type {Record<string, string>} */
  const fields = {};
  for (const line of `${text}`.split('\r\n')) {
    const colon = line.indexOf(':');
    if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 1);
  }
  return fields;
}
