/** Valkey GLIDE on a Redis or Valkey server. */

import { defineStorage } from '../lib/define.js';
import { loseHandle } from './connection.js';
import { closeWhenLost, connectGlide, glideRows, missingBinary, PACKAGE } from './glide-client.js';
import { openGlideInserter, REDIS_INSERTS } from './inserts/redis.js';

export const storage = defineStorage({
  name: 'valkey-glide',
  summary: 'Valkey GLIDE, a core in Rust',
  package: PACKAGE,
  server: 'redis',
  tls: true,
  rows: ['get', 'mget', 'set'],
  inserts: REDIS_INSERTS,
  // No locks: it does not keep the order of commands. No commands of any name: it converts their
  // replies by the name.
  profiles: {
    default: {
      summary: 'client.get; its limits of 1,000 in flight and of 250 ms raised',
      options: { inflightRequestsLimit: 1_000_000, requestTimeout: 5000, logger: 'off' },
    },
  },
  unavailable: async () => missingBinary(),
  open: { rows: openRows, insert: openGlideInserter },
});

/** @type {NonNullable<import('../lib/types.js').StorageDefinition['open']['rows']>} */
async function openRows(context) {
  const client = await connectGlide(context);
  const handle = glideRows(client, context.names.redisPrefix);
  closeWhenLost(client, (error) => loseHandle(handle, error));
  return handle;
}
