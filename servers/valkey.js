/**
 * Valkey beside Redis: fetched and started in the same way. A run uses it instead of Redis, by its
 * address: `--redis 127.0.0.1:6380`.
 */

import { defineRedisServer } from './redis-family.js';

export default defineRedisServer({
  name: 'valkey',
  title: 'Valkey',
  summary: 'Valkey, the fork of Redis: race it by its address, --redis host:port',
  program: 'valkey',
  endpoint: {
    default: '127.0.0.1:6380',
    env: 'DRAGSTRIP_VALKEY',
    flag: 'valkey',
    summary: 'Valkey',
    schemes: ['valkey', 'valkeys', 'redis', 'rediss'],
  },
  credentials: { user: 'DRAGSTRIP_REDIS_USER', password: 'DRAGSTRIP_REDIS_PASSWORD' },
  packages: ['valkey-server', 'valkey-tools'],
  product: 'Valkey',
});
