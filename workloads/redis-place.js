/** A place in Redis: keys with prefixes of ours, and one key that marks them. */

import { formatEndpoint } from '../lib/address.js';
import { targetError } from '../lib/errors.js';
import { foreignPlace } from './places.js';

/** @typedef {import('ioredis').Redis} Redis */

const KEYS_PER_SCAN = 5000;
/** What a killed client had sent may still come in while its keys are removed. */
const PASSES_MAX = 20;

/**
 * @param {import('./places.js').StageServer} server
 * @param {{ prefixes: readonly string[], marker: string, sign: string }} what sign: the marker's
 *   value
 * @returns {Promise<import('./places.js').Place>}
 * @throws {import('../lib/errors.js').DragstripError} E_TARGET
 */
export async function openRedisPlace(server, { prefixes, marker, sign }) {
  const where = `Redis at ${formatEndpoint(server.address.main)}`;
  const redis = await connect(server, where);
  return {
    async make() {
      const found = await redis.get(marker).catch(() => 'of another type');
      if (found === sign) return removeKeys(redis, prefixes, where);
      const foreign = found === null ? await firstKey(redis, prefixes) : marker;
      if (foreign !== null) throw foreignPlace(where, `key ${foreign}`, 'redis');
      await redis.set(marker, sign);
    },
    async strike() {
      if ((await redis.get(marker)) !== sign) return;
      await removeKeys(redis, prefixes, where);
      await redis.del(marker);
    },
    async close() {
      redis.disconnect();
    },
  };
}

/**
 * @param {import('./places.js').StageServer} server
 * @param {string} where
 * @returns {Promise<Redis>}
 */
async function connect({ address: { main }, credentials: { user, password } }, where) {
  const { Redis } = await import('ioredis');
  const place =
    main.path === undefined ? { host: main.host, port: main.port } : { path: main.path };
  const redis = new Redis({
    ...place,
    username: user,
    password,
    ...(main.db && { db: main.db }),
    lazyConnect: true,
    retryStrategy: null,
  });
  redis.on('error', () => {}); // the same error rejects the request
  await redis.connect().catch((error) => {
    throw targetError(`${where}: ${error.message}`, undefined, error);
  });
  return redis;
}

/**
 * @param {Redis} redis
 * @param {readonly string[]} prefixes
 * @returns {Promise<string | null>} some key with one of them
 */
async function firstKey(redis, prefixes) {
  for await (const keys of scan(redis, prefixes)) if (keys.length > 0) return keys[0];
  return null;
}

/**
 * @param {Redis} redis
 * @param {readonly string[]} prefixes
 * @param {string} where
 */
async function removeKeys(redis, prefixes, where) {
  for (let pass = 0; pass < PASSES_MAX; pass += 1) {
    let removed = 0;
    for await (const keys of scan(redis, prefixes)) {
      if (keys.length > 0) removed += await redis.unlink(keys);
    }
    if (removed === 0) return;
  }
  throw targetError(`${where}: keys ${prefixes[0]}… keep coming while they are removed`);
}

/**
 * @param {Redis} redis
 * @param {readonly string[]} prefixes
 */
async function* scan(redis, prefixes) {
  for (const prefix of prefixes) {
    let cursor = '0';
    do {
      const [next, keys] = await redis.scan(cursor, 'MATCH', `${prefix}*`, 'COUNT', KEYS_PER_SCAN);
      yield keys;
      cursor = next;
    } while (cursor !== '0');
  }
}
