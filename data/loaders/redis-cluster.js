/** Fills a Redis Cluster: the rows of the Redis loader, each on the node of its slot. */

import { ROW_NAMES } from '../../lib/dataset.js';
import { RespCluster } from '../connections/redis-cluster.js';
import { defineRedisLoader } from './redis-family.js';

export default defineRedisLoader({
  name: 'redis-cluster',
  title: 'Redis Cluster',
  summary: `keys ${ROW_NAMES.redisPrefix}1 and on, each on the node of its slot, by pipelined SET`,
  connect: RespCluster.connect,
});
