/** Clients of a test on its servers, with their passwords. */

import { after } from 'node:test';
import { Redis } from 'ioredis';
import { createConnection } from 'mysql2/promise';

/** @typedef {ReturnType<typeof import('./servers.js').withServers>} Servers */

/**
 * Call it after `withServers`.
 * @param {Servers} servers
 * @returns {() => Redis} client that is connected at its first use
 */
export function withRedis(servers) {
  /** @type {Redis | undefined} */
  let redis;
  after(() => redis?.disconnect());
  return () => {
    redis ??= openRedis(servers);
    return redis;
  };
}

/**
 * @param {Servers} servers
 * @param {Record<string, unknown>} [options]
 * @returns {Redis}
 */
export function openRedis(servers, options = {}) {
  const redis = new Redis({
    .../** @type {any} */ (servers.address('redis').main),
    ...servers.login('redis'),
    ...options,
  });
  redis.on('error', () => {}); // its server may end first
  return redis;
}

/**
 * @param {Servers} servers
 * @param {Record<string, unknown>} [options]
 */
export function openSql(servers, options = {}) {
  const { host, port } = servers.address('mariadb').sql;
  const { user, password } = servers.login('mariadb');
  return createConnection({ host, port, user, password, ...options });
}
