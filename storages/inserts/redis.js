/**
 * Inserting by Redis: a string key per row, `SET … NX`, which refuses existing keys like a table.
 * For every driver of Redis.
 */

import { createCork } from '../connection.js';
import { connectGlide, glideBatch } from '../glide-client.js';
import { connectIoredis, connectNodeRedis } from '../redis-clients.js';
import { openSeveral } from './connections.js';
import { storedOf } from './rows.js';

/** @typedef {import('../../lib/types.js').Inserter} Inserter */
/** @typedef {import('../../lib/types.js').InsertWay} InsertWay */

const NX = /** @type {const} */ ({ condition: 'NX' });
const KEYS_PER_SCAN = 5000;

/** Descriptions of the strategies, for the tables. */
export const REDIS_INSERTS = Object.freeze({
  one: 'SET … NX',
  async: 'SET … NX',
  workers: 'SET … NX, a connection per worker',
  pairs: 'pipeline of two SET … NX',
  batch_pure: 'pipeline of SET … NX',
  batch_pure2: 'pipeline of SET … NX, two connections',
  unlogged_batch: 'pipeline of SET … NX',
  logged_batch: 'MULTI, SET … NX, EXEC',
  multi_row: 'MSETNX',
});

/**
 * @typedef {(...words: string[]) => Promise<any>} Send a command to one server
 *
 * @typedef {object} RedisConnection interface for all drivers
 * @property {() => Promise<Send[]>} nodes all servers with rows
 * @property {(key: string, value: string) => Promise<any>} set `SET key value NX`
 * @property {(rows: string[]) => Promise<any[]>} pipeline the same for each, alternating keys and
 *   values
 * @property {(rows: string[]) => Promise<any[]>} multi the same in a transaction
 * @property {(rows: string[]) => Promise<number>} setMany MSETNX
 * @property {() => Promise<void>} close
 */

/** @typedef {import('../../lib/types.js').InsertContext} InsertContext */

/**
 * @typedef {object} Keys keys without prefix
 * @property {(from: number) => string} start start of the keys of a request whose first row is
 *   `from`
 * @property {number} perCommand whether one command may read keys of several rows
 */

/** @type {Keys} */
const ONE_SERVER = { start: () => '', perCommand: Number.POSITIVE_INFINITY };

/**
 * @param {InsertContext} context
 * @param {(context: InsertContext) => Promise<RedisConnection>} open
 * @param {Keys} [keys]
 * @returns {Promise<Inserter>}
 */
export async function openInserter(context, open, keys = ONE_SERVER) {
  const { all, close } = await openSeveral(
    context.connections,
    () => open(context),
    (connection) => connection.close(),
  );
  return { ...redisInserter(all, context, keys), close };
}

/**
 * @param {InsertContext} context
 * @param {import('../redis-clients.js').IoredisDriver} driver
 * @returns {Promise<RedisConnection>}
 */
export async function ioredisConnection(context, driver) {
  const { stream } = /** @type {any} */ (context.profile.options);
  const redis = await connectIoredis(context, { driver });
  const cork = stream === undefined ? () => {} : createCork(/** @type {any} */ (redis).stream);
  return {
    nodes: async () => [(...words) => redis.call(words[0], ...words.slice(1))],
    ...ioredisWrites(redis, cork),
    async close() {
      redis.disconnect();
    },
  };
}

/** @typedef {Pick<RedisConnection, 'set' | 'pipeline' | 'multi' | 'setMany'>} Writes */

/**
 * @param {any} client client of ioredis or a fork of it, of one server or of a cluster
 * @param {() => void} [cork] called before each write
 * @returns {Writes}
 */
export function ioredisWrites(client, cork = () => {}) {
  /** @param {any} pipeline @param {string[]} rows */
  const send = (pipeline, rows) => {
    for (let i = 0; i < rows.length; i += 2) pipeline.set(rows[i], rows[i + 1], 'NX');
    cork();
    return pipeline.exec().then(unwrap);
  };
  return {
    set(key, value) {
      cork();
      return client.set(key, value, 'NX');
    },
    pipeline: (rows) => send(client.pipeline(), rows),
    multi: (rows) => send(client.multi(), rows),
    setMany(rows) {
      cork();
      return client.msetnx(rows);
    },
  };
}

/**
 * @param {[Error | null, unknown][]} replies one pair of error and reply per command
 * @returns {unknown[]}
 */
function unwrap(replies) {
  return replies.map(([error, reply]) => {
    if (error !== null) throw error;
    return reply;
  });
}

/**
 * @param {InsertContext} context
 * @returns {Promise<RedisConnection>}
 */
export async function nodeRedisConnection(context) {
  const { call } = /** @type {any} */ (context.profile.options);
  const client = await connectNodeRedis(context);
  return {
    nodes: async () => [(...words) => client.sendCommand(words)],
    ...nodeRedisWrites(client),
    ...(call !== undefined && {
      set: (key, value) => client.sendCommand(['SET', key, value, 'NX']),
    }),
    setMany: (rows) => client.sendCommand(['MSETNX', ...rows]),
    async close() {
      client.destroy();
    },
  };
}

/**
 * @param {any} client client of node-redis, of one server or of a cluster
 * @returns {Omit<Writes, 'setMany'>}
 */
export function nodeRedisWrites(client) {
  /** @param {string[]} rows */
  const collect = (rows) => {
    const multi = client.multi();
    for (let i = 0; i < rows.length; i += 2) multi.set(rows[i], rows[i + 1], NX);
    return multi;
  };
  return {
    set: (key, value) => client.set(key, value, NX),
    pipeline: (rows) => collect(rows).execAsPipeline(),
    multi: (rows) => collect(rows).exec(),
  };
}

/**
 * @param {InsertContext} context
 * @returns {Promise<RedisConnection>}
 */
export async function glideConnection(context) {
  const client = await connectGlide(context);
  return {
    nodes: async () => [(...words) => client.customCommand(words).then(flatMap)],
    ...glideWrites(client, await glideBatch()),
  };
}

/**
 * @param {any} client client of GLIDE, of one server or of a cluster
 * @param {any} Batch class of its batches
 * @returns {Omit<RedisConnection, 'nodes'>}
 */
export function glideWrites(client, Batch) {
  const absent = { conditionalSet: 'onlyIfDoesNotExist' };
  /** @param {boolean} atomic @param {string[]} rows */
  const send = (atomic, rows) => {
    const batch = new Batch(atomic);
    for (let i = 0; i < rows.length; i += 2) batch.set(rows[i], rows[i + 1], absent);
    return client.exec(batch, true);
  };
  return {
    set: (key, value) => client.set(key, value, absent),
    pipeline: (rows) => send(false, rows),
    multi: (rows) => send(true, rows),
    setMany: (rows) => client.customCommand(['MSETNX', ...rows]).then(Number), // true if stored
    async close() {
      if (!client.isClosed) client.close();
    },
  };
}

/**
 * @param {any} reply GLIDE returns maps as lists of keys and values
 * @returns {any} in the form of Redis without maps
 */
export function flatMap(reply) {
  if (!Array.isArray(reply) || reply[0]?.key === undefined) return reply;
  return reply.flatMap(({ key, value }) => [key, value]);
}

/**
 * @param {RedisConnection[]} clients one for each worker
 * @param {InsertContext} context
 * @param {Keys} keys
 * @returns {Omit<Inserter, 'close'>}
 */
function redisInserter(clients, { names: { redisPrefix: prefix }, numberOf }, keys) {
  const [client] = clients;
  /** @param {number} from @param {number} to @returns {string[]} keys and values in turn */
  const build = (from, to) => {
    const start = prefix + keys.start(from);
    const rows = [];
    for (let a = from; a < to; a += 1) rows.push(start + a, String(numberOf(a)));
    return rows;
  };
  return {
    clear: () => removeRows(client, prefix, keys),
    read: (see) => readRows(client, prefix, { keys, see }),
    durability: () => readDurability(client),
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
        // The reply is only whether all were stored.
        send: (rows, worker) =>
          clients[worker].setMany(rows).then((reply) => (reply === 1 ? rows.length / 2 : -1)),
        stored: (reply) => reply,
      },
    },
  };
}

/** @param {unknown[]} replies replies of SET … NX: OK, or null if the key exists */
function stored(replies) {
  return storedOf(replies, (reply) => reply === 'OK');
}

/**
 * @param {RedisConnection} client
 * @param {string} prefix
 * @returns {AsyncGenerator<{ send: Send, found: string[] }>} keys of rows by server; one may come
 *   twice (Redis, SCAN guarantees)
 */
async function* scan(client, prefix) {
  for (const send of await client.nodes()) {
    let cursor = '0';
    do {
      const [next, found] = await send(
        ...['SCAN', cursor, 'MATCH', `${prefix}*`, 'COUNT', String(KEYS_PER_SCAN)],
      );
      if (found.length > 0) yield { send, found };
      cursor = String(next);
    } while (cursor !== '0');
  }
}

/** @param {RedisConnection} client @param {string} prefix @param {Keys} keys */
async function removeRows(client, prefix, { perCommand }) {
  for await (const { send, found } of scan(client, prefix)) {
    await Promise.all(cut(found, perCommand).map((part) => send('UNLINK', ...part)));
  }
}

/**
 * @param {RedisConnection} client
 * @param {string} prefix
 * @param {{ keys: Keys, see: (a: number, b: number) => void }} how
 */
async function readRows(client, prefix, { keys: { perCommand }, see }) {
  /** @type {Set<string>} */
  const seen = new Set();
  for await (const { send, found } of scan(client, prefix)) {
    const fresh = found.filter((key) => !seen.has(key));
    if (fresh.length === 0) continue;
    const parts = cut(fresh, perCommand).map((part) => send('MGET', ...part));
    const values = (await Promise.all(parts)).flat();
    for (const [i, key] of fresh.entries()) {
      seen.add(key);
      see(Number(key.slice(Math.max(prefix.length, key.indexOf('}') + 1))), Number(values[i]));
    }
  }
}

/**
 * @param {string[]} keys
 * @param {number} size
 * @returns {string[][]}
 */
function cut(keys, size) {
  if (size >= keys.length) return [keys];
  const length = Math.ceil(keys.length / size);
  return Array.from({ length }, (_, i) => keys.slice(i * size, (i + 1) * size));
}

/** @param {RedisConnection} client */
async function readDurability(client) {
  try {
    const [send] = await client.nodes();
    const settings = [];
    for (const name of ['appendonly', 'appendfsync', 'save']) {
      // Pairs of name and value; an object with RESP3.
      const reply = await send('CONFIG', 'GET', name);
      const value = Array.isArray(reply) ? reply[1] : reply?.[name];
      settings.push(`${name} ${value === '' ? 'none' : value}`);
    }
    return settings.join(', ');
  } catch (error) {
    return `unknown: CONFIG GET: ${error.message}`;
  }
}
