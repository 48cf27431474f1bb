/** Inserting by node-redis; what a row is in Redis says redis.js. */

import { STRATEGIES } from '../../lib/insertion.js';
import { connectNodeRedis } from '../redis-clients.js';
import { redisInserter } from './redis.js';

/**
 * @param {import('../../lib/types.js').OpenContext} context
 * @returns {Promise<import('../../lib/types.js').Handle>}
 */
export async function openNodeRedisInserter(context) {
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
  const { call } = /** @type {any} */ (context.profile.options);
  const client = await connectNodeRedis(context);
  /** @param {string[]} rows */
  const collect = (rows) => {
    const multi = client.multi();
    for (let i = 0; i < rows.length; i += 2) multi.set(rows[i], rows[i + 1], NX);
    return multi;
  };
  return {
    command: (...words) => client.sendCommand(words),
    set:
      call === undefined
        ? (key, value) => client.set(key, value, NX)
        : (key, value) => client.sendCommand(['SET', key, value, 'NX']),
    pipeline: (rows) => collect(rows).execAsPipeline(),
    multi: (rows) => collect(rows).exec(),
    setMany: (rows) => client.sendCommand(['MSETNX', ...rows]),
    async close() {
      client.destroy();
    },
  };
}

const NX = /** @type {const} */ ({ condition: 'NX' });
