/** iovalkey, the fork of ioredis 5 for Valkey, on a Redis or Valkey server. */

import { defineStorage } from '../lib/define.js';
import { onIoredis } from './ioredis-family.js';
import { IOVALKEY } from './redis-clients.js';

export const storage = defineStorage({
  name: 'iovalkey',
  summary: 'iovalkey, the fork of ioredis 5 for Valkey',
  package: 'iovalkey',
  alternative: true,
  ...onIoredis(IOVALKEY),
});
