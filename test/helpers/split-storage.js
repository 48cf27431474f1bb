/** A storage that writes to a Redis and reads from its replica. */

import { Redis } from 'ioredis';
import { defineStorage } from '../../lib/define.js';

/**
 * @param {number} replicaPort
 * @returns {import('../../lib/types.js').StorageDefinition}
 */
export const splitStorage = (replicaPort) =>
  defineStorage({
    name: 'split',
    summary: 'writes to a server, reads from its replica',
    package: 'ioredis',
    server: 'redis',
    rows: ['get', 'set'],
    profiles: { default: { summary: 'two connections', options: {} } },
    open: {
      async rows({ address, names }) {
        const { host, port } = address['main'];
        const master = new Redis({ host, port });
        const replica = new Redis({ host, port: replicaPort });
        const keyOf = (/** @type {number} */ id) => `${names.redisPrefix}${id}`;
        return {
          get: (id) => replica.get(keyOf(id)),
          value: (reply) => reply ?? undefined,
          set: (id, value) => master.set(keyOf(id), value),
          stored: (reply) => reply === 'OK',
          async close() {
            master.disconnect();
            replica.disconnect();
          },
        };
      },
    },
  });
