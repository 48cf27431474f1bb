/** A namespace in Redis: all keys with our prefixes, and one key that marks them. */

import { targetError } from '../../lib/errors.js';
import { encodeCommand } from '../../protocols/resp/command.js';
import { pump } from '../connections/pump.js';
import { RespConnection } from '../connections/redis.js';
import { formatMark, notOursError, otherUser, parseMark, requireUnused } from './mark.js';

/** Keys that the server looks at in one SCAN: about a millisecond of its only thread. */
const KEYS_PER_SCAN = 5000;
/** Keys in one EXISTS or DEL: some tens of microseconds of the server's only thread. */
const KEYS_PER_COMMAND = 500;
const KEY_BYTES_MAX = 64;
/** What a killed client had sent may still come in while its keys are removed. */
const PASSES_MAX = 20;

/**
 * @param {import('../../lib/types.js').ConnectionContext} context
 * @param {import('../../lib/types.js').Namespace & { redis: object }} namespace
 * @returns {Promise<import('../../lib/types.js').NamespaceHandle>}
 */
export async function openNamespace(context, { name, redis }) {
  const { prefix, further = [], marker, own } = redis;
  const prefixes = [prefix, ...further];
  const connection = await RespConnection.connect(context);
  /** @param {Record<string, any>} mark */
  const clear = ({ extent }) =>
    Number.isInteger(extent)
      ? overKeys(connection, 'DEL', prefix, 1, extent)
      : removeKeys(connection, prefixes, marker, own);
  return {
    async check() {
      requireUnused((await readOwnership(connection, marker)).mark, connection.where, name);
    },
    async claim() {
      const { mark, notOurs } = await readOwnership(connection, marker);
      const taken = mark === null ? (notOurs ?? (await firstKey(connection, prefixes))) : null;
      if (taken !== null) throw notOursError(connection.where, `key ${taken}`, 'redis');
      requireUnused(mark, connection.where, name);
      if (mark !== null) await clear(mark);
      await connection.command('SET', marker, formatMark({ what: name }));
    },
    async release() {
      const { mark } = await readOwnership(connection, marker);
      if (mark === null || otherUser(mark) !== null) return 0;
      const removed = await clear(mark);
      await connection.command('DEL', marker);
      return removed;
    },
    async close() {
      connection.close();
    },
  };
}

/**
 * @param {RespConnection} connection
 * @param {string} marker key of the mark
 * @returns {Promise<import('./mark.js').Ownership>} as far as that key tells it
 */
export async function readOwnership(connection, marker) {
  const type = await connection.command('TYPE', marker);
  if (type === 'none') return { mark: null, notOurs: null };
  if (type !== 'string') return { mark: null, notOurs: `${marker}, of type ${type}` };
  const mark = parseMark(await connection.command('GET', marker));
  return { mark, notOurs: mark === null ? marker : null };
}

/**
 * A command of many keys over a range of numbered keys, pipelined.
 * @param {RespConnection} connection
 * @param {'EXISTS' | 'DEL'} name
 * @param {string} prefix
 * @param {number} first
 * @param {number} last
 * @returns {Promise<number>} the sum of the replies: how many keys there were
 */
export async function overKeys(connection, name, prefix, first, last) {
  let count = 0;
  await pump({
    first,
    last,
    bufferBytes: KEYS_PER_COMMAND * KEY_BYTES_MAX,
    encode: (buffer, id) => {
      const next = Math.min(id + KEYS_PER_COMMAND, last + 1);
      const keys = Array.from({ length: next - id }, (_, index) => `${prefix}${id + index}`);
      return { length: encodeCommand([name, ...keys]).copy(buffer), next };
    },
    send: (bytes) => connection.batch(bytes, 1),
    onDone: (_next, sum) => {
      count += sum;
    },
  });
  return count;
}

/**
 * @param {RespConnection} connection
 * @param {readonly string[]} prefixes
 * @returns {Promise<string | null>} some key with one of them
 */
async function firstKey(connection, prefixes) {
  for await (const [key] of scan(connection, prefixes)) if (key !== undefined) return key;
  return null;
}

/**
 * @param {RespConnection} connection
 * @param {readonly string[]} prefixes
 * @param {string} marker stays, as long as there may be keys
 * @param {RegExp | undefined} own other keys below the prefixes stay
 * @returns {Promise<number>} how many there were
 */
async function removeKeys(connection, prefixes, marker, own) {
  let removed = 0;
  for (let pass = 0; pass < PASSES_MAX; pass += 1) {
    let now = 0;
    for await (const found of scan(connection, prefixes)) {
      const keys = found.filter((key) => key !== marker && (own?.test(key) ?? true));
      if (keys.length > 0) now += await connection.command('DEL', ...keys);
    }
    if (now === 0) return removed;
    removed += now;
  }
  throw targetError(`${connection.where}: keys ${prefixes[0]}… are still being written`);
}

/**
 * @param {RespConnection} connection
 * @param {readonly string[]} prefixes
 * @returns {AsyncGenerator<string[]>}
 */
async function* scan(connection, prefixes) {
  for (const prefix of prefixes) {
    let cursor = '0';
    do {
      const pattern = `${prefix.replace(/[\\*?[\]]/g, '\\$&')}*`;
      const [next, keys] = await connection.command(
        ...['SCAN', cursor, 'MATCH', pattern, 'COUNT', KEYS_PER_SCAN],
      );
      yield keys;
      cursor = next;
    } while (cursor !== '0');
  }
}
