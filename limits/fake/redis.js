/**
 * Redis, as far as its drivers ask before they read: HELLO, CLIENT, INFO, AUTH, PING; and GET.
 * A stand-in for measuring drivers, not a Redis.
 */

import { PLACES } from '../../lib/dataset.js';
import { ReplyTable } from './table.js';

const CR = 13;
const ZERO = 0x30;
const NINE = 0x39;
/** `*2\r\n$3\r\nGET\r\n$`, then the length of the key. */
const GET_HEAD_BYTES = 14;
const PREFIX_BYTES = PLACES.redisPrefix.length;
const INFO = 'redis_version:7.0.15\r\nloading:0\r\nrole:master\r\n';
const HELLO = ['server', 'redis', 'version', '7.0.15', 'proto', 0, 'id', 1, 'mode', 'standalone'];

/**
 * @param {import('../../lib/types.js').Dataset} dataset
 * @returns {import('./server.js').StandIn}
 */
export function createRedis(dataset) {
  const table = new ReplyTable(dataset, (value) =>
    Buffer.from(`$${value.length}\r\n${value}\r\n`, 'latin1'),
  );
  return { greeting: null, converse: () => new Conversation(table) };
}

class Conversation {
  version = 2;

  /** @param {ReplyTable} table */
  constructor(table) {
    this.table = table;
  }

  /** @type {import('./server.js').Conversation['consume']} */
  consume(bytes, out) {
    let at = 0;
    for (;;) {
      const end = this.get(bytes, at, out) || this.command(bytes, at, out);
      if (end === 0) return at;
      at = end;
    }
  }

  /**
   * @param {Buffer} bytes
   * @param {number} at
   * @param {import('./outbox.js').Outbox} out
   * @returns {number} the offset behind it; 0: not a whole GET
   */
  get(bytes, at, out) {
    const { length } = bytes;
    // `G`, in either case, where a GET has it; three letters are its length's own statement.
    if (length < at + GET_HEAD_BYTES || bytes[at + 1] !== 0x32 || bytes[at + 5] !== 0x33) return 0;
    if ((bytes[at + 8] | 32) !== 0x67 || (bytes[at + 10] | 32) !== 0x74) return 0;
    let from = at + GET_HEAD_BYTES;
    let size = 0;
    for (; from < length && bytes[from] !== CR; from += 1) size = size * 10 + bytes[from] - ZERO;
    from += 2;
    const end = from + size + 2;
    if (!(end <= length)) return 0;
    let id = 0;
    for (let i = from + PREFIX_BYTES; i < end - 2; i += 1) {
      const byte = bytes[i];
      if (byte < ZERO || byte > NINE) return 0;
      id = id * 10 + byte - ZERO;
    }
    if (this.table.has(id)) this.table.copy(id, out);
    else out.push(Buffer.from(this.version === 3 ? '_\r\n' : '$-1\r\n'));
    return end;
  }

  /**
   * @param {Buffer} bytes
   * @param {number} at
   * @param {import('./outbox.js').Outbox} out
   * @returns {number} the offset behind the command; 0: not whole
   */
  command(bytes, at, out) {
    const words = readWords(bytes, at);
    if (words === null) return 0;
    out.push(Buffer.from(this.answer(words.list)));
    return words.end;
  }

  /** @param {string[]} words @returns {string} */
  answer([name, ...words]) {
    switch (name?.toUpperCase()) {
      case 'HELLO':
        this.version = words[0] === '3' ? 3 : 2;
        return encodeHello(this.version);
      case 'GET':
        return this.version === 3 ? '_\r\n' : '$-1\r\n';
      case 'INFO':
        return `$${INFO.length}\r\n${INFO}\r\n`;
      case 'PING':
        return '+PONG\r\n';
      case 'AUTH':
      case 'SELECT':
        return '+OK\r\n';
      default:
        // As Redis 7.0 says it to CLIENT SETINFO, which its drivers send and do without.
        return `-ERR unknown command '${name}'\r\n`;
    }
  }
}

/** @param {number} version */
function encodeHello(version) {
  const items = HELLO.map((item) => (item === 0 ? version : item)).map((item) =>
    typeof item === 'number' ? `:${item}\r\n` : `$${item.length}\r\n${item}\r\n`,
  );
  const more = '$4\r\nrole\r\n$6\r\nmaster\r\n$7\r\nmodules\r\n*0\r\n';
  return `${version === 3 ? '%7' : '*14'}\r\n${items.join('')}${more}`;
}

/**
 * @param {Buffer} bytes
 * @param {number} at
 * @returns {{ list: string[], end: number } | null} null: not whole
 * @throws {Error} for what is no command
 */
function readWords(bytes, at) {
  const head = readNumber(bytes, at, '*');
  if (head === null) return null;
  let { end } = head;
  const list = [];
  for (let i = 0; i < head.value; i += 1) {
    const size = readNumber(bytes, end, '$');
    if (size === null) return null;
    end = size.end + size.value + 2;
    if (end > bytes.length) return null;
    list.push(bytes.toString('latin1', size.end, end - 2));
  }
  return { list, end };
}

/** @param {Buffer} bytes @param {number} at @param {string} mark */
function readNumber(bytes, at, mark) {
  const lf = bytes.indexOf(10, at);
  if (lf === -1) return null;
  const text = bytes.toString('latin1', at, lf - 1);
  if (text[0] !== mark || !/^\d{1,9}$/.test(text.slice(1))) {
    throw new Error(`not a command of Redis: ${text.slice(0, 20)}`);
  }
  return { value: Number(text.slice(1)), end: lf + 1 };
}
