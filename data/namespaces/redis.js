/** A namespace in Redis: all keys with Dragstrip's prefixes, and one key that marks them. */

import { targetError } from '../../lib/errors.js';
import { encodeCommand } from '../../protocols/resp/command.js';
import { pump } from '../connections/pump.js';
import { RespConnection } from '../connections/redis.js';
import { RespCluster } from '../connections/redis-cluster.js';
import { namespaceHandle, parseMark } from './mark.js';

/** Keys that the server scans per SCAN: about a millisecond of its only thread. */
const KEYS_PER_SCAN = 5000;
/** Keys in one batch of EXISTS or DEL, which has one or many commands. */
const KEYS_PER_BATCH = 500;
/** With one command per key. */
const KEY_BYTES_MAX = 128;
/** Passes of removal, since requests of a killed client may still arrive. */
const PASSES_MAX = 20;

/** @typedef {RespConnection | RespCluster} Connection */

/**
 * @param {import('../../lib/types.js').ConnectionContext} context
 * @param {import('../../lib/types.js').Namespace & { redis: object }} namespace
 * @returns {Promise<import('../../lib/types.js').NamespaceHandle>}
 */
export async function openNamespace(context, namespace) {
  return handleOf(await RespConnection.connect(context), namespace, 'redis');
}

/**
 * The same on every primary of a cluster.
 * @type {typeof openNamespace}
 */
export async function openClusterNamespace(context, namespace) {
  return handleOf(await RespCluster.connect(context), namespace, 'redis-cluster');
}

/**
 * @param {Connection} connection
 * @param {import('../../lib/types.js').Namespace & { redis: object }} namespace
 * @param {string} server
 * @returns {import('../../lib/types.js').NamespaceHandle}
 */
function handleOf(connection, { name, redis, grows = false }, server) {
  const { prefix, further = [], marker, own: pattern } = redis;
  const prefixes = [prefix, ...further];
  /** @param {Record<string, any>} mark */
  const clear = ({ extent }) =>
    Number.isInteger(extent) && !grows
      ? overKeys(connection, 'DEL', prefix, 1, extent)
      : removeKeys(connection, prefixes, marker, pattern);
  return namespaceHandle({
    where: connection.where,
    server,
    name,
    async ownership(claims) {
      const { mark, notOurs } = await readOwnership(connection, marker);
      const isFree = claims && mark === null && notOurs === null;
      const taken = isFree ? await firstKey(connection, prefixes) : notOurs;
      return { mark, notOurs: taken && `key ${taken}` };
    },
    async create(mark, text) {
      if (mark !== null) await clear(mark);
      await connection.command('SET', marker, text);
    },
    async remove(mark) {
      const removed = await clear(mark);
      await connection.command('DEL', marker);
      return removed;
    },
    close: () => connection.close(),
  });
}

/**
 * @param {Connection} connection
 * @param {string} marker key of the mark
 * @returns {Promise<import('./mark.js').Ownership>} ownership according to that key
 */
export async function readOwnership(connection, marker) {
  const type = await connection.command('TYPE', marker);
  if (type === 'none') return { mark: null, notOurs: null };
  if (type !== 'string') return { mark: null, notOurs: `${marker}, of type ${type}` };
  const mark = parseMark(await connection.command('GET', marker));
  return { mark, notOurs: mark === null ? marker : null };
}

/**
 * EXISTS or DEL over a range of numbered keys, pipelined, each at the node of the key.
 * @param {Connection} connection
 * @param {'EXISTS' | 'DEL'} name
 * @param {string} prefix
 * @param {number} first
 * @param {number} last
 * @returns {Promise<number>} the sum of the replies: the number of existing keys
 */
export async function overKeys(connection, name, prefix, first, last) {
  const counts = await countKeys(connection, name, prefix, first, last);
  return counts.reduce((sum, count) => sum + count, 0);
}

/**
 * @param {Connection} connection
 * @param {'EXISTS' | 'DEL'} name
 * @param {string} prefix
 * @param {number} first
 * @param {number} last
 * @returns {Promise<number[]>} number of existing keys per node
 */
export function countKeys(connection, name, prefix, first, last) {
  return Promise.all(
    connection.nodes.map(async (node) => {
      let count = 0;
      let commands = 0; // size of the last encoded batch
      await pump({
        first,
        last,
        bufferBytes: KEYS_PER_BATCH * KEY_BYTES_MAX,
        encode: (buffer, id) => {
          const next = Math.min(id + KEYS_PER_BATCH, last + 1);
          const keys = Array.from({ length: next - id }, (_, index) => `${prefix}${id + index}`);
          const here = keys.filter((key) => connection.ownerOf(key) === node);
          const batch = commandsOf(connection, name, here);
          commands = batch.length;
          return { length: Buffer.concat(batch).copy(buffer), next };
        },
        send: async (bytes) => (commands === 0 ? 0 : node.batch(bytes, commands)),
        onDone: (_next, sum) => {
          count += sum;
        },
      });
      return count;
    }),
  );
}

/**
 * @param {Connection} connection
 * @param {'EXISTS' | 'DEL'} name
 * @param {readonly string[]} keys keys of one node
 * @returns {Buffer[]} one command, or one per key
 */
function commandsOf({ keysPerCommand }, name, keys) {
  const groups = Math.ceil(keys.length / keysPerCommand);
  return Array.from({ length: groups }, (_, i) =>
    encodeCommand([name, ...keys.slice(i * keysPerCommand, (i + 1) * keysPerCommand)]),
  );
}

/**
 * @param {Connection} connection
 * @param {readonly string[]} prefixes
 * @returns {Promise<string | null>} a key with any of these prefixes
 */
async function firstKey(connection, prefixes) {
  for await (const { found } of scan(connection, prefixes)) if (found.length > 0) return found[0];
  return null;
}

/**
 * @param {Connection} connection
 * @param {readonly string[]} prefixes
 * @param {string} marker kept, as long as there may be keys
 * @param {RegExp | undefined} pattern other keys below the prefixes are kept
 * @returns {Promise<number>} number of removed keys
 */
async function removeKeys(connection, prefixes, marker, pattern) {
  let removed = 0;
  for (let pass = 0; pass < PASSES_MAX; pass += 1) {
    let now = 0;
    for await (const { node, found } of scan(connection, prefixes)) {
      const keys = found.filter((key) => key !== marker && (pattern?.test(key) ?? true));
      const commands = commandsOf(connection, 'DEL', keys);
      if (keys.length > 0) now += await node.batch(Buffer.concat(commands), commands.length);
    }
    if (now === 0) return removed;
    removed += now;
  }
  throw targetError(`${connection.where}: keys ${prefixes[0]}… are still being written`);
}

/**
 * @param {Connection} connection
 * @param {readonly string[]} prefixes
 * @returns {AsyncGenerator<{ node: RespConnection, found: string[] }>}
 */
async function* scan(connection, prefixes) {
  for (const node of connection.nodes) {
    for (const prefix of prefixes) {
      let cursor = '0';
      do {
        const pattern = `${prefix.replace(/[\\*?[\]]/g, '\\$&')}*`;
        const [next, found] = await node.command(
          ...['SCAN', cursor, 'MATCH', pattern, 'COUNT', KEYS_PER_SCAN],
        );
        yield { node, found };
        cursor = next;
      } while (cursor !== '0');
    }
  }
}
