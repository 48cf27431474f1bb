/**
 * cassandra-driver, DataStax's Node.js driver, on Cassandra: for `dragstrip insert`. Without point
 * reads of the race's rows.
 */

import { defineStorage } from '../lib/define.js';
import { CASSANDRA_INSERTS, openCassandraInserter } from './inserts/cassandra.js';

export const storage = defineStorage({
  name: 'cassandra',
  summary: 'cassandra-driver, prepared statements over CQL (npx dragstrip insert)',
  package: 'cassandra-driver',
  server: 'cassandra',
  protocol: 'cql',
  inserts: CASSANDRA_INSERTS,
  profiles: {
    default: {
      summary: 'one connection to this node alone, prepared, nothing sent twice',
      options: {
        policies: { loadBalancing: 'this node alone', retry: 'none' },
        pooling: { coreConnectionsPerHost: 1 },
      },
    },
  },
  open: { insert: openCassandraInserter },
});
