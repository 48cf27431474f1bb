/**
 * Commands of any name over connections of ioredis, one at a time or many side by side: for
 * workloads that count connections. No handshake beyond the login, so that a proxy that knows
 * neither INFO nor HELLO nor CLIENT takes it, and a server is asked no more than a proxy.
 */

import { opened, requireEndpoint, socketPlace } from '../connection.js';
import { closeClient, codeLostRequests, FAULTS_VISIBLE } from '../ioredis.js';

/** @typedef {import('../../lib/types.js').CommandConnection} CommandConnection */

const PLAIN = {
  ...FAULTS_VISIBLE,
  protocol: /** @type {const} */ (2),
  enableReadyCheck: false,
  disableClientInfo: true,
  lazyConnect: true,
};

/**
 * @param {import('../../lib/types.js').OpenContext} context
 * @returns {Promise<NonNullable<import('../../lib/types.js').Handle['connect']>>}
 */
export async function ioredisConnector({ address, credentials, profile }) {
  const { Command, Redis } = await import('ioredis');
  const { stream: _corked, ...options } = /** @type {any} */ (profile.options);
  return async (name) => {
    const endpoint = requireEndpoint(address, name, 'ioredis');
    const redis = new Redis({
      ...options,
      ...PLAIN,
      ...socketPlace(endpoint),
      username: credentials.user,
      password: credentials.password,
      ...(endpoint.db && { db: endpoint.db }),
    });
    // connect() says only "Connection is closed."; the reason comes by this event.
    /** @type {unknown} */
    let cause;
    redis.on('error', (error) => {
      cause ??= error;
    });
    const connecting = redis.connect().catch((error) => {
      throw cause ?? error;
    });
    const target = { storage: 'ioredis', endpoint, credentials };
    await opened(target, connecting, () => redis.disconnect());
    codeLostRequests(redis);
    return {
      send: (words) => redis.call(.../** @type {[string, ...string[]]} */ (words)),
      inline(line) {
        const command = new Command(line, [], { replyEncoding: 'utf8' });
        command.toWritable = () => `${line}\r\n`;
        redis.sendCommand(command);
        return command.promise;
      },
      close: () => closeClient(redis),
    };
  };
}
