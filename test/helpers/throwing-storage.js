/** A storage whose driver throws an uncaught exception when its connection is lost. */

import { Redis } from 'ioredis';
import { defineStorage } from '../../lib/define.js';

export const storage = defineStorage({
  name: 'throwing',
  summary: 'throws when its connection is lost',
  package: 'ioredis',
  server: 'redis',
  profiles: { default: { summary: 'no reconnection', options: { retryStrategy: null } } },
  async open({ address, names }) {
    const { host, port } = address['main'];
    const redis = new Redis({ host, port, retryStrategy: null });
    let isClosed = false;
    redis.on('error', () => {});
    redis.on('end', () => {
      if (!isClosed) throw new Error('the connection was lost');
    });
    return {
      get: (id) => redis.get(`${names.redisPrefix}${id}`),
      value: (reply) => reply ?? undefined,
      async close() {
        isClosed = true;
        redis.disconnect();
      },
    };
  },
});
