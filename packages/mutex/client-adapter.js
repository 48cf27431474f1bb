/**
 * Interface of the mutex to a Redis driver, for ioredis and node-redis: commands on the caller's
 * own connection, further connections, and one subscription that is restored after a loss. For a
 * cluster client: commands by key, and a subscription at the node of the channel's slot.
 */

import { adaptCluster, clusterNodesOf } from './cluster-adapter.js';
import { MutexError } from './mutex-error.js';

/**
 * @typedef {object} Dedicated a connection for exclusive use
 * @property {(words: string[]) => Promise<any>} command
 * @property {() => boolean} isAlive a lost connection does not reconnect, because the server
 *   forgets its watched keys and would execute the rest of a transaction outside of it
 * @property {() => void} close
 *
 * @typedef {object} Listener
 * @property {(message: string) => void} onMessage
 * @property {() => void} onResubscribed subscribed again after a loss; messages may be missing
 * @property {(error: Error) => void} onLost the driver has stopped reconnecting; no more messages
 *
 * @typedef {object} ClientAdapter
 * @property {(words: string[]) => Promise<any>} command commands sent in one tick arrive in order
 * @property {(() => Promise<Dedicated>) | null} dedicate null: a cluster client, which has no
 *   connection for exclusive use
 * @property {(channel: string, listener: Listener) => Promise<() => void>} subscribe resolves when
 *   subscribed, to a function that unsubscribes
 */

/**
 * For connections of transactions. Without reconnection ioredis rejects requests in flight at a
 * loss; with it, and without retries, it never settles them.
 */
const NEVER_AGAIN = { retryStrategy: null, autoResendUnfulfilledCommands: false };

/**
 * @param {any} client client of ioredis or node-redis, connected or connecting
 * @returns {ClientAdapter}
 * @throws {MutexError} MUTEX_ARGUMENT: it is neither
 */
export function adaptClient(client) {
  const nodes = clusterNodesOf(client);
  if (nodes !== null) return adaptCluster(nodes, adaptClient);
  if (typeof client?.call === 'function' && typeof client.duplicate === 'function') {
    return adaptIoredis(client);
  }
  if (typeof client?.sendCommand === 'function' && typeof client.duplicate === 'function') {
    return adaptNodeRedis(client);
  }
  throw new MutexError('MUTEX_ARGUMENT', 'client: must be an ioredis or node-redis client');
}

/**
 * @param {import('ioredis').Redis} client
 * @returns {ClientAdapter}
 */
function adaptIoredis(client) {
  const overrides = { lazyConnect: true };
  return {
    command: commandOf(client),
    async dedicate() {
      const connection = client.duplicate({ ...overrides, ...NEVER_AGAIN });
      connection.on('error', () => {}); // commands report errors
      await connect(connection);
      return {
        command: commandOf(connection),
        isAlive: () => connection.status === 'ready',
        close: () => connection.disconnect(),
      };
    },
    async subscribe(channel, { onMessage, onResubscribed, onLost }) {
      const connection = client.duplicate({ ...overrides, autoResubscribe: false });
      /** @type {Error} */
      let cause = new Error('the connection of the subscription was closed');
      connection.on('error', (error) => {
        cause = error;
      });
      await connect(connection);
      await connection.subscribe(channel);
      connection.on('message', (_channel, message) => onMessage(message));
      connection.on('ready', () => connection.subscribe(channel).then(onResubscribed, () => {}));
      connection.on('end', () => onLost(cause));
      return () => {
        connection.removeAllListeners('end');
        connection.disconnect();
      };
    },
  };
}

/**
 * ioredis writes each command separately. Commands of one tick, such as an unlock and the next
 * lock, or MULTI to EXEC, are sent in one write, since system calls are half of the client's time.
 * @param {any} client
 * @returns {ClientAdapter['command']}
 */
function commandOf(client) {
  /** @type {import('node:stream').Writable | null} */
  let corked = null;
  const uncork = () => {
    corked?.uncork();
    corked = null;
  };
  return (words) => {
    if (corked === null && typeof client.stream?.cork === 'function') {
      corked = client.stream;
      client.stream.cork();
      process.nextTick(uncork);
    }
    return client.call(words[0], words.slice(1));
  };
}

/** @param {import('ioredis').Redis} connection */
async function connect(connection) {
  /** @type {unknown} */
  let cause;
  const note = (/** @type {unknown} */ error) => {
    cause ??= error;
  };
  connection.on('error', note);
  try {
    await connection.connect();
  } catch (error) {
    connection.disconnect();
    throw cause ?? error; // connect() itself reports only "Connection is closed."
  } finally {
    connection.off('error', note);
  }
}

/**
 * @param {any} client
 * @returns {ClientAdapter}
 */
function adaptNodeRedis(client) {
  return {
    command: (words) => client.sendCommand(words),
    async dedicate() {
      const socket = { ...client.options?.socket, reconnectStrategy: false };
      const connection = client.duplicate({ socket });
      connection.on('error', () => {});
      await connection.connect();
      return {
        command: (words) => connection.sendCommand(words),
        isAlive: () => connection.isReady,
        close: () => destroy(connection),
      };
    },
    async subscribe(channel, { onMessage, onResubscribed, onLost }) {
      const connection = client.duplicate();
      let ended = false;
      connection.on('error', (/** @type {Error} */ error) => {
        // "Open" means that it is reconnecting.
        if (ended || connection.isOpen) return;
        ended = true;
        onLost(error);
      });
      await connection.connect();
      await connection.subscribe(channel, onMessage);
      connection.on('ready', onResubscribed); // it has resubscribed before the event
      return () => {
        ended = true;
        destroy(connection);
      };
    },
  };
}

/** @param {any} connection */
function destroy(connection) {
  if (connection.isOpen) connection.destroy();
}
