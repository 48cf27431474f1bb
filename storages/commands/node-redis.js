/**
 * Commands of any name over connections of node-redis, for workloads that count connections. RESP2
 * and no handshake beyond the login, as proxies want it. Inline commands it cannot send.
 */

import { connectNodeRedis } from '../redis-clients.js';

const PLAIN = { RESP: /** @type {const} */ (2), disableClientInfo: true };

/**
 * @param {import('../../lib/types.js').OpenContext} context
 * @returns {Promise<import('../../lib/types.js').CommandHandle>}
 */
export async function openCommands(context) {
  return {
    async connect(name) {
      const client = await connectNodeRedis(context, { name, more: PLAIN });
      return {
        send: (words) => client.sendCommand(words),
        async close() {
          if (client.isOpen) client.destroy();
        },
      };
    },
    async close() {}, // closed by the connecting side
  };
}
