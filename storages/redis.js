/** node-redis, the official client, on a Redis server. */

import { PLACES } from '../lib/dataset.js';
import { defineStorage } from '../lib/define.js';
import { commandHandle } from './commands/handle.js';
import { coded, loseHandle } from './connection.js';
import { REDIS_INSERTS } from './inserts/redis.js';
import { NODE_REDIS_LOCKS } from './locks/redis.js';
import { connectNodeRedis } from './redis-clients.js';

// A lost server has to be seen: the driver would otherwise reconnect behind the reader's back.
const FAULTS_VISIBLE = { reconnectStrategy: false };

/** @param {string | null} reply */
const value = (reply) => (reply === null ? undefined : reply);
/** @param {string | null} reply */
const stored = (reply) => reply === 'OK';

export const storage = defineStorage({
  name: 'redis',
  summary: 'node-redis, the official client',
  package: 'redis',
  server: 'redis',
  capabilities: ['get', 'mget', 'set', 'lock', 'command', 'insert'],
  inserts: REDIS_INSERTS,
  locks: NODE_REDIS_LOCKS,
  profiles: {
    default: { summary: 'client.get as it comes', options: { socket: FAULTS_VISIBLE } },
    tuned: {
      summary: 'no timeout per command (6 times the CPU), sendCommand in place of get',
      options: {
        socket: FAULTS_VISIBLE,
        commandOptions: { timeout: 0 },
        call: "sendCommand(['GET', key])",
      },
    },
  },
  async open(context) {
    if (context.needs?.includes('insert')) {
      const { openNodeRedisInserter } = await import('./inserts/node-redis.js');
      return openNodeRedisInserter(context);
    }
    if (context.needs?.includes('lock')) {
      const { openNodeRedisLocks } = await import('./locks/open.js');
      return openNodeRedisLocks(context);
    }
    if (context.needs?.includes('command')) {
      const { redisConnector } = await import('./commands/redis.js');
      return commandHandle(context, await redisConnector(context));
    }
    const { profile, places = PLACES } = context;
    const { call } = /** @type {any} */ (profile.options);
    const client = await connectNodeRedis(context);
    const { redisPrefix: prefix } = places;
    /** @type {import('../lib/types.js').Handle} */
    const handle = {
      get:
        call === undefined
          ? (id) => client.get(prefix + id)
          : (id) => client.sendCommand(['GET', prefix + id]),
      value,
      mget:
        call === undefined
          ? (ids) => client.mGet(ids.map((id) => prefix + id))
          : (ids) => client.sendCommand(['MGET', ...ids.map((id) => prefix + id)]),
      set:
        call === undefined
          ? (id, text) => client.set(prefix + id, text)
          : (id, text) => client.sendCommand(['SET', prefix + id, text]),
      stored,
      async close() {
        client.destroy();
        loseHandle(handle, coded(new Error('the client is closed')));
      },
    };
    client.on('error', (/** @type {any} */ error) => loseHandle(handle, error));
    return handle;
  },
});
