/** Words of commands of Redis, and what replies mean, as most of its drivers give them. Pure. */

import { fieldsOfPairs, namedFields } from './redis-hashes.js';

/** @param {string | null} reply */
const isOk = (reply) => reply === 'OK';

/** For a handle of rows; a driver with other replies has its own beside them. */
export const REDIS_REPLIES = Object.freeze({
  /** @param {string | null} reply */
  value: (reply) => (reply === null ? undefined : reply),
  stored: isOk,
  added: isOk,
  /** @param {number} reply */
  deleted: (reply) => reply === 1,
});

/**
 * What changes rows, and reads hashes, of a driver that takes the words of a command.
 * @param {(words: string[], done?: any) => any} send
 * @param {string} prefix of keys
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
