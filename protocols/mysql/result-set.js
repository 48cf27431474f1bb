/**
 * A select of one text column by one parameter: encodes and decodes the execution of a prepared
 * statement and result sets. The text form is only encoded, for a fake server.
 */

import { garbled } from '../framer.js';
import {
  COMMAND,
  isEnd,
  lengthEncoded,
  MARK,
  packet,
  readLengthEncoded,
  readPacket,
} from './packet.js';

const TYPE = Object.freeze({ long: 0x03, double: 0x05, longlong: 0x08, varString: 0xfd });
export const OK_PAYLOAD = Buffer.of(MARK.ok, 0, 0, 2, 0, 0, 0);
const EOF_PAYLOAD = Buffer.of(MARK.eof, 0, 0, 2, 0);
/** Sequence id of the first row: the count, the definition and an EOF precede it. */
const ROW_SEQUENCE = 4;

/**
 * @param {number} statement
 * @param {number} id the one parameter
 * @returns {Buffer} packet that executes a prepared statement
 */
export function encodeExecute(statement, id) {
  const body = Buffer.alloc(22);
  body[0] = COMMAND.execute;
  body.writeUInt32LE(statement, 1);
  body.writeUInt32LE(1, 6); // iterations, always 1
  body[11] = 1; // the types of the parameters follow
  body[12] = TYPE.longlong;
  body.writeUInt32LE(id, 14);
  return packet(0, body);
}

/**
 * @param {Buffer} payload command, statement (4), flags, iterations (4), NULL bits, 1, type (2)
 * @returns {number} the one parameter; NaN if it has another type
 */
export function readParameter(payload) {
  switch (payload[12]) {
    case TYPE.double:
      return payload.readDoubleLE(14);
    case TYPE.longlong:
    case TYPE.long:
      return payload.readUInt32LE(14);
    default: {
      const { value, end } = readLengthEncoded(payload, 14);
      return value === null ? Number.NaN : Number(payload.toString('latin1', end, end + value));
    }
  }
}

/**
 * @typedef {object} ResultSet
 * @property {number} end offset after it
 * @property {string | null} value value of the last row, in latin1; null: no row, or SQL NULL
 * @property {string | null} error
 */

/**
 * @param {Buffer} payload payload of an error: FF, code, in protocol 4.1 # and five letters of
 *   state, text
 * @returns {string} code and message
 */
export function errorText(payload) {
  if (payload.length < 3) throw garbled('MySQL', payload[0] ?? 0);
  return `${payload.readUInt16LE(1)} ${payload.toString('utf8', payload[3] === 0x23 ? 9 : 3)}`;
}

/**
 * @param {Buffer} bytes
 * @param {number} at
 * @param {boolean} deprecateEof
 * @param {number} [valueSize] requested bytes
 * @returns {ResultSet | null} null: incomplete
 * @throws {import('../../lib/errors.js').DragstripError} E_TARGET: a longer packet
 */
export function readResultSet(bytes, at, deprecateEof, valueSize) {
  const first = readPacket(bytes, at, valueSize);
  if (first === null) return null;
  const none = { value: null, error: null };
  if (first.payload[0] === MARK.ok) return { ...none, end: first.end };
  if (first.payload[0] === MARK.error) {
    return { ...none, end: first.end, error: errorText(first.payload) };
  }
  let { end } = first;
  for (let left = first.payload[0] + (deprecateEof ? 0 : 1); left > 0; left -= 1) {
    const column = readPacket(bytes, end, valueSize);
    if (column === null) return null;
    end = column.end;
  }
  /** @type {string | null} */
  let value = null;
  for (;;) {
    const row = readPacket(bytes, end, valueSize);
    if (row === null) return null;
    end = row.end;
    const [mark] = row.payload;
    if (mark === MARK.error) return { ...none, end, error: errorText(row.payload) };
    if (isEnd(mark, row.payload.length, deprecateEof)) break;
    // A binary row: 00, one byte of NULL bits, the column.
    const { value: size, end: from } = readLengthEncoded(row.payload, 2);
    value = size === null ? null : row.payload.toString('latin1', from, from + size);
  }
  return { ...none, end, value };
}

/**
 * @param {{ database: string, table: string, name: string, charset: number, size: number }} column
 *   text column; size: characters
 * @returns {Buffer} the payload of its definition
 */
export function encodeColumn({ database, table, name, charset, size }) {
  const texts = ['def', database, table, table, name, name];
  const tail = Buffer.alloc(13);
  tail[0] = 12;
  tail.writeUInt16LE(charset, 1);
  tail.writeUInt32LE(size * 4, 3);
  tail[7] = TYPE.varString;
  const names = texts.map((text) => Buffer.concat([Buffer.of(text.length), Buffer.from(text)]));
  return Buffer.concat([...names, tail]);
}

/**
 * @param {Buffer} column result of encodeColumn
 * @returns {Buffer} reply to a prepare: statement 1, that column, one parameter
 */
export function encodePrepared(column) {
  // Statement 1, one column, one parameter, no warnings.
  const head = Buffer.of(0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0);
  const end = EOF_PAYLOAD;
  return Buffer.concat([
    packet(1, head),
    packet(2, column),
    packet(3, end),
    packet(4, column),
    packet(5, end),
  ]);
}

/** @param {string} value latin1 @returns {Buffer} a row in text form */
export function textRow(value) {
  return Buffer.concat([lengthEncoded(value.length), Buffer.from(value, 'latin1')]);
}

/**
 * @param {string} value latin1 @returns {Buffer} a row in binary form: 00, NULL bits, the column
 */
export function binaryRow(value) {
  return Buffer.concat([Buffer.of(0, 0), textRow(value)]);
}

/**
 * @param {Buffer} column result of encodeColumn
 * @param {...Buffer} rows
 * @returns {Buffer}
 */
export function encodeResultSet(column, ...rows) {
  return Buffer.concat([
    packet(1, Buffer.of(1)),
    packet(2, column),
    packet(3, EOF_PAYLOAD),
    ...rows.map((row, i) => packet(ROW_SEQUENCE + i, row)),
    packet(ROW_SEQUENCE + rows.length, EOF_PAYLOAD),
  ]);
}
