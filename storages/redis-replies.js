/** Arguments of Redis commands and interpretation of replies, for most of its drivers. Pure. */

import { fieldsOfPairs, namedFields } from './redis-hashes.js';

/** @param {string | null} reply */
const isOk = (reply) => reply === 'OK';

/** For a handle of rows; a driver with different replies overrides them. */
export const REDIS_REPLIES = Object.freeze({
  /** @param {string | null} reply */
  value: (reply) => (reply === null ? undefined : reply),
  stored: isOk,
  added: isOk,
  /** @param {number} reply */
  deleted: (reply) => reply === 1,
});

/**
 * Writes of rows, and hash reads, for a driver with generic commands.
 * @param {(words: string[], done?: any) => any} send
 * @param {string} prefix prefix of keys
 * @returns {Partial<import('../lib/types.js').RowsHandle>}
 */
export function changesByWords(send, prefix) {
  return {
    add: (id, text, done) => send(['SET', prefix + id, text, 'NX'], done),
    addFor: (id, text, ttlMs, done) =>
      send(['SET', prefix + id, text, 'PX', `${ttlMs}`, 'NX'], done),
    del: (id, done) => send(['DEL', prefix + id], done),
    hset: (id, fields, done) => send(['HSET', prefix + id, ...namedFields(fields)], done),
    hget: (id, done) => send(['HGETALL', prefix + id], done),
    fields: (reply) => (Array.isArray(reply) ? fieldsOfPairs(reply) : reply),
  };
}
