/**
 * The HandlerSocket wire format for requests, pure: values and operations in, one line of bytes
 * out. A line is a binary string: one character per byte, 0 to 255 ("latin1"), which V8 joins and
 * writes faster than Buffers. reply-values.js decodes replies; the client validates arguments, so
 * the encoders trust them.
 *
 * Framing (HandlerSocket docs-en/protocol.en.txt): tokens are separated by HT, a line ends with LF;
 * NULL is a token of one byte 0x00; the bytes 0x00 to 0x0F of data are written 0x01, byte + 0x40.
 */

import { argumentError } from './handlersocket-error.js';

/** @typedef {null | string | number | bigint | boolean | Uint8Array} Value */
/** @typedef {'utf8' | 'latin1'} Encoding character set of a column's strings */

/** The token of SQL NULL. */
export const NULL_TOKEN = '\0';

/** The ping: a request without effect that always gets the error reply `2 cmd`. */
export const PING_LINE = '\n';

/**
 * First request of a connection without others: a find on an index that is not open. The reply is
 * `2 stmtnum`, or `3 unauth` if a secret is required, which a ping does not detect.
 */
export const PROBE_LINE = '0\t=\t1\t0\n';

const SPECIAL = /[\x00-\x0f]/;
const SPECIAL_ALL = /[\x00-\x0f]/g;
const NOT_PLAIN = /[^\x10-\x7f]/;
const NOT_LATIN1 = /[^\x00-\xff]/;

/** @param {string} byte one character, 0x00 to 0x0F */
const escapeByte = (byte) => `\x01${String.fromCharCode(byte.charCodeAt(0) + 0x40)}`;

/**
 * @param {string} bytes a binary string
 * @returns {string} with the bytes 0x00 to 0x0F escaped
 */
export function escapeBytes(bytes) {
  return SPECIAL.test(bytes) ? bytes.replace(SPECIAL_ALL, escapeByte) : bytes;
}

/**
 * @param {string} token as received, a binary string
 * @returns {string} the unescaped bytes. An invalid escape (0x01 at the end, or before a byte below
 *   0x40) is kept; servers never send one
 */
export function unescapeBytes(token) {
  if (!token.includes('\x01')) return token;
  return token.replace(/\x01([\x40-\xff])/g, (_, byte) =>
    String.fromCharCode(byte.charCodeAt(0) - 0x40),
  );
}

/**
 * @param {Value} value dates and objects are refused, because the caller must choose the format of
 *   the column
 * @param {Encoding} [encoding] encoding of strings; utf8
 * @returns {string} the token, a binary string
 * @throws {import('./handlersocket-error.js').HandlerSocketError} HS_ARGUMENT
 */
export function encodeValue(value, encoding = 'utf8') {
  if (value === null) return NULL_TOKEN;
  switch (typeof value) {
    case 'string':
      return encodeText(value, encoding);
    case 'number':
      if (Number.isFinite(value)) return `${value}`;
      break;
    case 'bigint':
      return `${value}`;
    case 'boolean':
      return value ? '1' : '0';
    case 'object':
      if (value instanceof Uint8Array) return escapeBytes(asBuffer(value).toString('latin1'));
      break;
  }
  throw argumentError(
    `${describe(value)} is not a value: pass null, a string, a finite number, a bigint, ` +
      'a boolean or a Buffer',
  );
}

/**
 * @param {string} text
 * @param {Encoding} encoding
 * @returns {string}
 */
function encodeText(text, encoding) {
  if (!NOT_PLAIN.test(text)) return text;
  if (encoding === 'utf8') return escapeBytes(Buffer.from(text, 'utf8').toString('latin1'));
  if (NOT_LATIN1.test(text)) {
    throw argumentError(`${describe(text)} has characters that are not latin1`);
  }
  return escapeBytes(text);
}

/**
 * @param {Uint8Array} bytes
 * @returns {Buffer} a Buffer over the same memory
 */
function asBuffer(bytes) {
  if (Buffer.isBuffer(bytes)) return bytes;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * @param {unknown} value
 * @returns {string} short form for messages
 */
export function describe(value) {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 40));
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'object' && value !== null) {
    return Array.isArray(value) ? 'an array' : `an object (${value.constructor?.name ?? 'bare'})`;
  }
  return String(value);
}

/**
 * @param {string} secret sent unescaped, because the server compares raw bytes (HANDLERSOCKET 1.1)
 * @returns {string} the `A` line
 */
export function encodeAuth(secret) {
  return `A\t1\t${Buffer.from(secret, 'utf8').toString('latin1')}\n`;
}

/**
 * @typedef {object} IndexDefinition
 * @property {string} database
 * @property {string} table a base table, because opening a view kills the server
 * @property {string} [index] name of the index; PRIMARY
 * @property {readonly string[]} columns columns to read, insert and change, in this order
 * @property {readonly string[]} [filters] columns for `filters` of a find
 */

/**
 * @param {readonly Value[]} tokens
 * @param {Encoding} encoding encoding of strings
 * @returns {string} the line of these tokens
 */
export function encodeTokens(tokens, encoding) {
  return `${tokens.map((token) => encodeValue(token, encoding)).join('\t')}\n`;
}

/**
 * @param {number} id
 * @param {IndexDefinition} definition checked by validate.js, because names are not escaped
 * @returns {string} the `P` line
 */
export function encodeOpen(id, { database, table, index = 'PRIMARY', columns, filters = [] }) {
  const names = [database, table, index, columns.join(',')];
  if (filters.length > 0) names.push(filters.join(','));
  return `P\t${id}\t${Buffer.from(names.join('\t'), 'utf8').toString('latin1')}\n`;
}

/**
 * @typedef {object} EncodedIn
 * @property {number} part index of the key part replaced by each value, from 0
 * @property {readonly Value[]} values
 */

/**
 * @typedef {object} EncodedFilter
 * @property {'F' | 'W'} type F skips rows, W ends the scan
 * @property {string} op
 * @property {number} column position in the filter columns of the index, from 0
 * @property {Value} value
 */

/**
 * @typedef {object} FindTokens
 * @property {string} op = > >= < <=
 * @property {readonly Value[]} key one value per key part, at least one
 * @property {number} [limit] 1; the server treats 0 as 1
 * @property {number} [offset] 0
 * @property {EncodedIn} [in]
 * @property {readonly EncodedFilter[]} [filters]
 * @property {string} [mod] U D + - and their forms with `?`
 * @property {readonly Value[]} [values] values of the change
 * @property {Encoding} [keyEncoding] encoding of strings in key, IN and filters
 * @property {readonly Encoding[]} [encodings] encodings of strings in values, by position
 */

/**
 * find, or find_modify with `mod`.
 * @param {number} id
 * @param {FindTokens} find
 * @returns {string} the line
 */
export function encodeFind(id, find) {
  const { op, key, limit = 1, offset = 0, filters = [], mod, keyEncoding } = find;
  let line = `${id}\t${op}\t${key.length}`;
  for (const part of key) line += `\t${encodeValue(part, keyEncoding)}`;
  // Anything after the key requires limit and offset.
  const long = offset !== 0 || find.in !== undefined || filters.length > 0 || mod !== undefined;
  if (long || limit !== 1) line += `\t${limit}\t${offset}`;
  if (find.in !== undefined) {
    line += `\t@\t${find.in.part}\t${find.in.values.length}`;
    for (const value of find.in.values) line += `\t${encodeValue(value, keyEncoding)}`;
  }
  for (const filter of filters) {
    const value = encodeValue(filter.value, keyEncoding);
    line += `\t${filter.type}\t${filter.op}\t${filter.column}\t${value}`;
  }
  if (mod !== undefined) line += `\t${mod}${joinValues(find.values ?? [], find.encodings)}`;
  return `${line}\n`;
}

/**
 * @param {number} id
 * @param {readonly Value[]} values in the order of the index' columns
 * @param {readonly Encoding[]} [encodings] by position
 * @returns {string} the line
 */
export function encodeInsert(id, values, encodings) {
  return `${id}\t+\t${values.length}${joinValues(values, encodings)}\n`;
}

/**
 * @param {readonly Value[]} values
 * @param {readonly Encoding[]} [encodings]
 * @returns {string} tokens with leading HT
 */
function joinValues(values, encodings) {
  let text = '';
  for (let i = 0; i < values.length; i += 1) text += `\t${encodeValue(values[i], encodings?.[i])}`;
  return text;
}

/** Longest decimal of an unsigned 31-bit integer. */
const SMALL_INTEGER_BYTES = 10;
/** Keys up to this length are copied by character; for longer ones a native write is faster. */
const SHORT_KEY = 48;
const LINE_FEED = 10;

/**
 * @param {number} id id of the index
 * @returns {Buffer} the part before the key of a find by one key
 */
export function findHead(id) {
  return Buffer.from(`${id}\t=\t1\t`, 'latin1');
}

/**
 * @param {Uint8Array} head result of findHead
 * @param {Value} key
 * @returns {number} maximum bytes of writeFind
 */
export function findBytesMax(head, key) {
  return head.length + keyBytesMax(key) + 1;
}

/**
 * Writes a find by one key: head, key, line feed. The hot path, which builds no string.
 * @param {Buffer} target with space for findBytesMax
 * @param {number} at
 * @param {Uint8Array} head result of findHead
 * @param {Value} key
 * @param {Encoding} encoding encoding of a string
 * @returns {number} offset after it
 */
export function writeFind(target, at, head, key, encoding) {
  let to = at;
  for (let i = 0; i < head.length; i += 1, to += 1) target[to] = head[i];
  to = writeKey(target, to, key, encoding);
  target[to] = LINE_FEED;
  return to + 1;
}

/**
 * @param {Value} key
 * @returns {number} maximum bytes of writeKey
 */
export function keyBytesMax(key) {
  // A UTF-16 unit has at most three bytes in UTF-8, or two as an escape.
  if (typeof key === 'string') return key.length * 3;
  if (key instanceof Uint8Array) return key.byteLength * 2;
  return typeof key === 'bigint' ? `${key}`.length : 32;
}

/**
 * Writes the token of a key into `target`.
 * @param {Buffer} target with space for keyBytesMax
 * @param {number} at
 * @param {Value} key
 * @param {Encoding} encoding
 * @returns {number} offset after it
 */
export function writeKey(target, at, key, encoding) {
  if (typeof key === 'number') {
    if ((key | 0) === key && key >= 0) return writeDigits(target, at, key);
  } else if (typeof key === 'string' && key.length <= SHORT_KEY) {
    const end = at + key.length;
    let to = at;
    for (let i = 0; to < end; i += 1, to += 1) {
      const unit = key.charCodeAt(i);
      if (unit > 0x7f || unit < 0x10) break;
      target[to] = unit;
    }
    if (to === end) return end;
  }
  return at + target.write(encodeValue(key, encoding), at, 'latin1');
}

/**
 * @param {Uint8Array} target
 * @param {number} at
 * @param {number} value an integer from 0 to 2^31 - 1
 * @returns {number} the offset after the digits
 */
function writeDigits(target, at, value) {
  let end = at + SMALL_INTEGER_BYTES;
  for (let bound = 1_000_000_000; value < bound && bound > 1; bound /= 10) end -= 1;
  let rest = value;
  for (let to = end - 1; to >= at; to -= 1) {
    const next = (rest / 10) | 0;
    target[to] = 48 + rest - next * 10;
    rest = next;
  }
  return end;
}
