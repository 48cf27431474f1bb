/** Inserting by ioredis; what a row is in Redis says redis.js. */

import { STRATEGIES } from '../../lib/insertion.js';
import { createCork } from '../connection.js';
import { connectIoredis } from '../redis-clients.js';
import { redisInserter } from './redis.js';

/**
 * @param {import('../../lib/types.js').OpenContext} context
 * @returns {Promise<import('../../lib/types.js').Handle>}
 */
export async function openIoredisInserter(context) {
  const { dataset, parameters } = context;
  const { workers } = STRATEGIES[String(parameters?.['strategy'])];
  /** @type {import('./redis.js').RedisClient[]} */
  const clients = [];
  const close = async () => {
    for (const client of clients) await client.close();
  };
  try {
    for (let i = 0; i < workers; i += 1) clients.push(await connect(context));
  } catch (error) {
    await close();
    throw error;
  }
  return { get: () => undefined, insert: redisInserter(clients, dataset.seed), close };
}

/**
 * @param {import('../../lib/types.js').OpenContext} context
 * @returns {Promise<import('./redis.js').RedisClient>}
 */
async function connect(context) {
  const { stream } = /** @type {any} */ (context.profile.options);
  const redis = await connectIoredis(context);
  const cork = stream === undefined ? () => {} : createCork(/** @type {any} */ (redis).stream);
  /** @param {any} pipeline @param {string[]} rows */
  const send = (pipeline, rows) => {
    for (let i = 0; i < rows.length; i += 2) pipeline.set(rows[i], rows[i + 1], 'NX');
    cork();
    return pipeline.exec().then(unwrap);
  };
  return {
    command: (...words) => redis.call(words[0], ...words.slice(1)),
    set(key, value) {
      cork();
      return redis.set(key, value, 'NX');
    },
    pipeline: (rows) => send(redis.pipeline(), rows),
    multi: (rows) => send(redis.multi(), rows),
    setMany(rows) {
      cork();
      return /** @type {Promise<any>} */ (redis.msetnx(rows)); // its types say "OK"
    },
    async close() {
      redis.disconnect();
    },
  };
}

/**
 * @param {[Error | null, unknown][]} replies one pair of error and reply for each command
 * @returns {unknown[]}
 */
function unwrap(replies) {
  return replies.map(([error, reply]) => {
    if (error !== null) throw error;
    return reply;
  });
}
