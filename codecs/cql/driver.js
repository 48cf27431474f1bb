/**
 * cassandra-driver's own codec, without a socket and without its queue of requests: the streams by
 * which its connection reads, the reader and the encoder of values alone, and its requests.
 */

import { createRequire } from 'node:module';
import { frameCutter } from '../frames.js';
import { batchRows, requestKeys } from '../rows.js';
import { FORM, HEAD_BYTES } from './plain.js';
import { FETCH_SIZE, STATEMENTS, statementId, TIMESTAMP, VERSION } from './reference.js';

/** @type {(name: string) => any} they have no types, or none of what is inside */
const requireModule = createRequire(import.meta.url);

/** Types of the columns, as the metadata of a prepared statement gives them. */
const TEXT = Object.freeze({ code: 13, type: null });
const INT = Object.freeze({ code: 9, type: null });
const BLOB = Object.freeze({ code: 3, type: null });

/** bigint comes as BigInt: the others give it so, and Long is an object of two numbers. */
function createEncoder() {
  const Encoder = requireModule('cassandra-driver/lib/encoder.js');
  return new Encoder(VERSION, { encoding: { useBigIntAsLong: true } });
}

/**
 * @param {any} reply rows with named columns, an error, or nothing
 * @returns {any} rows as arrays, for the comparison
 */
const comparable = (reply) => (Array.isArray(reply) ? reply.map((row) => row.values()) : reply);

/** @returns {import('../definition.js').Codec} */
export function loadStreams() {
  const { Protocol, Parser, ResultEmitter } = requireModule('cassandra-driver/lib/streams.js');
  return {
    comparable,
    createDecoder(_shape, emit) {
      const protocol = new Protocol({ objectMode: true });
      const results = new ResultEmitter({ objectMode: true });
      protocol.pipe(new Parser({ objectMode: true }, createEncoder())).pipe(results);
      results.on(
        'result',
        (/** @type {unknown} */ _header, /** @type {any} */ error, /** @type {any} */ result) =>
          emit(error ?? result.rows ?? null),
      );
      return { write: (chunk) => protocol.write(chunk) };
    },
    encoders: encodersBy(),
  };
}

/** @returns {import('../definition.js').Codec} */
export function loadReader() {
  const { FrameReader } = requireModule('cassandra-driver/lib/readers.js');
  const { FrameHeader, Row, resultKind, opcodes } = requireModule('cassandra-driver/lib/types');
  const encoder = createEncoder();
  const read = (
    /** @type {Buffer} */ bytes,
    /** @type {number} */ at,
    /** @type {number} */ end,
  ) => {
    const header = FrameHeader.fromBuffer(bytes, at - HEAD_BYTES);
    const reader = new FrameReader(header, bytes.subarray(0, end), at);
    reader.readFlagsInfo();
    if (header.opcode === opcodes.error) return reader.readError();
    const kind = reader.readInt();
    if (kind !== resultKind.rows) return null;
    const { columns } = reader.readMetadata(kind);
    const rows = new Array(reader.readInt());
    for (let i = 0; i < rows.length; i += 1) {
      const row = new Row(columns);
      for (const { name, type } of columns) row[name] = encoder.decode(reader.readBytes(), type);
      rows[i] = row;
    }
    return rows;
  };
  return {
    comparable,
    createDecoder: (_shape, emit) =>
      frameCutter(FORM, (bytes, at, end) => emit(read(bytes, at, end))),
  };
}

/** @returns {Record<string, () => import('../definition.js').Encoder>} by the driver's requests */
function encodersBy() {
  const { BatchRequest, ExecuteRequest } = requireModule('cassandra-driver/lib/requests.js');
  const encoder = createEncoder();
  return {
    'batch-4096': () => {
      const options = optionsOf();
      const meta = { columns: [TEXT, INT, INT, BLOB].map((type) => ({ type })) };
      const queryId = statementId(STATEMENTS.insert);
      const rows = batchRows();
      return (target) => {
        const queries = rows.map((params) => ({ queryId, meta, params }));
        return new BatchRequest(queries, options).write(encoder, 0).copy(target);
      };
    },
    'requests-1000': () => {
      const options = optionsOf();
      const meta = { columns: [{ type: INT }] };
      const queryId = statementId(STATEMENTS.small);
      const keys = requestKeys();
      return (target) => {
        let at = 0;
        for (const [i, key] of keys.entries()) {
          const request = new ExecuteRequest(STATEMENTS.small, queryId, [key], options, meta);
          at += request.write(encoder, i).copy(target, at);
        }
        return at;
      };
    },
  };
}

/** Its defaults, but for the time, which is that of a call. */
function optionsOf() {
  const { ExecutionOptions } = requireModule('cassandra-driver/lib/execution-options.js');
  const { consistencies, Long } = requireModule('cassandra-driver/lib/types');
  const timestamp = Long.fromNumber(TIMESTAMP);
  return Object.assign(ExecutionOptions.empty(), {
    getConsistency: () => consistencies.localOne,
    getFetchSize: () => FETCH_SIZE,
    getOrGenerateTimestamp: () => timestamp,
    getHints: () => null,
    isBatchCounter: () => false,
    isBatchLogged: () => false,
  });
}
