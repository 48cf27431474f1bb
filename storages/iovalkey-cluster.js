/** The cluster client of iovalkey on a Redis or Valkey cluster. */

import { defineStorage } from '../lib/define.js';
import { onIoredisCluster } from './ioredis-cluster-family.js';
import { IOVALKEY } from './redis-clients.js';

export const storage = defineStorage({
  name: 'iovalkey-cluster',
  summary: 'iovalkey, its cluster client',
  package: 'iovalkey',
  ...onIoredisCluster(IOVALKEY),
});
