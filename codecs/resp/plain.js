/**
 * A simple RESP 2 decoder, the baseline: a recursive descent over one Buffer, nothing
 * kept between chunks but the bytes of an incomplete reply, which is then read from its start
 * again. And an encoder that makes one binary string of a command.
 *
 * Apart from protocols/resp/, on purpose: it is what drivers' codecs are compared with, so it keeps
 * its form while that one changes, decodes strings as drivers do and has no bounds to check.
 */

import { batchRows, requestKeys } from '../rows.js';

const CR = 13;
const PLUS = 0x2b;
const MINUS = 0x2d;
const COLON = 0x3a;
const DOLLAR = 0x24;
const STAR = 0x2a;
/** The reply is incomplete. */
const MORE = Symbol('more');

class PlainReader {
  /** @param {boolean} buffers strings as Buffers */
  constructor(buffers) {
    this.buffers = buffers;
    /** @type {Buffer} */
    this.bytes = Buffer.alloc(0);
    this.at = 0;
  }

  /** @returns {any} a value, or MORE */
  next() {
    const kind = this.bytes[this.at];
    const end = this.bytes.indexOf(CR, this.at + 1);
    if (end < 0 || end + 2 > this.bytes.length) return MORE;
    const from = this.at + 1;
    this.at = end + 2;
    if (kind === DOLLAR) return this.bulk(this.integer(from, end));
    if (kind === STAR) return this.array(this.integer(from, end));
    if (kind === COLON) return this.integer(from, end);
    const text = this.bytes.toString('utf8', from, end);
    if (kind === MINUS) return new Error(text);
    if (kind !== PLUS) throw new Error(`byte ${kind} does not start a reply`);
    return this.buffers ? Buffer.from(text) : text;
  }

  /** @param {number} from @param {number} end */
  integer(from, end) {
    let at = from;
    const negative = this.bytes[at] === MINUS;
    if (negative) at += 1;
    let value = 0;
    for (; at < end; at += 1) value = value * 10 + this.bytes[at] - 48;
    return negative ? -value : value;
  }

  /** @param {number} length @returns {any} */
  bulk(length) {
    if (length < 0) return null;
    const { at, bytes } = this;
    if (at + length + 2 > bytes.length) return MORE;
    this.at = at + length + 2;
    return this.buffers
      ? Buffer.from(bytes.subarray(at, at + length))
      : bytes.toString('utf8', at, at + length);
  }

  /** @param {number} length @returns {any} */
  array(length) {
    if (length < 0) return null;
    const items = [];
    for (let i = 0; i < length; i += 1) {
      const item = this.at < this.bytes.length ? this.next() : MORE;
      if (item === MORE) return MORE;
      items.push(item);
    }
    return items;
  }
}

/** @type {NonNullable<import('../definition.js').Codec['createDecoder']>} */
export const createPlainDecoder = ({ buffers }, emit) => {
  const reader = new PlainReader(buffers);
  return {
    write(chunk) {
      const rest = reader.bytes.subarray(reader.at);
      reader.bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      reader.at = 0;
      while (reader.at < reader.bytes.length) {
        const start = reader.at;
        const reply = reader.next();
        if (reply === MORE) {
          reader.at = start;
          return;
        }
        emit(reply);
      }
    },
  };
};

/**
 * @param {(words: (string | Buffer)[], target: Buffer, at: number) => number} write a command;
 *   gives the offset after it
 * @returns {Record<string, () => import('../definition.js').Encoder>}
 */
export function ofCommands(write) {
  const writer = (/** @type {() => (string | Buffer)[][]} */ make) => () => {
    const commands = make();
    return (/** @type {Buffer} */ target) => {
      let at = 0;
      for (const words of commands) at = write(words, target, at);
      return at;
    };
  };
  return {
    'batch-4096': writer(() =>
      batchRows().map(([text, a, b, blob]) => ['rpush', 'batch', text, `${a}`, `${b}`, blob]),
    ),
    'requests-1000': writer(() => requestKeys().map((key) => ['get', `dragstrip:${key}`])),
  };
}

/** A binary string for each command: words are ASCII or bytes. */
export const PLAIN_ENCODERS = ofCommands((words, target, at) => {
  let text = `*${words.length}\r\n`;
  for (const word of words) {
    const bytes = typeof word === 'string' ? word : word.toString('latin1');
    text += `$${bytes.length}\r\n${bytes}\r\n`;
  }
  return at + target.write(text, at, 'latin1');
});
