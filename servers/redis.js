/** Redis, the server that the drivers of its protocol are bound to. */

import { defineRedisServer } from './redis-family.js';

export default defineRedisServer({
  name: 'redis',
  title: 'Redis',
  summary: 'Redis: in-memory key-value store, RESP',
  program: 'redis',
  endpoint: {
    default: '127.0.0.1:6379',
    env: 'DRAGSTRIP_REDIS',
    flag: 'redis',
    summary: 'Redis, or a proxy with its protocol',
    schemes: ['redis', 'rediss', 'valkey', 'valkeys'],
  },
  credentials: { user: 'DRAGSTRIP_REDIS_USER', password: 'DRAGSTRIP_REDIS_PASSWORD' },
  packages: ['redis-server', 'redis-tools'],
  product: null, // Valkey and others may be measured instead
});
