/**
 * Redis on the wire: GET of a row, its reply framed by the length of the bulk string.
 * https://redis.io/docs/latest/develop/reference/protocol-spec/
 */

import { PLACES } from '../../lib/dataset.js';
import { targetError } from '../../lib/errors.js';
import { Framer, garbled } from './framer.js';

const LF = 10;
const CR = 13;
const PLUS = 0x2b;
const MINUS = 0x2d;
const ZERO = 0x30;
const COLON = 0x3a;
const DOLLAR = 0x24;
const UNDERSCORE = 0x5f;

/** The header of a reply is read byte by byte, its string is skipped. */
export class RedisFramer extends Framer {
  kind = 0;
  size = 0;
  negative = false;
  /** Bytes of the string, and of its CR LF, that are still to come. */
  skip = 0;

  /** @param {Buffer} bytes @param {number} length @override */
  feed(bytes, length) {
    let at = 0;
    while (at < length) {
      if (this.skip > 0) {
        const step = Math.min(this.skip, length - at);
        this.skip -= step;
        at += step;
        if (this.skip === 0) this.replies += 1;
        continue;
      }
      const byte = bytes[at];
      at += 1;
      if (this.kind === 0) this.begin(byte);
      else if (byte === LF) this.endHeader();
      else if (this.kind === DOLLAR && byte !== CR) {
        if (byte === MINUS) this.negative = true;
        else if (byte >= ZERO && byte < COLON) this.size = this.size * 10 + byte - ZERO;
        else throw garbled('Redis', byte);
      }
    }
  }

  /** @param {number} byte */
  begin(byte) {
    if (byte !== DOLLAR && byte !== MINUS && byte !== UNDERSCORE) throw garbled('Redis', byte);
    this.kind = byte;
    this.size = 0;
    this.negative = false;
  }

  endHeader() {
    const { kind } = this;
    this.kind = 0;
    if (kind === DOLLAR && !this.negative) {
      if (this.size !== this.valueSize) this.misses += 1;
      this.skip = this.size + 2;
      return;
    }
    if (kind === MINUS) this.errors += 1;
    else this.misses += 1;
    this.replies += 1;
  }
}

/** @type {import('./protocol.js').WireProtocol} */
export const redis = {
  name: 'redis',
  server: 'redis',
  endpoint: 'main',
  async greet(link, { user, password }) {
    if (password === undefined) return null;
    const words = user === undefined ? ['AUTH', password] : ['AUTH', user, password];
    const { value, error } = await link.ask(encodeWords(words), (bytes) => readReply(bytes, 0));
    if (error !== null || value !== 'OK') {
      throw targetError(
        'Redis does not take the password',
        'set DRAGSTRIP_REDIS_PASSWORD, or a file by DRAGSTRIP_REDIS_PASSWORD_FILE',
      );
    }
    return null;
  },
  encode: (_session, id) => encodeWords(['GET', `${PLACES.redisPrefix}${id}`]),
  createFramer: (_session, valueSize) => new RedisFramer(valueSize),
  read: (_session, bytes, at) => readReply(bytes, at),
};

/**
 * @param {readonly string[]} words
 * @returns {Buffer}
 */
function encodeWords(words) {
  const parts = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`);
  return Buffer.from(`*${words.length}\r\n${parts.join('')}`);
}

/**
 * @param {Buffer} bytes
 * @param {number} at
 * @returns {import('./protocol.js').WireReply | null} null: not whole
 */
function readReply(bytes, at) {
  const lf = bytes.indexOf(LF, at);
  if (lf === -1) return null;
  const kind = bytes[at];
  const line = bytes.toString('latin1', at + 1, lf - 1);
  if (kind === MINUS) return { end: lf + 1, id: null, value: null, error: line };
  if (kind === PLUS) return { end: lf + 1, id: null, value: line, error: null };
  if (kind === UNDERSCORE || (kind === DOLLAR && line === '-1')) {
    return { end: lf + 1, id: null, value: null, error: null };
  }
  if (kind !== DOLLAR || !/^\d{1,10}$/.test(line)) throw garbled('Redis', kind);
  const end = lf + 1 + Number(line) + 2;
  if (bytes.length < end) return null;
  return { end, id: null, value: bytes.toString('latin1', lf + 1, end - 2), error: null };
}
