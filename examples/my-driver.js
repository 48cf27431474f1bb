/**
 * A storage outside the project. Replace ioredis on RESP 2 by your driver:
 *
 *   npx dragstrip race --storages ./examples/my-driver.js,ioredis
 */

import { defineStorage } from 'dragstrip';
import { Redis } from 'ioredis';

// All options that differ from the driver's defaults; they are stored in every result.
// No reconnection and no retries, so that a lost server is visible.
const options = { protocol: 2, retryStrategy: null, autoResendUnfulfilledCommands: false };

export default defineStorage({
  name: 'my-driver',
  summary: 'ioredis on RESP 2',
  package: 'ioredis', // its version is in every result
  server: 'redis', // open() receives its address
  rows: ['get'], // operations of the handle: get, mget, set
  profiles: { default: { summary: 'redis.get, driver defaults', options } },

  /** Resolves when the connection is ready; this time is measured. */
  async open({ address, credentials, profile, names }) {
    const { user: username, password } = credentials;
    const place = { ...address.main, username, password, lazyConnect: true };
    const redis = new Redis({ ...profile.options, ...place });
    redis.on('error', () => {}); // outstanding requests reject; no uncaught errors
    await redis.connect();
    return {
      // The driver's promise, unwrapped: no async function, no then().
      get: (id) => redis.get(names.redisPrefix + id),
      // Pure: converts a reply to a string, or undefined for a miss.
      value: (reply) => reply ?? undefined,
      close: async () => redis.disconnect(),
    };
  },
});
