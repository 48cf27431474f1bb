/**
 * cassandra-driver, DataStax's Node.js driver, on Cassandra: for `dragstrip insert`. It has no
 * point reads of the race's rows.
 */

import { defineStorage } from '../lib/define.js';
import { WORKERS } from '../lib/insertion.js';

export const storage = defineStorage({
  name: 'cassandra',
  summary: 'cassandra-driver, prepared statements over CQL (dragstrip insert)',
  package: 'cassandra-driver',
  server: 'cassandra',
  protocol: 'cql',
  capabilities: ['insert'],
  inserts: {
    async: 'INSERT, prepared',
    workers: `INSERT, prepared, ${WORKERS} connections`,
    pairs: 'unlogged batch of two',
    batch_pure: 'unlogged batch',
    batch_pure2: 'unlogged batch, two connections',
    unlogged_batch: 'unlogged batch',
    logged_batch: 'logged batch',
  },
  profiles: {
    default: {
      summary: 'one connection to this node alone, prepared, nothing sent twice',
      options: {
        policies: { loadBalancing: 'this node alone', retry: 'none' },
        pooling: { coreConnectionsPerHost: 1 },
      },
    },
  },
  async open(context) {
    const { openCassandraInserter } = await import('./inserts/cassandra.js');
    return openCassandraInserter(context);
  },
});
