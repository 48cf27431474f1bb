/**
 * Encodes and decodes commands of RESP, the same in RESP 2 and 3.
 * https://redis.io/docs/latest/develop/reference/protocol-spec/
 *
 * A command is a binary string, one character per byte ("latin1"): V8 concatenates and writes these
 * faster than Buffers, and a pipeline can be collected in one string.
 */

import { readLength } from './line.js';

const NOT_ASCII = /[^\x00-\x7f]/;
/** Dragstrip's commands have fewer words; a fake server refuses more. */
const WORDS_MAX = 1_048_576;
/** Redis's own limit of a string, proto-max-bulk-len. */
const WORD_BYTES_MAX = 512 * 2 ** 20;

/** @param {number} length number of words or items @returns {string} */
export const arrayHead = (length) => `*${length}\r\n`;

/** @param {number} length length in bytes @returns {string} the header of a string */
export const bulkHead = (length) => `$${length}\r\n`;

const BULK_END_BYTES = 2;

/**
 * Ends a string whose bytes were written directly into a buffer, after its bulkHead.
 * @param {Buffer} target
 * @param {number} at
 * @returns {number} offset after it
 */
export function writeBulkEnd(target, at) {
  target[at] = 13; // byte by byte: a native write for two of them is a fifth of a row's cost
  target[at + 1] = 10;
  return at + BULK_END_BYTES;
}

/** @param {string} bytes a binary string @returns {string} */
export const bulk = (bytes) => `$${bytes.length}\r\n${bytes}\r\n`;

/** @param {string | number} word @returns {string} its UTF-8 as a binary string */
function binary(word) {
  const text = `${word}`;
  return NOT_ASCII.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text;
}

/**
 * @param {readonly (string | number)[]} words
 * @returns {string} one command, a binary string
 */
export function commandText(words) {
  let text = arrayHead(words.length);
  for (const word of words) text += bulk(binary(word));
  return text;
}

/**
 * @param {readonly (string | number)[]} words
 * @returns {Buffer} one command
 */
export function encodeCommand(words) {
  return Buffer.from(commandText(words), 'latin1');
}

/**
 * An inline command, as typed by a person; words must not contain blanks.
 * @param {string} text
 * @returns {string}
 */
export const inlineCommand = (text) => `${text}\r\n`;

/**
 * @param {{ user?: string, password?: string }} credentials
 * @returns {string[] | null} the words of AUTH; null: not needed
 */
export function authWords({ user, password }) {
  if (password === undefined) return null;
  return user === undefined ? ['AUTH', password] : ['AUTH', user, password];
}

/**
 * @param {Buffer} bytes
 * @param {number} at
 * @returns {{ words: string[], end: number } | null} a command, its words as binary strings; null:
 *   incomplete
 * @throws {import('../../lib/errors.js').DragstripError} E_TARGET if it is not a command
 */
export function readCommand(bytes, at) {
  const head = readLength(bytes, at, '*', WORDS_MAX);
  if (head === null) return null;
  let { end } = head;
  /** @type {string[]} */
  const words = [];
  for (let i = 0; i < head.length; i += 1) {
    const size = readLength(bytes, end, '$', WORD_BYTES_MAX);
    if (size === null) return null;
    end = size.end + size.length + BULK_END_BYTES;
    if (end > bytes.length) return null;
    words.push(bytes.toString('latin1', size.end, end - BULK_END_BYTES));
  }
  return { words, end };
}
