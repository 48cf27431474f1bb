/**
 * A Redis connection for loaders and namespaces: batches of commands encoded by the caller, replies
 * counted and their first error kept. Not a driver: no reconnect, no queue.
 */

import { VALUE_SIZE_MAX } from '../../lib/dataset.js';
import { targetError } from '../../lib/errors.js';
import { authWords, encodeCommand } from '../../protocols/resp/command.js';
import { readReply, replyBytes } from '../../protocols/resp/reply.js';
import { SocketConnection } from './socket-connection.js';

/** Replies arrive in the order of the commands, so the oldest pending entry owns the next one. */
export class RespConnection extends SocketConnection {
  sent = 0;
  /** A single server is a cluster of one node, which has every key; see RespCluster. */
  nodes = [this];
  hints = HINTS;
  /** Keys in one EXISTS or DEL: some tens of microseconds of the server's only thread. */
  keysPerCommand = 500;

  /**
   * @param {import('../../lib/types.js').ConnectionContext} context
   * @param {Record<string, string>} [hints] by the first word of an error reply
   * @param {typeof RespConnection} [Kind] a subclass
   * @returns {Promise<RespConnection>} connected, authenticated, in the database of the address
   * @throws {import('../../lib/errors.js').DragstripError} E_TARGET, E_ABORTED
   */
  static async connect(context, hints = HINTS, Kind = RespConnection) {
    const { address, credentials, signal, timeoutMs } = context;
    const { main } = address;
    const connection = new Kind({ what: 'Redis', endpoint: main, signal, timeoutMs });
    connection.hints = hints;
    await connection.opened();
    try {
      const words = authWords(credentials);
      if (words !== null) await connection.command(...words);
      if (main.db) await connection.command('SELECT', main.db);
    } catch (error) {
      connection.close();
      throw error;
    }
    return connection;
  }

  /**
   * @param {string} _key
   * @returns {RespConnection} connection to the node that has it
   */
  ownerOf(_key) {
    return this;
  }

  /**
   * @param {Uint8Array} bytes complete commands
   * @param {number} replies number of these commands
   * @param {boolean} [keep] collect the replies; otherwise integers are summed
   * @returns {Promise<any>} the replies (strings in latin1, numbers, null, arrays), or the sum of
   *   integers
   * @throws {import('../../lib/errors.js').DragstripError} E_TARGET with the first error reply
   */
  batch(bytes, replies, keep = false) {
    this.sent += 1;
    const state = { left: replies, sum: 0, values: keep ? [] : null, error: null };
    return this.request(this.sent, bytes, state);
  }

  /**
   * @param {...(string | number)} words
   * @returns {Promise<any>}
   */
  async command(...words) {
    const [reply] = await this.batch(encodeCommand(words), 1, true);
    return reply;
  }

  /** @param {Buffer} bytes @override */
  consume(bytes) {
    let at = 0;
    try {
      while (at < bytes.length) {
        const reply = readReply(bytes, at, VALUE_SIZE_MAX);
        if (reply === null) {
          this.need = replyBytes(bytes, at, VALUE_SIZE_MAX);
          break;
        }
        this.reply(reply, bytes.subarray(at, reply.end));
        at = reply.end;
      }
      return at;
    } catch {
      throw this.garbled(bytes.subarray(at));
    }
  }

  /** @param {import('../../protocols/resp/reply.js').RespReply} reply @param {Buffer} bytes */
  reply({ value, error }, bytes) {
    const first = this.waiting.entries().next();
    if (first.done) throw this.garbled(bytes);
    const [key, entry] = first.value;
    if (error !== null) entry.error ??= this.refusal(error);
    else if (entry.values !== null) entry.values.push(value);
    else if (typeof value === 'number') entry.sum += value;
    entry.left -= 1;
    if (entry.left === 0) this.settle(key, entry.error, entry.values ?? entry.sum);
  }

  /** @param {string} message an error reply */
  refusal(message) {
    const code = message.split(' ', 1)[0];
    return targetError(`${this.where} answered ${JSON.stringify(message)}`, this.hints[code]);
  }
}

const CLUSTER = 'name a node of a cluster with --redis-cluster';
/** @type {Record<string, string>} by the first word of the error reply */
export const HINTS = {
  OOM: 'raise its maxmemory, or choose fewer --rows or a smaller --value-size',
  NOAUTH: 'set DRAGSTRIP_REDIS_PASSWORD, or name a file in DRAGSTRIP_REDIS_PASSWORD_FILE',
  WRONGPASS: 'check the user and the password in the environment',
  NOPERM: 'the user needs SET, GET, DEL, EXISTS, TYPE and SCAN on dragstrip:*',
  READONLY: 'name the primary, not a replica',
  MOVED: CLUSTER,
  CROSSSLOT: CLUSTER,
  MISCONF: 'it cannot write its snapshot: see its log, or start it with Dragstrip’s redis.conf',
  LOADING: 'it is still loading its snapshot: wait, then run the command again',
};
