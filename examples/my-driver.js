/**
 * A storage of your own, from outside of the project. ioredis on RESP 2 takes the place of the
 * driver that you want to race:
 *
 *   dragstrip race --storages ./examples/my-driver.js,ioredis
 */

import { defineStorage } from 'dragstrip';
import { Redis } from 'ioredis';

// Every option that is not your driver's own default: it is stored in each result.
// A lost server has to be seen, so nothing reconnects and nothing is sent a second time.
const options = { protocol: 2, retryStrategy: null, autoResendUnfulfilledCommands: false };

export default defineStorage({
  name: 'my-driver',
  summary: 'ioredis on RESP 2',
  package: 'ioredis', // its version goes into the result
  server: 'redis', // whose address comes into open()
  rows: ['get'], // of get, mget and set what the handle has
  profiles: { default: { summary: 'redis.get as it comes', options } },

  /** Resolves when it is connected and ready: the time that this takes is measured too. */
  async open({ address, credentials, profile, places }) {
    const { user: username, password } = credentials;
    const place = { ...address.main, username, password, lazyConnect: true };
    const redis = new Redis({ ...profile.options, ...place });
    redis.on('error', () => {}); // what is in flight rejects; nothing may be thrown besides
    await redis.connect();
    return {
      // The driver's own promise, as it is: no async function, no then().
      get: (id) => redis.get(places.redisPrefix + id),
      // Pure: makes a string of a reply, or undefined of a miss, after the reply has come.
      value: (reply) => reply ?? undefined,
      close: async () => redis.disconnect(),
    };
  },
});
