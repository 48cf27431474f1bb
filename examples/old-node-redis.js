/**
 * node-redis 2 and 3, whose interface is callbacks: an adapter for old releases, from outside.
 *
 *   npx dragstrip releases redis --from 2 --to 3 --storages ./old-node-redis.mjs
 */

import { defineStorage } from 'dragstrip';
import redis from 'redis';

// No reconnection: a lost server is visible.
const options = { retry_strategy: () => undefined, no_ready_check: true };

export default defineStorage({
  name: 'old-node-redis',
  summary: 'node-redis up to 3, callbacks',
  package: 'redis',
  server: 'redis',
  rows: ['get'],
  profiles: {
    default: { summary: 'client.get with a callback', options, calls: 'callback' },
  },

  async open({ address, credentials, profile, names }) {
    const { user, password } = credentials;
    // Not in the declarations of the installed version.
    const { createClient } = /** @type {any} */ (redis);
    const client = createClient({ ...address.main, ...profile.options });
    await new Promise((resolve, reject) => client.once('connect', resolve).once('error', reject));
    client.on('error', () => {}); // outstanding requests fail by themselves
    if (password !== undefined) {
      const words = user === undefined ? [password] : [user, password];
      await new Promise((resolve, reject) => {
        client.send_command('AUTH', words, (/** @type {unknown} */ error) =>
          error ? reject(error) : resolve(undefined),
        );
      });
    }
    return {
      get: (id, done) => client.get(names.redisPrefix + id, done),
      value: (reply) => reply ?? undefined,
      close: async () => client.end(true),
    };
  },
});
