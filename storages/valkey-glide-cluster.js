/**
 * Valkey GLIDE's cluster client on a Redis or Valkey cluster. It splits MGET by slot. Its core in
 * Rust follows redirections without reporting their number.
 */

import { defineStorage } from '../lib/define.js';
import {
  connectGlideCluster,
  glideRows,
  missingBinary,
  PACKAGE,
  REQUEST_TIMEOUT,
} from './glide-client.js';
import { openInserter } from './inserts/redis.js';
import { CLUSTER_INSERTS, glideClusterConnection, TAGGED } from './inserts/redis-cluster.js';

const OPTIONS = {
  inflightRequestsLimit: 1_000_000,
  requestTimeout: REQUEST_TIMEOUT,
  logger: 'off',
};

export const storage = defineStorage({
  name: 'valkey-glide-cluster',
  summary: 'Valkey GLIDE, its cluster client',
  package: PACKAGE,
  server: 'redis-cluster',
  alternative: true,
  tls: true,
  rows: ['get', 'mget', 'set'],
  inserts: CLUSTER_INSERTS,
  profiles: {
    default: {
      summary: 'client.get; its limits of 1,000 in flight and of 250 ms raised',
      options: OPTIONS,
    },
    replicas: {
      summary: 'reads from replicas',
      options: { ...OPTIONS, readFrom: 'preferReplica' },
    },
  },
  unavailable: async () => missingBinary(),
  open: {
    rows: async (context) =>
      glideRows(await connectGlideCluster(context), context.names.redisPrefix),
    insert: (context) => openInserter(context, glideClusterConnection, TAGGED),
  },
});
