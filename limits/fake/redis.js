/**
 * The part of Redis that its drivers use before they read: HELLO, CLIENT, INFO, AUTH, PING; and
 * GET. A fake server for measuring drivers, not a Redis.
 */

import { ROW_NAMES } from '../../lib/dataset.js';
import { arrayHead, bulk, readCommand } from '../../protocols/resp/command.js';
import {
  errorReply,
  itemReply,
  mapHead,
  NULL_REPLY,
  OK_REPLY,
  statusReply,
} from '../../protocols/resp/reply.js';
import { ReplyTable } from './table.js';

const CR = 13;
const ZERO = 0x30;
const NINE = 0x39;
/** Followed by the length of the key. */
const GET_HEAD_BYTES = `${arrayHead(2)}${bulk('GET')}$`.length;
const PREFIX_BYTES = ROW_NAMES.redisPrefix.length;
const INFO = 'redis_version:7.0.15\r\nloading:0\r\nrole:master\r\n';
const HELLO = ['server', 'redis', 'version', '7.0.15', 'proto', 0, 'id', 1, 'mode', 'standalone'];
const HELLO_REST = `${bulk('role')}${bulk('master')}${bulk('modules')}${arrayHead(0)}`;

/**
 * @param {import('../../lib/types.js').Dataset} dataset
 * @returns {import('./server.js').FakeServer}
 */
export function createRedis(dataset) {
  const table = new ReplyTable(dataset, (value) => Buffer.from(bulk(value), 'latin1'));
  return { greeting: null, converse: () => new Conversation(table) };
}

class Conversation {
  /** @type {2 | 3} */
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
   * @param {import('./write-buffer.js').WriteBuffer} out
   * @returns {number} offset after it; 0: not a complete GET
   */
  get(bytes, at, out) {
    const { length } = bytes;
    // `G`, in either case, at its position in a GET; the length of the word implies the other
    // letters.
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
    else out.push(Buffer.from(NULL_REPLY[this.version]));
    return end;
  }

  /**
   * @param {Buffer} bytes
   * @param {number} at
   * @param {import('./write-buffer.js').WriteBuffer} out
   * @returns {number} offset after the command; 0: incomplete
   */
  command(bytes, at, out) {
    const command = readCommand(bytes, at);
    if (command === null) return 0;
    out.push(Buffer.from(this.answer(command.words)));
    return command.end;
  }

  /** @param {string[]} words @returns {string} */
  answer([name, ...words]) {
    switch (name?.toUpperCase()) {
      case 'HELLO':
        this.version = words[0] === '3' ? 3 : 2;
        return encodeHello(this.version);
      case 'GET':
        return NULL_REPLY[this.version];
      case 'INFO':
        return bulk(INFO);
      case 'PING':
        return statusReply('PONG');
      case 'AUTH':
      case 'SELECT':
        return OK_REPLY;
      default:
        // Redis 7.0's reply to CLIENT SETINFO, which its drivers send but do not require.
        return errorReply(`ERR unknown command '${name}'`);
    }
  }
}

/** @param {2 | 3} version */
function encodeHello(version) {
  const items = HELLO.map((item) => itemReply(item === 0 ? version : item));
  return `${mapHead(items.length / 2 + 2, version)}${items.join('')}${HELLO_REST}`;
}
