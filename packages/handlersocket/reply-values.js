/**
 * Decodes replies: the text of one reply line to rows, counts or errors. Pure. The parser converts
 * bytes to text; the request type selects the decoder.
 *
 * A reply is `code HT columns [HT token …]`, code 0 for success. Separators are counted, never
 * trimmed: `0 HT 1` has no row, `0 HT 1 HT` has one row with one empty string.
 */

import { HandlerSocketError, protocolError } from './handlersocket-error.js';
import { describe, NULL_TOKEN, unescapeBytes } from './request-lines.js';

/** The text contains the byte 0x00: tokens may be NULL. */
export const MAY_HAVE_NULLS = 1;
/** The text contains the byte 0x01: tokens may have escapes. */
export const MAY_HAVE_ESCAPES = 2;
/** One character is one byte, and some are above 0x7F: UTF-8 is not decoded yet. */
export const ARE_BYTES = 4;

const TAB = 9;
const ZERO = 48;
const NOT_ASCII = /[\x80-\xff]/;

/**
 * Type of a column: a string with its character set, a Buffer, or a number. `number` is a double,
 * `bigint` any integer.
 * @typedef {'utf8' | 'latin1' | 'buffer' | 'number' | 'bigint'} ColumnType
 */

/**
 * For a string, `:own` copies the characters: a substring of 13 characters or more is a slice in V8
 * that retains its whole chunk, up to 64 KiB.
 * @typedef {ColumnType | 'utf8:own' | 'latin1:own'} DecodedType
 */

export const COLUMN_TYPES = new Set(['utf8', 'latin1', 'buffer', 'number', 'bigint']);

/**
 * @param {DecodedType} type
 * @returns {boolean} whether it needs undecoded bytes
 */
export const keepsBytes = (type) => type === 'buffer' || type.startsWith('latin1');

/** @typedef {string | number | bigint | Buffer | null} Field */
/** @typedef {Field[]} Row */

/**
 * @param {string} token
 * @param {DecodedType} type
 * @param {number} flags flags of the text of the token
 * @returns {Field}
 * @throws {HandlerSocketError} HS_DECODE
 */
export function decodeField(token, type, flags) {
  if (flags !== 0) {
    if (token === NULL_TOKEN) return null;
    if ((flags & MAY_HAVE_ESCAPES) !== 0) token = unescapeBytes(token);
  }
  switch (type) {
    case 'utf8':
      if ((flags & ARE_BYTES) === 0 || !NOT_ASCII.test(token)) return token;
      return Buffer.from(token, 'latin1').toString('utf8');
    case 'latin1':
      return token;
    case 'utf8:own':
      if ((flags & ARE_BYTES) === 0) return Buffer.from(token, 'utf8').toString('utf8');
      return Buffer.from(token, 'latin1').toString('utf8');
    case 'latin1:own':
      return Buffer.from(token, 'latin1').toString('latin1');
    case 'buffer':
      return Buffer.from(token, 'latin1');
    case 'number':
      return Number(token);
    case 'bigint':
      if (/^-?\d+$/.test(token)) return BigInt(token);
  }
  throw new HandlerSocketError(
    'HS_DECODE',
    `the value ${describe(token)} does not have the type ${type} of its column`,
  );
}

/**
 * Checks the head of a reply.
 * @param {string} text
 * @param {number} start
 * @param {number} end
 * @param {string} head `0 HT columns`
 * @returns {number} offset of the tokens, or -1 without tokens
 * @throws {HandlerSocketError} HS_PROTOCOL
 */
function tokensAt(text, start, end, head) {
  const at = start + head.length;
  if (at <= end && text.startsWith(head, start)) {
    if (at === end) return -1;
    if (text.charCodeAt(at) === TAB) return at + 1;
  }
  throw unexpected(text, start, end);
}

/**
 * @param {string} text
 * @param {number} start
 * @param {number} end
 */
function unexpected(text, start, end) {
  const shown = describe(text.slice(start, Math.min(end, start + 40)));
  return protocolError(`unexpected reply ${shown}: not HandlerSocket, or lost bytes`);
}

/**
 * @param {string} text
 * @param {number} start
 * @param {number} end
 * @returns {boolean} whether the reply reports success
 */
export function isSuccess(text, start, end) {
  if (text.charCodeAt(start) !== ZERO) return false;
  return start + 1 === end || text.charCodeAt(start + 1) === TAB;
}

/**
 * @param {string} text
 * @param {number} start
 * @param {number} end
 * @returns {{ code: number, message: string }} error of an error reply
 * @throws {HandlerSocketError} HS_PROTOCOL: not an error reply
 */
export function decodeError(text, start, end) {
  const match = /^([1-9]\d?)\t1(?:\t([^\t]*))?$/.exec(
    text.slice(start, Math.min(end, start + 999)),
  );
  if (match === null) throw unexpected(text, start, end);
  return { code: Number(match[1]), message: unescapeBytes(match[2] ?? '') };
}

/**
 * A decoder of one reply: text, its start and end (the line feed), its flags.
 * @typedef {(text: string, start: number, end: number, flags: number) => any} Decode
 */

/**
 * @typedef {object} RawReply
 * @property {number} columns number of columns in the reply
 * @property {Row} fields fields of all rows, concatenated
 */

/**
 * Decodes any successful reply.
 * @param {DecodedType} type type of all fields
 * @returns {(text: string, start: number, end: number, flags: number) => RawReply}
 */
export function rawDecoder(type) {
  return (text, start, end, flags) => {
    const [, columns = '0', ...tokens] = text.slice(start, end).split('\t');
    return {
      columns: Number(columns),
      fields: tokens.map((token) => decodeField(token, type, flags)),
    };
  };
}

/**
 * Decodes the first column of the first row, without an array: for a find by key with limit 1.
 * @param {readonly DecodedType[]} types
 * @returns {Decode} decoder; undefined without a row
 */
export function valueDecoder(types) {
  const head = `0\t${types.length}`;
  const [type] = types;
  const plain = type === 'utf8' || type === 'latin1';
  const single = types.length === 1;
  const headLength = head.length;
  return (text, start, end, flags) => {
    const at = start + headLength;
    if (at >= end || text.charCodeAt(at) !== TAB || !text.startsWith(head, start)) {
      return tokensAt(text, start, end, head) < 0 ? undefined : fail(text, start, end);
    }
    let stop = text.indexOf('\t', at + 1);
    if (stop < 0 || stop > end) stop = end;
    if (single !== (stop === end)) return fail(text, start, end);
    const token = text.slice(at + 1, stop);
    return plain && flags === 0 ? token : decodeField(token, type, flags);
  };
}

/**
 * @param {string} text
 * @param {number} start
 * @param {number} end
 * @returns {never}
 */
function fail(text, start, end) {
  throw unexpected(text, start, end);
}

/**
 * The first row as an array.
 * @param {readonly DecodedType[]} types
 * @returns {Decode} decoder; undefined without a row
 */
export function rowDecoder(types) {
  const readRows = rowsDecoder(types);
  const head = `0\t${types.length}`;
  if (types.length === 1) {
    const readValue = valueDecoder(types);
    return (text, start, end, flags) => {
      const value = readValue(text, start, end, flags);
      return value === undefined ? undefined : [value];
    };
  }
  const allPlain = types.every(isPlain);
  return (text, start, end, flags) => {
    if (!allPlain || flags !== 0) {
      const rows = readRows(text, start, end, flags);
      return rows.length > 1 ? fail(text, start, end) : rows[0];
    }
    const at = tokensAt(text, start, end, head);
    if (at < 0) return undefined;
    const row = text.slice(at, end).split('\t');
    return row.length === types.length ? row : fail(text, start, end);
  };
}

/** @param {DecodedType} type */
const isPlain = (type) => type === 'utf8' || type === 'latin1';

/**
 * All rows, as arrays in the order of the columns.
 * @param {readonly DecodedType[]} types
 * @returns {Decode}
 */
export function rowsDecoder(types) {
  const head = `0\t${types.length}`;
  return (text, start, end, flags) => {
    /** @type {Row[]} */
    const rows = [];
    const at = tokensAt(text, start, end, head);
    if (at < 0) return rows;
    const left = appendRows(rows, types, text, at, end, flags);
    return left === 0 ? rows : fail(text, start, end);
  };
}

/**
 * Cuts tokens into rows.
 * @param {Row[]} rows whole rows are appended here
 * @param {readonly DecodedType[]} types
 * @param {string} text
 * @param {number} at offset of the first token
 * @param {number} end offset after the last token
 * @param {number} flags
 * @returns {number} number of surplus tokens: 0 if all rows are complete
 */
export function appendRows(rows, types, text, at, end, flags) {
  const columns = types.length;
  const plain = flags === 0 && types.every(isPlain);
  while (at <= end) {
    const row = new Array(columns);
    for (let column = 0; column < columns; column += 1) {
      if (at > end) return column;
      let stop = text.indexOf('\t', at);
      if (stop < 0 || stop > end) stop = end;
      const token = text.slice(at, stop);
      row[column] = plain ? token : decodeField(token, types[column], flags);
      at = stop + 1;
    }
    rows.push(row);
  }
  return 0;
}

/**
 * Rows as objects that all have the same shape.
 * @param {readonly string[]} columns
 * @param {readonly DecodedType[]} types
 * @returns {Decode}
 */
export function objectsDecoder(columns, types) {
  const readRows = rowsDecoder(types);
  return (text, start, end, flags) => {
    const rows = readRows(text, start, end, flags);
    return rows.map((/** @type {Row} */ row) => rowObject(columns, row));
  };
}

/**
 * @param {readonly string[]} columns
 * @param {Row} row
 * @returns {Record<string, Field>}
 */
export function rowObject(columns, row) {
  /** @type {Record<string, Field>} */
  const object = {};
  for (let i = 0; i < columns.length; i += 1) object[columns[i]] = row[i];
  return object;
}

/**
 * Decodes the number of rows matched by a change.
 * @type {Decode}
 */
export function decodeCount(text, start, end) {
  const at = tokensAt(text, start, end, '0\t1');
  const token = at < 0 ? '' : text.slice(at, end);
  return /^\d+$/.test(token) ? Number(token) : fail(text, start, end);
}

/**
 * Decodes the id assigned by AUTO_INCREMENT: a number, or a bigint above 2^53; 0 if the caller set
 * the id; undefined without AUTO_INCREMENT.
 * @type {Decode}
 */
export function decodeInsert(text, start, end) {
  const at = tokensAt(text, start, end, '0\t1');
  if (at < 0) return undefined;
  const token = text.slice(at, end);
  if (!/^\d+$/.test(token)) return fail(text, start, end);
  const id = Number(token);
  return Number.isSafeInteger(id) ? id : BigInt(token);
}

/**
 * Decodes success without values: auth, open_index.
 * @type {Decode}
 */
export function decodeDone(text, start, end) {
  if (tokensAt(text, start, end, '0\t1') >= 0) fail(text, start, end);
}
