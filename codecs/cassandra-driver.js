/**
 * cassandra-driver's own decoder, without a socket and without its request queue: the streams
 * through which its connection reads, and its reader alone.
 */

import { createRequire } from 'node:module';
import { frameCutter } from './frames.js';

/** @type {(name: string) => any} untyped modules, or modules with untyped internals */
const requireModule = createRequire(import.meta.url);

export const HEAD_BYTES = 9;
/** @type {import('./frames.js').FrameForm} */
export const FORM = Object.freeze({
  headBytes: HEAD_BYTES,
  bodyBytes: (bytes, at) => bytes.readUInt32BE(at + 5),
});
/** Protocol version. */
const VERSION = 4;

/** bigint is decoded to BigInt, as in the other codecs; Long is an object of two numbers. */
function createEncoder() {
  const Encoder = requireModule('cassandra-driver/lib/encoder.js');
  return new Encoder(VERSION, { encoding: { useBigIntAsLong: true } });
}

/**
 * @param {any} reply rows with named columns, an error, or nothing
 * @returns {any} rows as arrays, for the comparison
 */
const comparable = (reply) => (Array.isArray(reply) ? reply.map((row) => row.values()) : reply);

/** @returns {import('./definition.js').Codec} */
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
  };
}

/** @returns {import('./definition.js').Codec} */
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
