/** The cluster client of ioredis on a Redis Cluster. */

import { defineStorage } from '../lib/define.js';
import { onIoredisCluster } from './ioredis-cluster-family.js';
import { IOREDIS } from './redis-clients.js';

export const storage = defineStorage({
  name: 'ioredis-cluster',
  summary: 'ioredis, its cluster client',
  package: 'ioredis',
  ...onIoredisCluster(IOREDIS),
});
