/** The handles of ioredis and of its forks, which share its interface. */

import { openCommands } from './commands/ioredis.js';
import { createCork, watchLoss } from './connection.js';
import { openIoredisInserter } from './inserts/redis.js';
import { openIoredisLocks } from './locks/redis.js';
import { closeIoredis, codeLostRequests, connectIoredis } from './redis-clients.js';

/** @typedef {import('./redis-clients.js').IoredisDriver} IoredisDriver */
/** @typedef {import('../lib/types.js').OpenContext} OpenContext */
/** @typedef {import('../lib/types.js').InsertContext} InsertContext */

/** @param {string | null} reply */
const value = (reply) => (reply === null ? undefined : reply);
/** @param {string | null} reply */
const stored = (reply) => reply === 'OK';

/**
 * @param {IoredisDriver} driver
 * @returns {Required<import('../lib/types.js').StorageDefinition['open']>}
 */
export function ioredisOpeners(driver) {
  return {
    rows: (context) => openRows(context, driver),
    insert: (context) => openIoredisInserter(context, driver),
    lock: (context) => openIoredisLocks(context, driver),
    command: (context) => openCommands(context, driver),
  };
}

/**
 * @param {OpenContext} context
 * @param {IoredisDriver} driver
 * @returns {Promise<import('../lib/types.js').RowsHandle>}
 */
async function openRows(context, driver) {
  const { profile, names } = context;
  const { stream } = /** @type {any} */ (profile.options);
  const redis = await connectIoredis(context, { driver });
  codeLostRequests(redis);
  const socket = /** @type {any} */ (redis).stream;
  const cork = createCork(socket);
  const { redisPrefix: prefix } = names;
  return watchLoss(socket, {
    get:
      stream === undefined
        ? (id) => redis.get(prefix + id)
        : (id) => {
            cork();
            return redis.get(prefix + id);
          },
    value,
    mget:
      stream === undefined
        ? (ids) => redis.mget(ids.map((id) => prefix + id))
        : (ids) => {
            cork();
            return redis.mget(ids.map((id) => prefix + id));
          },
    set:
      stream === undefined
        ? (id, text) => redis.set(prefix + id, text)
        : (id, text) => {
            cork();
            return redis.set(prefix + id, text);
          },
    stored,
    close: () => closeIoredis(redis),
  });
}
