/** Valkey GLIDE on a Redis or Valkey server. */

import { defineStorage } from '../lib/define.js';
import { loseHandle } from './connection.js';
import {
  closeWhenLost,
  connectGlide,
  glideRows,
  missingBinary,
  PACKAGE,
  REQUEST_TIMEOUT,
} from './glide-client.js';
import { glideConnection, openInserter, REDIS_INSERTS } from './inserts/redis.js';
import { fieldRecord } from './redis-hashes.js';

/** Name in its protocol, because its enumerations are loaded with its core. */
const ONLY_NEW = { conditionalSet: 'onlyIfDoesNotExist' };

export const storage = defineStorage({
  name: 'valkey-glide',
  summary: 'Valkey GLIDE, a core in Rust',
  package: PACKAGE,
  server: 'redis',
  tls: true,
  rows: ['get', 'mget', 'set', 'add', 'del', 'hash', 'expire'],
  inserts: REDIS_INSERTS,
  // No locks, because it does not preserve the order of commands. No arbitrary commands, because it
  // converts replies by command name.
  profiles: {
    default: {
      summary: 'client.get; its limits of 1,000 in flight and of 250 ms raised',
      options: { inflightRequestsLimit: 1_000_000, requestTimeout: REQUEST_TIMEOUT, logger: 'off' },
    },
  },
  unavailable: async () => missingBinary(),
  open: { rows: openRows, insert: (context) => openInserter(context, glideConnection) },
});

/** @type {NonNullable<import('../lib/types.js').StorageDefinition['open']['rows']>} */
async function openRows(context) {
  const client = await connectGlide(context);
  const { redisPrefix: prefix } = context.names;
  const handle = Object.assign(glideRows(client, prefix), changesOf(client, prefix));
  closeWhenLost(client, (error) => loseHandle(handle, error));
  return handle;
}

/**
 * @param {any} client
 * @param {string} prefix
 * @returns {Partial<import('../lib/types.js').RowsHandle>}
 */
function changesOf(client, prefix) {
  return {
    add: (id, text) => client.set(prefix + id, text, ONLY_NEW),
    addFor: (id, text, ttlMs) =>
      client.set(prefix + id, text, { ...ONLY_NEW, expiry: { type: 'PX', count: ttlMs } }),
    del: (id) => client.del([prefix + id]),
    hset: (id, fields) => client.hset(prefix + id, fieldRecord(fields)),
    hget: (id) => client.hgetall(prefix + id),
    fields: (reply) =>
      Object.fromEntries(reply.map((/** @type {any} */ one) => [one.field, one.value])),
  };
}
