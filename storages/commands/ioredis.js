/**
 * Commands of any name over connections of ioredis or a fork of it, one at a time or many side by
 * side: for workloads that count connections. No handshake beyond the login, so that a proxy that
 * knows neither INFO nor HELLO nor CLIENT takes it, and a server is asked no more than a proxy.
 */

import { inlineCommand } from '../../protocols/resp/command.js';
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
    async connect(name) {
      const redis = await connectIoredis(where, { name, more: PLAIN, driver });
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
