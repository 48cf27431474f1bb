/**
 * Ready connections of the two Redis drivers, for all uses. Senders of requests handle a lost
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
 * @typedef {Pick<import('../lib/types.js').OpenContext,
 *   'address' | 'credentials' | 'logins' | 'profile' | 'timeoutMs'>} Where
 */

// A lost server must be detected: no reconnection, no resending.
export const FAULTS_VISIBLE = { retryStrategy: null, autoResendUnfulfilledCommands: false };

/**
 * @typedef {object} IoredisDriver ioredis, or a fork of it with the same interface
 * @property {string} name name of the storage and of the package
 * @property {() => Promise<{ Redis: any, Command: any, Cluster: any }>} load
 */

/** @type {IoredisDriver} */
export const IOREDIS = { name: 'ioredis', load: () => import('ioredis') };
/** @type {IoredisDriver} */
export const IOVALKEY = { name: 'iovalkey', load: () => import('iovalkey') };

const importRedis = () => import('redis');
// Cached, because with a connection per request the import would be part of its time.
/** @type {Map<IoredisDriver, ReturnType<IoredisDriver['load']>>} */
const loaded = new Map();
/** @type {ReturnType<typeof importRedis> | undefined} */
let nodeRedis;

/**
 * @param {Where} where
 * @param {{ name?: string, more?: import('ioredis').RedisOptions, driver?: IoredisDriver }} [how]
 *   name: name of the endpoint; more: options beside those of the profile
 * @returns {Promise<import('ioredis').Redis>}
 * @throws {Error} error with a code: it cannot connect
 */
export async function connectIoredis(where, { name = 'main', more = {}, driver = IOREDIS } = {}) {
  const { profile } = where;
  const target = targetOf(where, name, driver.name);
  const { endpoint, credentials } = target;
  if (!loaded.has(driver)) loaded.set(driver, driver.load());
  // Up to 5.1 ioredis has no export of this name; the module itself is the class.
  const { Redis: named, default: moduleClass } = /** @type {any} */ (await loaded.get(driver));
  const Redis = named ?? moduleClass;
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
 * ioredis rejects requests in flight with a plain Error, "Connection is closed.", which gets a
 * code.
 * @param {any} redis
 */
export function codeLostRequests(redis) {
  const flushQueue = redis.flushQueue;
  redis.flushQueue = (/** @type {Error} */ error, /** @type {any} */ options) =>
    flushQueue.call(redis, withCode(error), options);
}

/**
 * @param {any} redis redis of one server or of a cluster
 * @returns {Promise<void>} resolves when the socket is closed, at the latest after its
 *   disconnectTimeout (2 s)
 */
export async function closeIoredis(redis) {
  if (redis.status === 'end') return;
  const ended = new Promise((resolve) => redis.once('end', resolve));
  redis.disconnect();
  await ended;
}

/**
 * @param {import('./connection.js').Target} target
 * @param {Where['profile']} profile
 * @returns {Record<string, any>}
 */
function nodeRedisOptions({ endpoint, credentials }, profile) {
  const { call: _call, pool: _pool, socket, ...options } = /** @type {any} */ (profile.options);
  return {
    ...options,
    // A server may redirect a client to an address that the user has not allowed.
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
 * @param {Where} where options of its profile; `pool` has those of the pool
 * @returns {Promise<any>} a pool with all its connections open
 * @throws {Error} error with a code: it cannot connect
 */
export async function connectNodeRedisPool(where) {
  const target = targetOf(where, 'main', 'redis');
  nodeRedis ??= importRedis();
  const { ClientClosedError, createClientPool, DisconnectsClientError, TimeoutError } =
    await nodeRedis;
  // Requests in flight or waiting for a connection fail with these errors, which have no code.
  for (const errorClass of [ClientClosedError, DisconnectsClientError]) codeClass(errorClass);
  codeClass(TimeoutError, 'ETIMEDOUT'); // error of its acquireTimeout
  const { pool: size } = /** @type {any} */ (where.profile.options);
  const pool = createClientPool(nodeRedisOptions(target, where.profile), size);
  pool.on('error', withCode);
  await openOrThrow(target, pool.connect(), () => pool.destroy());
  return pool;
}

/**
 * @param {Where} where
 * @param {{ name?: string, more?: Record<string, unknown> }} [how] name: name of the endpoint;
 *   more: options beside those of the profile
 * @returns {Promise<any>} a client, whose types depend on runtime options
 * @throws {Error} error with a code: it cannot connect
 */
export async function connectNodeRedis(where, { name = 'main', more = {} } = {}) {
  if (/** @type {any} */ (where.profile.options).pool !== undefined) {
    throw usageError('redis:pool reads and writes rows only', 'use redis or redis:tuned');
  }
  const target = targetOf(where, name, 'redis');
  nodeRedis ??= importRedis();
  const { createClient } = await nodeRedis;
  const client = createClient({ ...nodeRedisOptions(target, where.profile), ...more });
  const failed = new Promise((_resolve, reject) => {
    // One object without a code rejects all requests in flight.
    client.on('error', (error) => reject(withCode(error)));
  });
  failed.catch(() => {}); // also later errors, which requests report
  await openOrThrow(target, Promise.race([client.connect(), failed]), () => client.destroy());
  return client;
}
