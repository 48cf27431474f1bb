/**
 * Arbitrary commands over connections of node-redis, for workloads that count connections. RESP2
 * and no handshake except the login, as required by proxies. It cannot send inline commands.
 */

import { withLogin } from '../connection.js';
import { connectNodeRedis } from '../redis-clients.js';

const PLAIN = { RESP: /** @type {const} */ (2), disableClientInfo: true };

/**
 * @param {import('../../lib/types.js').OpenContext} context
 * @returns {Promise<import('../../lib/types.js').CommandHandle>}
 */
export async function openCommands(context) {
  return {
    async connect(name, login) {
      const client = await connectNodeRedis(withLogin(context, login), { name, more: PLAIN });
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
