/**
 * Bun's own Redis client, written in Zig, which exists only in Bun: `--runtime bun`. Default: its
 * options, without reconnection, so that a lost server is visible.
 */

import { defineStorage } from '../lib/define.js';

/** Missing in Node, so imported only when a Bun process opens the storage. */
const MODULE = 'bun';

const OPTIONS = { autoReconnect: false, enableOfflineQueue: false };

/** @typedef {import('../lib/types.js').OpenContext} OpenContext */

export const storage = defineStorage({
  name: 'bun-redis',
  summary: 'the Redis client of Bun, only with --runtime bun',
  package: null,
  server: 'redis',
  runtime: 'bun',
  rows: ['get', 'mget', 'set'],
  profiles: {
    default: { summary: 'client.get, pipelined by Bun', options: OPTIONS },
    single: {
      summary: 'without its automatic pipelining',
      options: { ...OPTIONS, enableAutoPipelining: false },
    },
  },
  unavailable: () =>
    process.versions['bun'] === undefined
      ? { reason: 'this client exists only in Bun', hint: 'add --runtime bun' }
      : null,

  open: { rows: openRows },
});

/**
 * @param {OpenContext} context
 * @returns {Promise<import('../lib/types.js').RowsHandle>}
 */
async function openRows({ address, credentials, profile, names }) {
  const { RedisClient } = await import(MODULE);
  const redis = new RedisClient(urlOf(address.main, credentials), profile.options);
  await redis.connect();
  const { redisPrefix: prefix } = names;
  return {
    get: (id) => redis.get(prefix + id),
    value: (reply) => reply ?? undefined,
    mget: (ids) => redis.mget(...ids.map((id) => prefix + id)),
    set: (id, value) => redis.set(prefix + id, value),
    stored: (reply) => reply === 'OK',
    close: async () => redis.close(),
  };
}

/**
 * @param {import('../lib/types.js').Endpoint} endpoint
 * @param {import('../lib/types.js').Credentials} credentials
 * @returns {string} whether it stays in this process
 */
function urlOf({ host, port, path, db = 0 }, { user = '', password }) {
  const login =
    password === undefined ? '' : `${[user, password].map(encodeURIComponent).join(':')}@`;
  return path === undefined
    ? `redis://${login}${host}:${port}/${db}`
    : `redis+unix://${login}${path}`;
}
