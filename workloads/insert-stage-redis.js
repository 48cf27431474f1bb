/** The place of the inserted rows in Redis: keys with a prefix of ours, and one that marks them. */

import { formatEndpoint } from '../lib/address.js';
import { refusedError, targetError } from '../lib/errors.js';
import { INSERT_MARKER, INSERT_PLACE } from '../lib/insertion.js';

const { redisPrefix: PREFIX, redisMarker: MARKER } = INSERT_PLACE;
const KEYS_PER_SCAN = 5000;
/** What a killed client had sent may still come in while its keys are removed. */
const PASSES_MAX = 20;

/**
 * @param {import('./insert-stage.js').StageServer} server
 * @returns {Promise<import('./insert-stage.js').InsertStage>}
 */
export async function openStage({ address: { main }, credentials: { user, password } }) {
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
  const where = `Redis at ${formatEndpoint(main)}`;
  await redis.connect().catch((error) => {
    throw targetError(`${where}: ${error.message}`, undefined, error);
  });
  return {
    async make() {
      const marker = await redis.get(MARKER).catch(() => 'of another type');
      if (marker === null && (await firstKey(redis)) === null) {
        await redis.set(MARKER, INSERT_MARKER);
        return;
      }
      if (marker !== INSERT_MARKER) {
        throw refusedError(
          `${where}: ${marker === null ? await firstKey(redis) : MARKER} is there and was not ` +
            'made by Dragstrip: nothing was touched',
          'use another server (`dragstrip servers start redis`), or remove what is yours to remove',
        );
      }
      await removeKeys(redis);
    },
    async strike() {
      if ((await redis.get(MARKER)) !== INSERT_MARKER) return;
      await removeKeys(redis);
      await redis.del(MARKER);
    },
    async close() {
      redis.disconnect();
    },
  };
}

/**
 * @param {import('ioredis').Redis} redis
 * @returns {Promise<string | null>} some key with our prefix
 */
async function firstKey(redis) {
  for await (const keys of scan(redis)) if (keys.length > 0) return keys[0];
  return null;
}

/** @param {import('ioredis').Redis} redis */
async function removeKeys(redis) {
  for (let pass = 0; pass < PASSES_MAX; pass += 1) {
    let removed = 0;
    for await (const keys of scan(redis)) {
      if (keys.length > 0) removed += await redis.unlink(keys);
    }
    if (removed === 0) return;
  }
  throw targetError(`Redis: keys ${PREFIX}… keep coming while they are removed`);
}

/** @param {import('ioredis').Redis} redis */
async function* scan(redis) {
  let cursor = '0';
  do {
    const [next, keys] = await redis.scan(cursor, 'MATCH', `${PREFIX}*`, 'COUNT', KEYS_PER_SCAN);
    yield keys;
    cursor = next;
  } while (cursor !== '0');
}
