/** Inserting by node-redis; what a row is in Redis says redis.js. */

import { STRATEGIES } from '../../lib/insertion.js';
import { coded, opened, requireEndpoint, socketPlace } from '../connection.js';
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
async function connect({ address, credentials, profile }) {
  const endpoint = requireEndpoint(address, 'main', 'redis');
  const { createClient } = await import('redis');
  const { call, socket, ...options } = /** @type {any} */ (profile.options);
  const client = createClient({
    ...options,
    username: credentials.user,
    password: credentials.password,
    socket: { ...socket, ...socketPlace(endpoint) },
    ...(endpoint.db && { database: endpoint.db }),
  });
  const failed = new Promise((_resolve, reject) => {
    client.on('error', (error) => reject(coded(error)));
  });
  failed.catch(() => {}); // also the errors of later, which the requests tell of
  const target = { storage: 'redis', endpoint, credentials };
  await opened(target, Promise.race([client.connect(), failed]), () => client.destroy());
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
