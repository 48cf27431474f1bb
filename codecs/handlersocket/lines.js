/**
 * What the decoders share that our parser was chosen over: whole lines out of chunks, fields out of
 * bytes. They differ in how they find the cells and when bytes become strings.
 */

import {
  decodeField,
  MAY_HAVE_ESCAPES,
  MAY_HAVE_NULLS,
} from '../../storages/handlersocket/reply.js';

const LINE_FEED = 10;
const ESCAPE = 1;

/** @typedef {'utf8' | 'number' | 'buffer'} Type */

/** Gives whole lines; the start of the next one waits, in pieces, so that it is copied once. */
export class WholeLines {
  /** @type {Buffer[]} */
  pieces = [];

  /**
   * @param {Buffer} chunk
   * @returns {Buffer | null} whole lines, the line feed of the last one included
   */
  take(chunk) {
    const last = chunk.lastIndexOf(LINE_FEED);
    if (last < 0) {
      this.pieces.push(chunk);
      return null;
    }
    const lines = chunk.subarray(0, last + 1);
    const rest = chunk.subarray(last + 1);
    const whole = this.pieces.length === 0 ? lines : Buffer.concat([...this.pieces, lines]);
    this.pieces = rest.length === 0 ? [] : [rest];
    return whole;
  }
}

/** The obvious way: what is left is joined with every chunk. A long line costs its square. */
export class JoinedLines {
  rest = Buffer.alloc(0);

  /**
   * @param {Buffer} chunk
   * @returns {Buffer | null}
   */
  take(chunk) {
    const all = Buffer.concat([this.rest, chunk]);
    const last = all.lastIndexOf(LINE_FEED);
    this.rest = all.subarray(last + 1);
    return last < 0 ? null : all.subarray(0, last + 1);
  }
}

/**
 * @param {Buffer} lines
 * @returns {number} flags as decodeField takes them
 */
export function flagsOf(lines) {
  const nulls = lines.includes(0) ? MAY_HAVE_NULLS : 0;
  return lines.includes(ESCAPE) ? nulls | MAY_HAVE_ESCAPES : nulls;
}

/**
 * Cuts the tokens of a reply into rows.
 * @param {readonly string[]} tokens `0`, the number of columns, the cells
 * @param {readonly Type[]} types
 * @param {number} flags
 * @returns {any[][]}
 */
export function rowsOfTokens(tokens, types, flags) {
  requireSuccess(tokens[0]);
  const columns = types.length;
  const rows = [];
  for (let at = 2; at < tokens.length; at += columns) {
    const row = new Array(columns);
    for (let i = 0; i < columns; i += 1) row[i] = decodeField(tokens[at + i], types[i], flags);
    rows.push(row);
  }
  return rows;
}

/** @param {string} code */
function requireSuccess(code) {
  if (code !== '0') throw new Error(`the fixture holds an error reply: ${code}`);
}

/** Collects cells into rows, without an array of tokens in between. */
export class RowBuilder {
  /**
   * @param {number} columns
   * @param {(rows: any[][]) => void} emit
   */
  constructor(columns, emit) {
    this.columns = columns;
    this.emit = emit;
    /** @type {any[][]} */
    this.rows = [];
    /** @type {any[]} */
    this.row = [];
    /** place of the next token in the line: code, columns, cells */
    this.token = 0;
  }

  /** @returns {number} column of the next cell; negative: it is the head of the reply */
  get column() {
    return this.token < 2 ? -1 : this.row.length;
  }

  /** @param {any} value */
  cell(value) {
    this.token += 1;
    if (this.token <= 2) return;
    this.row.push(value);
    if (this.row.length < this.columns) return;
    this.rows.push(this.row);
    this.row = [];
  }

  /** The line is over. */
  end() {
    this.emit(this.rows);
    this.rows = [];
    this.token = 0;
  }
}

/**
 * A cell out of bytes, by itself.
 * @param {Buffer} bytes
 * @param {number} start
 * @param {number} end
 * @param {Type} type
 * @returns {any}
 */
export function fieldOfBytes(bytes, start, end, type) {
  if (end - start === 1 && bytes[start] === 0) return null;
  const escaped = hasEscape(bytes, start, end);
  if (type === 'utf8') {
    return escaped
      ? unescaped(bytes, start, end).toString('utf8')
      : bytes.toString('utf8', start, end);
  }
  if (type === 'number') return Number(bytes.toString('latin1', start, end));
  return escaped ? unescaped(bytes, start, end) : Buffer.from(bytes.subarray(start, end));
}

/** @param {Buffer} bytes @param {number} start @param {number} end */
function hasEscape(bytes, start, end) {
  for (let at = start; at < end; at += 1) if (bytes[at] === ESCAPE) return true;
  return false;
}

/** @param {Buffer} bytes @param {number} start @param {number} end */
function unescaped(bytes, start, end) {
  const plain = Buffer.allocUnsafe(end - start);
  let to = 0;
  for (let at = start; at < end; at += 1, to += 1) {
    if (bytes[at] === ESCAPE) {
      at += 1;
      plain[to] = bytes[at] - 0x40;
    } else {
      plain[to] = bytes[at];
    }
  }
  return plain.subarray(0, to);
}
