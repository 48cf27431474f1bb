/**
 * CQL's binary protocol, version 4, in its simplest form: the requests for recording fixtures.
 * Source: https://github.com/apache/cassandra/blob/trunk/doc/native_protocol_v4.spec
 */

import { createHash } from 'node:crypto';

const VERSION = 4;
export const OPCODES = Object.freeze({
  error: 0x00,
  startup: 0x01,
  query: 0x07,
  result: 0x08,
  prepare: 0x09,
  execute: 0x0a,
  authResponse: 0x0f,
});
/** Defaults of cassandra-driver. */
export const LOCAL_ONE = 0x000a;
const FETCH_SIZE = 5000;
/** Microseconds; a driver sends the time of the call. */
const TIMESTAMP = 1_700_000_000_000_000;
/** Values, page size, timestamp. */
const EXECUTE_FLAGS = 0x25;

/** Keyspace of the fixtures. */
export const KEYSPACE = 'dragstrip_codec';
/** Statements, all prepared; their ids follow from their text. */
export const STATEMENTS = Object.freeze({
  insert: `INSERT INTO ${KEYSPACE}.batched (a, b, c, d) VALUES (?, ?, ?, ?)`,
  small: `SELECT str FROM ${KEYSPACE}.small WHERE id = ?`,
  large: `SELECT str FROM ${KEYSPACE}.large WHERE id = ?`,
  range: `SELECT id, str FROM ${KEYSPACE}.ranges WHERE part = 0 AND id >= ? LIMIT 100`,
  sets: `SELECT a, b, c, d, e FROM ${KEYSPACE}.sets WHERE part = ?`,
  mixed: `SELECT * FROM ${KEYSPACE}.mixed WHERE id = ?`,
});

/**
 * @param {string} statement statement with the keyspace
 * @returns {Buffer} id of Cassandra for a prepared statement
 */
export function statementId(statement) {
  return createHash('md5').update(statement).digest();
}

/**
 * @param {number} opcode
 * @param {number} stream
 * @param {readonly Buffer[]} body
 * @returns {Buffer}
 */
export function cqlFrame(opcode, stream, body) {
  const bytes = Buffer.concat(body);
  const head = Buffer.of(VERSION, 0, stream >>> 8, stream & 0xff, opcode, 0, 0, 0, 0);
  head.writeUInt32BE(bytes.length, 5);
  return Buffer.concat([head, bytes]);
}

/** @param {number} value */
export function int32(value) {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

/** @param {number} value */
export const short = (value) => Buffer.of(value >>> 8, value & 0xff);

/** @param {string} text */
export const longText = (text) => withLength(Buffer.from(text));

/** @param {Buffer} bytes */
export const withLength = (bytes) => Buffer.concat([int32(bytes.length), bytes]);

/** @param {Buffer} bytes */
export const shortBytes = (bytes) => Buffer.concat([short(bytes.length), bytes]);

/** @param {string | number | Buffer} value text, int or blob */
function valueBytes(value) {
  if (typeof value === 'number') return withLength(int32(value));
  return withLength(Buffer.isBuffer(value) ? value : Buffer.from(value));
}

function timestamp() {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt(TIMESTAMP));
  return bytes;
}

/**
 * @param {number} stream
 * @param {string} statement
 * @param {number} key
 * @returns {Buffer} a read of a prepared statement, like that of cassandra-driver
 */
export function cqlExecute(stream, statement, key) {
  return cqlFrame(OPCODES.execute, stream, [
    shortBytes(statementId(statement)),
    short(LOCAL_ONE),
    Buffer.of(EXECUTE_FLAGS),
    short(1),
    valueBytes(key),
    int32(FETCH_SIZE),
    timestamp(),
  ]);
}
