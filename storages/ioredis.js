/** ioredis on a Redis server. */

import { defineStorage } from '../lib/define.js';
import { onIoredis } from './ioredis-family.js';
import { IOREDIS } from './redis-clients.js';

export const storage = defineStorage({
  name: 'ioredis',
  summary: 'ioredis',
  package: 'ioredis',
  ...onIoredis(IOREDIS),
});
