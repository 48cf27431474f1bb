/**
 * Inserting by Redis: a string key for each row, `SET … NX`, so that a key that is there is refused
 * as a table refuses it. For ioredis and node-redis.
 */

import { INSERT_PLACE, numberOf, WORKERS } from '../../lib/insertion.js';

/** @typedef {import('../../lib/types.js').Inserter} Inserter */
/** @typedef {import('../../lib/types.js').InsertWay} InsertWay */

const { redisPrefix: PREFIX } = INSERT_PLACE;
const KEYS_PER_SCAN = 5000;

/** How each strategy is done, for the tables. */
export const REDIS_INSERTS = Object.freeze({
  one: 'SET … NX',
  async: 'SET … NX',
  workers: `SET … NX, ${WORKERS} connections`,
  pairs: 'pipeline of two SET … NX',
  batch_pure: 'pipeline of SET … NX',
  batch_pure2: 'pipeline of SET … NX, two connections',
  unlogged_batch: 'pipeline of SET … NX',
  logged_batch: 'MULTI, SET … NX, EXEC',
  multi_row: 'MSETNX',
});

/**
 * @typedef {object} RedisClient one connection, whatever the driver
 * @property {(...words: string[]) => Promise<any>} command
 * @property {(key: string, value: string) => Promise<any>} set `SET key value NX`
 * @property {(rows: string[]) => Promise<any[]>} pipeline the same of each, keys and values in turn
 * @property {(rows: string[]) => Promise<any[]>} multi the same in a transaction
 * @property {(rows: string[]) => Promise<number>} setMany MSETNX
 * @property {() => Promise<void>} close
 */

/**
 * @param {RedisClient[]} clients one for each worker
 * @param {number} seed
 * @returns {Inserter}
 */
export function redisInserter(clients, seed) {
  const [client] = clients;
  /** @param {number} from @param {number} to @returns {string[]} keys and values in turn */
  const build = (from, to) => {
    const rows = [];
    for (let a = from; a < to; a += 1) rows.push(PREFIX + a, String(numberOf(seed, a)));
    return rows;
  };
  return {
    clear: () => removeRows(client),
    read: (see) => readRows(client, see),
    durability: () => readDurability(client),
    how: REDIS_INSERTS,
    ways: {
      single: {
        build,
        send: ([key, value], worker) => clients[worker].set(key, value),
        stored: (reply) => (reply === 'OK' ? 1 : -1),
      },
      batch: { build, send: (rows, worker) => clients[worker].pipeline(rows), stored },
      atomic: { build, send: (rows, worker) => clients[worker].multi(rows), stored },
      rows: {
        build,
        // The reply says only whether all were stored.
        send: (rows, worker) =>
          clients[worker].setMany(rows).then((reply) => (reply === 1 ? rows.length / 2 : -1)),
        stored: (reply) => reply,
      },
    },
  };
}

/** @param {unknown[]} replies of SET … NX: OK, or null where the key was there */
function stored(replies) {
  let refused = 0;
  for (const reply of replies) if (reply !== 'OK') refused += 1;
  return refused > 0 ? -refused : replies.length;
}

/**
 * @param {RedisClient} client
 * @returns {AsyncGenerator<string[]>} keys of rows; one may come twice (Redis, SCAN guarantees)
 */
async function* scan(client) {
  let cursor = '0';
  do {
    const reply = await client.command(
      ...['SCAN', cursor, 'MATCH', `${PREFIX}*`, 'COUNT', String(KEYS_PER_SCAN)],
    );
    const [next, keys] = reply;
    if (keys.length > 0) yield keys;
    cursor = String(next);
  } while (cursor !== '0');
}

/** @param {RedisClient} client */
async function removeRows(client) {
  for await (const keys of scan(client)) await client.command('UNLINK', ...keys);
}

/**
 * @param {RedisClient} client
 * @param {(a: number, b: number) => void} see
 */
async function readRows(client, see) {
  /** @type {Set<string>} */
  const seen = new Set();
  for await (const keys of scan(client)) {
    const fresh = keys.filter((key) => !seen.has(key));
    if (fresh.length === 0) continue;
    const values = await client.command('MGET', ...fresh);
    for (const [i, key] of fresh.entries()) {
      seen.add(key);
      see(Number(key.slice(PREFIX.length)), Number(values[i]));
    }
  }
}

/** @param {RedisClient} client */
async function readDurability(client) {
  try {
    const settings = [];
    for (const name of ['appendonly', 'appendfsync', 'save']) {
      // Pairs of name and value; an object where the protocol has maps.
      const reply = await client.command('CONFIG', 'GET', name);
      const value = Array.isArray(reply) ? reply[1] : reply?.[name];
      settings.push(`${name} ${value === '' ? 'none' : value}`);
    }
    return settings.join(', ');
  } catch (error) {
    return `not known: CONFIG GET: ${error.message}`;
  }
}
