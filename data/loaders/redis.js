/** Fills Redis with the rows. */

import { ROW_NAMES } from '../../lib/dataset.js';
import { RespConnection } from '../connections/redis.js';
import { defineRedisLoader } from './redis-family.js';

export default defineRedisLoader({
  name: 'redis',
  title: 'Redis',
  summary: `keys ${ROW_NAMES.redisPrefix}1 and on, by pipelined SET`,
  connect: (context) => RespConnection.connect(context),
});
