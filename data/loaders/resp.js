/**
 * A Redis connection for loaders and namespaces: batches of commands encoded by the caller, replies
 * counted and their first error kept. RESP 2, https://redis.io/docs/latest/develop/reference/protocol-spec/
 * Not a driver: no reconnect, no queue.
 */

import { targetError } from '../../lib/errors.js';
import { Link } from './link.js';

const LF = 10;
const PLUS = 0x2b;
const MINUS = 0x2d;
const COLON = 0x3a;
const DOLLAR = 0x24;
const STAR = 0x2a;
const LINE_BYTES_MAX = 65536;

/**
 * @param {readonly (string | number)[]} words latin1
 * @returns {Buffer} one command
 */
export function encodeCommand(words) {
  const parts = words.map((word) => `$${Buffer.byteLength(`${word}`, 'latin1')}\r\n${word}\r\n`);
  return Buffer.from(`*${words.length}\r\n${parts.join('')}`, 'latin1');
}

/** Replies come in the order of the commands, so the oldest entry that waits owns the next one. */
export class RespLink extends Link {
  sent = 0;
  /** where the reply ends that is not all here, as far as that is known */
  until = 0;

  /**
   * @param {import('../../lib/types.js').ConnectionContext} context
   * @returns {Promise<RespLink>} connected, authenticated, in the database of the address
   * @throws {import('../../lib/errors.js').DragstripError} E_TARGET, E_ABORTED
   */
  static async connect({ address, credentials: { user, password }, signal, timeoutMs }) {
    const { main } = address;
    const link = new RespLink({ what: 'Redis', endpoint: main, signal, timeoutMs });
    await link.opened();
    try {
      if (password !== undefined) {
        await link.command(...(user === undefined ? ['AUTH', password] : ['AUTH', user, password]));
      }
      if (main.db) await link.command('SELECT', main.db);
    } catch (error) {
      link.close();
      throw error;
    }
    return link;
  }

  /**
   * @param {Uint8Array} bytes whole commands
   * @param {number} replies how many commands they are
   * @param {boolean} [keep] collect the replies; otherwise integers are added up
   * @returns {Promise<any>} the replies (strings in latin1, numbers, null), or the sum of integers
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
    while (at < bytes.length) {
      this.until = 0;
      const found = this.element(bytes, at);
      if (found === null) {
        this.need = Math.max(1, this.until - at);
        break;
      }
      this.reply(found.value, bytes[at] === MINUS, bytes.subarray(at, found.next));
      at = found.next;
    }
    return at;
  }

  /**
   * @param {Buffer} bytes
   * @param {number} at
   * @returns {{ value: any, next: number } | null} null: not all of it is here
   */
  element(bytes, at) {
    const end = bytes.indexOf(LF, at);
    if (end === -1) {
      if (bytes.length - at > LINE_BYTES_MAX) throw this.garbled(bytes.subarray(at));
      return null;
    }
    const kind = bytes[at];
    if (kind === PLUS || kind === MINUS) {
      return { value: bytes.toString('latin1', at + 1, end - 1), next: end + 1 };
    }
    if (kind !== DOLLAR && kind !== COLON && kind !== STAR) throw this.garbled(bytes.subarray(at));
    const length = this.integer(bytes, at, end);
    if (kind === COLON) return { value: length, next: end + 1 };
    if (length < 0) return { value: null, next: end + 1 };
    if (kind === STAR) return this.array(bytes, end + 1, length);
    const next = end + 1 + length + 2;
    if (next <= bytes.length) {
      return { value: bytes.toString('latin1', end + 1, end + 1 + length), next };
    }
    this.until = next;
    return null;
  }

  /**
   * @param {Buffer} bytes
   * @param {number} at
   * @param {number} length
   * @returns {{ value: any[], next: number } | null}
   */
  array(bytes, at, length) {
    const value = [];
    let next = at;
    for (let i = 0; i < length; i += 1) {
      const found = next < bytes.length ? this.element(bytes, next) : null;
      if (found === null) return null;
      value.push(found.value);
      next = found.next;
    }
    return { value, next };
  }

  /** @param {Buffer} bytes @param {number} at @param {number} end */
  integer(bytes, at, end) {
    const text = bytes.toString('latin1', at + 1, end - 1);
    if (!/^-?\d{1,16}$/.test(text)) throw this.garbled(bytes.subarray(at));
    return Number(text);
  }

  /** @param {any} value @param {boolean} isError @param {Buffer} line */
  reply(value, isError, line) {
    const first = this.waiting.entries().next();
    if (first.done) throw this.garbled(line);
    const [key, entry] = first.value;
    if (isError) entry.error ??= this.refusal(value);
    else if (entry.values !== null) entry.values.push(value);
    else if (typeof value === 'number') entry.sum += value;
    entry.left -= 1;
    if (entry.left === 0) this.settle(key, entry.error, entry.values ?? entry.sum);
  }

  /** @param {string} message an error reply */
  refusal(message) {
    const code = message.split(' ', 1)[0];
    return targetError(`${this.where} answered ${JSON.stringify(message)}`, REMEDIES[code]);
  }
}

/** @type {Record<string, string>} by the first word of the error reply */
const REMEDIES = {
  OOM: 'raise its maxmemory, or choose fewer --rows or a smaller --value-size',
  NOAUTH: 'set DRAGSTRIP_REDIS_PASSWORD, or a file by DRAGSTRIP_REDIS_PASSWORD_FILE',
  WRONGPASS: 'check the user and the password in the environment',
  NOPERM: 'the user needs SET, GET, DEL, EXISTS, TYPE and SCAN on dragstrip:*',
  READONLY: 'name the primary, not a replica',
  MOVED: 'name a server that is no cluster node',
  CROSSSLOT: 'name a server that is no cluster node',
  MISCONF: 'it cannot write its snapshot: see its log, or start it from our redis.conf',
  LOADING: 'it is still reading its snapshot: wait, then run it again',
};
