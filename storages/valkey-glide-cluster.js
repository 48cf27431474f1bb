/**
 * Valkey GLIDE's cluster client on a Redis or Valkey cluster. It splits MGET by slot. Its core in
 * Rust follows redirections by itself and does not tell how many there were.
 */

import { defineStorage } from '../lib/define.js';
import { loseHandle, withCode } from './connection.js';
import { connectGlideCluster, missingBinary, PACKAGE } from './glide-client.js';

const OPTIONS = { inflightRequestsLimit: 1_000_000, requestTimeout: 5000, logger: 'off' };

export const storage = defineStorage({
  name: 'valkey-glide-cluster',
  summary: 'Valkey GLIDE, its cluster client',
  package: PACKAGE,
  server: 'redis-cluster',
  alternative: true,
  tls: true,
  rows: ['get', 'mget', 'set'],
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
  open: { rows: openRows },
});

/** @type {NonNullable<import('../lib/types.js').StorageDefinition['open']['rows']>} */
async function openRows(context) {
  const client = await connectGlideCluster(context);
  const { redisPrefix: prefix } = context.names;
  /** @type {import('../lib/types.js').RowsHandle} */
  const handle = {
    get: (id) => client.get(prefix + id),
    value: (reply) => (reply === null ? undefined : reply),
    mget: (ids) => client.mget(ids.map((id) => prefix + id)),
    set: (id, text) => client.set(prefix + id, text),
    stored: (reply) => reply === 'OK',
    async close() {
      loseHandle(handle, withCode(new Error('the client is closed')));
      if (!client.isClosed) client.close();
    },
  };
  return handle;
}
