/** iovalkey, the fork of ioredis 5 for Valkey, on a Redis or Valkey server. */

import { defineStorage } from '../lib/define.js';
import { REDIS_INSERTS } from './inserts/redis.js';
import { ioredisOpeners } from './ioredis-family.js';
import { IOREDIS_LOCKS } from './locks/redis.js';
import { FAULTS_VISIBLE, IOVALKEY } from './redis-clients.js';

export const storage = defineStorage({
  name: 'iovalkey',
  summary: 'iovalkey, the fork of ioredis 5 for Valkey',
  package: 'iovalkey',
  server: 'redis',
  alternative: true,
  rows: ['get', 'mget', 'set'],
  inserts: REDIS_INSERTS,
  locks: IOREDIS_LOCKS,
  commands: ['words', 'inline'],
  profiles: {
    default: { summary: 'client.get as it comes', options: FAULTS_VISIBLE },
    tuned: {
      summary: 'its stream corked for a tick: one write for all requests of the tick',
      options: { ...FAULTS_VISIBLE, stream: 'corked per tick from outside' },
      inserts: true,
    },
    pipelined: {
      summary: 'its own auto-pipelining: one pipeline in flight at a time',
      options: { ...FAULTS_VISIBLE, enableAutoPipelining: true },
      inserts: true,
    },
  },
  open: ioredisOpeners(IOVALKEY),
});
