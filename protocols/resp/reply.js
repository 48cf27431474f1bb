/**
 * Encodes and decodes replies of RESP 2, and the null of RESP 3, for the harness's own connections,
 * which use few types. Not a driver's decoder: codecs/ compares those.
 */

import { garbled } from '../framer.js';
import { bulk } from './command.js';
import { readLength, readLine } from './line.js';

const CR = 13;
const LF = 10;
const DOLLAR = 0x24;
/** Default bound of a reply's length. */
const VALUE_BYTES_MAX = 65_536;
/**
 * Items of an array, which is parsed again with each piece that arrives; SCAN returns about 5,000.
 */
const ITEMS_MAX = 65_536;
const DEPTH_MAX = 8;

/** A null in each version. */
export const NULL_REPLY = Object.freeze({ 2: '$-1\r\n', 3: '_\r\n' });
export const OK_REPLY = '+OK\r\n';

/** @param {string} text @returns {string} */
export const statusReply = (text) => `+${text}\r\n`;

/** @param {string} text @returns {string} */
export const errorReply = (text) => `-${text}\r\n`;

/** @param {string | number} item item of a list: a binary string or an integer @returns {string} */
export const itemReply = (item) => (typeof item === 'number' ? `:${item}\r\n` : bulk(item));

/**
 * @param {number} pairs
 * @param {2 | 3} version
 * @returns {string} the header of a map, which RESP 2 writes as an array
 */
export const mapHead = (pairs, version) => (version === 3 ? `%${pairs}\r\n` : `*${2 * pairs}\r\n`);

/**
 * @typedef {object} RespReply
 * @property {number} end offset after it
 * @property {any} value a string in latin1, a number, null, or an array of these, in which errors
 *   are texts; null also for an error
 * @property {string | null} error
 */

/**
 * @param {Buffer} bytes
 * @param {number} at
 * @param {number} [limit] bytes of the longest string that was requested
 * @returns {RespReply | null} null: incomplete
 * @throws {import('../../lib/errors.js').DragstripError} E_TARGET if it is not a reply, or longer
 */
export function readReply(bytes, at, limit = VALUE_BYTES_MAX) {
  return readElement(bytes, at, limit, 0);
}

/**
 * @param {Buffer} bytes
 * @param {number} at
 * @param {number} limit
 * @param {number} depth
 * @returns {RespReply | null}
 */
function readElement(bytes, at, limit, depth) {
  const line = readLine(bytes, at);
  if (line === null) return null;
  const { mark, text, end } = line;
  if (text === '-1' && (mark === '$' || mark === '*')) return { end, value: null, error: null };
  if (mark === '$') return readBulk(bytes, at, limit);
  if (mark === '*' && depth < DEPTH_MAX) return readArray(bytes, at, limit, depth);
  if (mark === '-') return { end, value: null, error: text };
  if (mark === '+') return { end, value: text, error: null };
  if (mark === '_' && text === '') return { end, value: null, error: null };
  if (mark !== ':' || !/^-?\d{1,16}$/.test(text)) throw garbled('Redis', bytes[at]);
  return { end, value: Number(text), error: null };
}

/** @param {Buffer} bytes @param {number} at @param {number} limit */
function readBulk(bytes, at, limit) {
  const size = readLength(bytes, at, '$', limit);
  if (size === null) return null;
  const stop = size.end + size.length;
  if (bytes.length < stop + 2) return null;
  if (bytes[stop] !== CR || bytes[stop + 1] !== LF) throw garbled('Redis', bytes[stop]);
  return { end: stop + 2, value: bytes.toString('latin1', size.end, stop), error: null };
}

/** @param {Buffer} bytes @param {number} at @param {number} limit @param {number} depth */
function readArray(bytes, at, limit, depth) {
  const head = readLength(bytes, at, '*', ITEMS_MAX);
  if (head === null) return null;
  let { end } = head;
  /** @type {any[]} */
  const value = [];
  for (let i = 0; i < head.length; i += 1) {
    const item = end < bytes.length ? readElement(bytes, end, limit, depth + 1) : null;
    if (item === null) return null;
    value.push(item.error ?? item.value);
    end = item.end;
  }
  return { end, value, error: null };
}

/**
 * @param {Buffer} bytes
 * @param {number} at start of an incomplete reply
 * @param {number} [limit] same as in readReply
 * @returns {number} its known minimum length in bytes; at least one more than there are
 */
export function replyBytes(bytes, at, limit = VALUE_BYTES_MAX) {
  const size = bytes[at] === DOLLAR ? readLength(bytes, at, '$', limit) : null;
  return size === null ? bytes.length - at + 1 : size.end + size.length + 2 - at;
}

/**
 * @param {Buffer} bytes
 * @returns {RespReply[] | null} the complete replies at the start; null: these are not replies
 */
export function readReplies(bytes) {
  /** @type {RespReply[]} */
  const replies = [];
  try {
    for (let at = 0; at < bytes.length; ) {
      const reply = readReply(bytes, at);
      if (reply === null) break;
      replies.push(reply);
      at = reply.end;
    }
  } catch {
    return null;
  }
  return replies;
}
