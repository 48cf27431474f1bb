/**
 * Commands of clients on a server of the Redis family, by MONITOR:
 * https://redis.io/docs/latest/commands/monitor/
 * Each command becomes a time, a name and numbers at once; keys become numbers, values become
 * sizes, and nothing else of a command is kept.
 */

import { targetError } from '../../lib/errors.js';
import { RespConnection } from '../connections/redis.js';

/** A longer line is counted and skipped, since a server accepts values of up to 512 MiB. */
const LINE_BYTES_MAX = 32 * 2 ** 20;
const LINE_END = 10;

/** A connection that passes each line of MONITOR to `onLine`. */
export class MonitorConnection extends RespConnection {
  /** @type {((line: string) => void) | null} null: not yet monitoring */
  onLine = null;
  /** Number of lines that were too long. */
  tooLong = 0;
  isSkipping = false;
  /** Called once when the connection ends. @type {((error: Error) => void) | null} */
  onLost = null;

  /** @param {import('../../lib/errors.js').DragstripError} error @override */
  fail(error) {
    super.fail(error);
    this.onLost?.(error);
    this.onLost = null;
  }

  /**
   * @param {(line: string) => void} onLine
   * @returns {Promise<void>}
   * @throws {import('../../lib/errors.js').DragstripError} E_TARGET: it is refused
   */
  async monitor(onLine) {
    this.onLine = onLine;
    await this.command('MONITOR').catch((error) => {
      if (!/NOPERM/.test(error.message)) throw error;
      throw targetError(error.message, 'the user needs the permission +monitor', error);
    });
  }

  /** @param {Buffer} bytes @override */
  consume(bytes) {
    // The reply to MONITOR itself is the last awaited one.
    if (this.onLine === null || this.waiting.size > 0) {
      return this.onLine === null ? super.consume(bytes) : this.consumeFirst(bytes);
    }
    return this.consumeLines(bytes, 0);
  }

  /** @param {Buffer} bytes */
  consumeFirst(bytes) {
    const end = bytes.indexOf(LINE_END) + 1;
    if (end === 0) return 0;
    super.consume(bytes.subarray(0, end));
    return this.consumeLines(bytes, end);
  }

  /**
   * @param {Buffer} bytes
   * @param {number} from
   * @returns {number} bytes consumed
   */
  consumeLines(bytes, from) {
    let at = from;
    for (;;) {
      const end = bytes.indexOf(LINE_END, at);
      if (end < 0) break;
      // Without the sign of a simple string and the end of the line.
      if (!this.isSkipping) this.onLine?.(bytes.toString('latin1', at + 1, end - 1));
      this.isSkipping = false;
      at = end + 1;
    }
    if (bytes.length - at <= LINE_BYTES_MAX) return at;
    if (!this.isSkipping) this.tooLong += 1;
    this.isSkipping = true;
    return bytes.length;
  }
}

/**
 * @typedef {object} MonitorLine
 * @property {number} atUs microseconds since the epoch, by the server's clock
 * @property {boolean} isScript called by a script, not by a client
 * @property {string[]} words words as quoted, without the quotes
 */

/**
 * @param {string} line `1339518083.107412 [0 127.0.0.1:60866] "get" "key"`
 * @returns {MonitorLine | null} null: not such a line
 */
export function parseMonitorLine(line) {
  const head = /^(\d+)\.(\d{6}) \[(\d+) ([^\]]*)\] /.exec(line);
  if (head === null) return null;
  const words = [];
  // A regular expression would overflow its stack at about 10 MB of a word.
  for (let at = head[0].length; line[at] === '"'; ) {
    const end = endOfWord(line, at + 1);
    if (end + 1 < line.length && line[end + 1] !== ' ') break;
    if (end < line.length) words.push(line.slice(at + 1, end));
    at = end + 2;
  }
  if (words.length === 0) return null;
  const atUs = Number(head[1]) * 1e6 + Number(head[2]);
  return { atUs, isScript: head[4] === 'lua', words };
}

/**
 * Quotes and backslashes within are escaped: sdscatrepr of Redis.
 * @param {string} line
 * @param {number} from
 * @returns {number} index of the quote that ends the word; the length of the line or more: none
 */
function endOfWord(line, from) {
  let at = from;
  while (at < line.length && line[at] !== '"') at += line[at] === '\\' ? 2 : 1;
  return at;
}

/**
 * @param {string} quoted
 * @returns {number} length of the word in bytes
 */
export function bytesOf(quoted) {
  return quoted.length - excessOf(quoted);
}

/** @param {string} quoted */
function excessOf(quoted) {
  let excess = 0;
  for (let at = quoted.indexOf('\\'); at >= 0; at = quoted.indexOf('\\', at)) {
    const width = quoted[at + 1] === 'x' ? 4 : 2;
    excess += width - 1;
    at += width;
  }
  return excess;
}

const ESCAPES = Object.freeze({ n: '\n', r: '\r', t: '\t', a: '\x07', b: '\b' });

/**
 * @param {string} quoted
 * @returns {string} the word as a binary string
 */
export function unquote(quoted) {
  return quoted.replace(/\\(x[0-9a-f]{2}|.)/gs, (_, code) =>
    code.length === 3
      ? String.fromCharCode(Number.parseInt(code.slice(1), 16))
      : (ESCAPES[/** @type {'n'} */ (code)] ?? code),
  );
}
