/**
 * Ready connections of the two Redis drivers, for every use. The sender of requests handles a lost
 * connection.
 */

import { usageError } from '../lib/errors.js';
import { tlsOptions } from '../lib/tls.js';
import {
  codeClass,
  connectOptions,
  connectWithCause,
  openOrThrow,
  targetOf,
  withCode,
} from './connection.js';

/**
 * @typedef {Pick<import('../lib/types.js').OpenContext, 'address' | 'credentials' | 'profile'>}
 * Where
 */

// A lost server must be detected: no reconnection, no resending.
export const FAULTS_VISIBLE = { retryStrategy: null, autoResendUnfulfilledCommands: false };

/**
 * @typedef {object} IoredisDriver ioredis, or a fork of it with the same interface
 * @property {string} name of the storage and of the package
 * @property {() => Promise<{ Redis: any, Command: any, Cluster: any }>} load
 */

/** @type {IoredisDriver} */
export const IOREDIS = { name: 'ioredis', load: () => import('ioredis') };
/** @type {IoredisDriver} */
export const IOVALKEY = { name: 'iovalkey', load: () => import('iovalkey') };

const importRedis = () => import('redis');
// Once: where each request has a connection of its own, an import would be in its time.
/** @type {Map<IoredisDriver, ReturnType<IoredisDriver['load']>>} */
const loaded = new Map();
/** @type {ReturnType<typeof importRedis> | undefined} */
let nodeRedis;

/**
 * @param {Where} where
 * @param {{ name?: string, more?: import('ioredis').RedisOptions, driver?: IoredisDriver }} [how]
 *   name: of the endpoint; more: options beside those of the profile
 * @returns {Promise<import('ioredis').Redis>}
 * @throws {Error} with a code, where it cannot connect
 */
export async function connectIoredis(where, { name = 'main', more = {}, driver = IOREDIS } = {}) {
  const { credentials, profile } = where;
  const target = targetOf(where, name, driver.name);
  const { endpoint } = target;
  if (!loaded.has(driver)) loaded.set(driver, driver.load());
  // Up to 5.1 ioredis has no export of this name: the module itself is the class.
  const { Redis: named, default: whole } = /** @type {any} */ (await loaded.get(driver));
  const Redis = named ?? whole;
  const { stream: _corked, ...options } = /** @type {any} */ (profile.options);
  const redis = new Redis({
    ...options,
    ...more,
    ...connectOptions(endpoint),
    ...(endpoint.tls && { tls: tlsOptions(endpoint) }),
    username: credentials.user,
    password: credentials.password,
    ...(endpoint.db && { db: endpoint.db }),
    lazyConnect: true,
  });
  await openOrThrow(target, connectWithCause(redis), () => redis.disconnect());
  return redis;
}

/**
 * ioredis rejects requests in flight with a plain Error, "Connection is closed.": it gets a code.
 * @param {any} redis
 */
export function codeLostRequests(redis) {
  const flushQueue = redis.flushQueue;
  redis.flushQueue = (/** @type {Error} */ error, /** @type {any} */ options) =>
    flushQueue.call(redis, withCode(error), options);
}

/**
 * @param {any} redis of one server or of a cluster
 * @returns {Promise<void>} settled when the socket is closed, at the latest after its
 *   disconnectTimeout (2 s)
 */
export async function closeIoredis(redis) {
  if (redis.status === 'end') return;
  const ended = new Promise((resolve) => redis.once('end', resolve));
  redis.disconnect();
  await ended;
}

/**
 * @param {import('../lib/types.js').Endpoint} endpoint
 * @param {Where} where
 * @returns {Record<string, any>}
 */
function nodeRedisOptions(endpoint, { credentials, profile }) {
  const { call: _call, pool: _pool, socket, ...options } = /** @type {any} */ (profile.options);
  return {
    ...options,
    // A server may redirect a client to another address, which the user has not allowed.
    maintNotifications: 'disabled',
    username: credentials.user,
    password: credentials.password,
    socket: {
      ...socket,
      ...connectOptions(endpoint),
      ...(endpoint.tls && { tls: true, ...tlsOptions(endpoint) }),
    },
    ...(endpoint.db && { database: endpoint.db }),
  };
}

/**
 * @param {Where} where the options of its profile have those of the pool as `pool`
 * @returns {Promise<any>} a pool with all its connections open
 * @throws {Error} with a code, where it cannot connect
 */
export async function connectNodeRedisPool(where) {
  const target = targetOf(where, 'main', 'redis');
  nodeRedis ??= importRedis();
  const { ClientClosedError, createClientPool, DisconnectsClientError, TimeoutError } =
    await nodeRedis;
  // Requests in flight or waiting for a connection fail with these errors, which have no code.
  for (const errorClass of [ClientClosedError, DisconnectsClientError]) codeClass(errorClass);
  codeClass(TimeoutError, 'ETIMEDOUT'); // of its acquireTimeout
  const { pool: size } = /** @type {any} */ (where.profile.options);
  const pool = createClientPool(nodeRedisOptions(target.endpoint, where), size);
  pool.on('error', withCode);
  await openOrThrow(target, pool.connect(), () => pool.destroy());
  return pool;
}

/**
 * @param {Where} where
 * @param {{ name?: string, more?: Record<string, unknown> }} [how] name: of the endpoint; more:
 *   options beside those of the profile
 * @returns {Promise<any>} a client; its types depend on options that are known at run time
 * @throws {Error} with a code, where it cannot connect
 */
export async function connectNodeRedis(where, { name = 'main', more = {} } = {}) {
  if (/** @type {any} */ (where.profile.options).pool !== undefined) {
    throw usageError('redis:pool reads and writes rows only', 'use redis or redis:tuned');
  }
  const target = targetOf(where, name, 'redis');
  nodeRedis ??= importRedis();
  const { createClient } = await nodeRedis;
  const client = createClient({ ...nodeRedisOptions(target.endpoint, where), ...more });
  const failed = new Promise((_resolve, reject) => {
    // The same object rejects all requests in flight; its class has no code.
    client.on('error', (error) => reject(withCode(error)));
  });
  failed.catch(() => {}); // later errors, too: the requests report them
  await openOrThrow(target, Promise.race([client.connect(), failed]), () => client.destroy());
  return client;
}
