/**
 * Arbitrary commands over connections of ioredis or a fork of it, one or several, for workloads
 * that count connections. No handshake except the login, because proxies may not support INFO,
 * HELLO or CLIENT, and servers should get the same commands.
 */

import { inlineCommand } from '../../protocols/resp/command.js';
import { withLogin } from '../connection.js';
import {
  closeIoredis,
  codeLostRequests,
  connectIoredis,
  FAULTS_VISIBLE,
} from '../redis-clients.js';

const PLAIN = {
  ...FAULTS_VISIBLE,
  protocol: /** @type {const} */ (2),
  enableReadyCheck: false,
  disableClientInfo: true,
};

/**
 * @param {import('../../lib/types.js').OpenContext} where
 * @param {import('../redis-clients.js').IoredisDriver} driver
 * @returns {Promise<import('../../lib/types.js').CommandHandle>}
 */
export async function openCommands(where, driver) {
  const { Command } = await driver.load();
  return {
    async connect(name, login) {
      const from = withLogin(where, login);
      const redis = await connectIoredis(from, { name, more: PLAIN, driver });
      codeLostRequests(redis);
      return {
        send: (words) => redis.call(.../** @type {[string, ...string[]]} */ (words)),
        inline(line) {
          const command = new Command(line, [], { replyEncoding: 'utf8' });
          command.toWritable = () => inlineCommand(line);
          redis.sendCommand(command);
          return command.promise;
        },
        close: () => closeIoredis(redis),
      };
    },
    async close() {}, // closed by the connecting side
  };
}
