/** ioredis on a Redis server. */

import { defineStorage } from '../lib/define.js';
import { openCommands } from './commands/ioredis.js';
import { createCork, watchLoss } from './connection.js';
import { openIoredisInserter, REDIS_INSERTS } from './inserts/redis.js';
import { IOREDIS_LOCKS, openIoredisLocks } from './locks/redis.js';
import { closeIoredis, codeLostRequests, connectIoredis, FAULTS_VISIBLE } from './redis-clients.js';

/** @param {string | null} reply */
const value = (reply) => (reply === null ? undefined : reply);
/** @param {string | null} reply */
const stored = (reply) => reply === 'OK';

export const storage = defineStorage({
  name: 'ioredis',
  summary: 'ioredis',
  package: 'ioredis',
  server: 'redis',
  rows: ['get', 'mget', 'set'],
  inserts: REDIS_INSERTS,
  locks: IOREDIS_LOCKS,
  commands: ['words', 'inline'],
  profiles: {
    default: { summary: 'redis.get as it comes', options: FAULTS_VISIBLE },
    tuned: {
      summary: 'its stream corked for a tick: one write for all requests of the tick',
      options: { ...FAULTS_VISIBLE, stream: 'corked per tick from outside' },
    },
    pipelined: {
      summary: 'its own auto-pipelining: one pipeline in flight at a time',
      options: { ...FAULTS_VISIBLE, enableAutoPipelining: true },
    },
  },
  open: {
    rows: openRows,
    insert: openIoredisInserter,
    lock: openIoredisLocks,
    command: openCommands,
  },
});

/** @type {NonNullable<import('../lib/types.js').StorageDefinition['open']['rows']>} */
async function openRows(context) {
  const { profile, places } = context;
  const { stream } = /** @type {any} */ (profile.options);
  const redis = await connectIoredis(context);
  codeLostRequests(redis);
  const socket = /** @type {any} */ (redis).stream;
  const cork = createCork(socket);
  const { redisPrefix: prefix } = places;
  return watchLoss(socket, {
    get:
      stream === undefined
        ? (id) => redis.get(prefix + id)
        : (id) => {
            cork();
            return redis.get(prefix + id);
          },
    value,
    mget:
      stream === undefined
        ? (ids) => redis.mget(ids.map((id) => prefix + id))
        : (ids) => {
            cork();
            return redis.mget(ids.map((id) => prefix + id));
          },
    set:
      stream === undefined
        ? (id, text) => redis.set(prefix + id, text)
        : (id, text) => {
            cork();
            return redis.set(prefix + id, text);
          },
    stored,
    close: () => closeIoredis(redis),
  });
}
