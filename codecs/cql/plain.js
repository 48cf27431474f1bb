/**
 * A simple codec of CQL, the baseline: rows as arrays, a column's type looked up once per frame, no
 * names, no paging, no warnings. Requests are written straight into the memory of the socket.
 */

import { frameCutter } from '../frames.js';
import { batchRows, requestKeys } from '../rows.js';
import {
  BATCH_FLAGS,
  EXECUTE_FLAGS,
  FETCH_SIZE,
  LOCAL_ONE,
  OPCODES,
  STATEMENTS,
  statementId,
  TIMESTAMP,
  UNLOGGED,
  VERSION,
} from './reference.js';

/** @typedef {(bytes: Buffer, at: number, length: number) => any} ReadCell */

export const HEAD_BYTES = 9;
/** @type {import('../frames.js').FrameForm} */
export const FORM = Object.freeze({
  headBytes: HEAD_BYTES,
  bodyBytes: (bytes, at) => bytes.readUInt32BE(at + 5),
});
const ROWS = 2;
const GLOBAL_TABLE = 1;
const MORE_PAGES = 2;

/** Types by their number in the metadata. @type {Record<number, ReadCell>} */
const READERS = {
  2: (bytes, at) => bytes.readBigInt64BE(at),
  3: (bytes, at, length) => bytes.subarray(at, at + length),
  4: (bytes, at) => bytes[at] !== 0,
  7: (bytes, at) => bytes.readDoubleBE(at),
  9: (bytes, at) => bytes.readInt32BE(at),
  13: (bytes, at, length) => bytes.toString('utf8', at, at + length),
  19: (bytes, at) => bytes.readInt16BE(at),
  20: (bytes, at) => bytes.readInt8(at),
};

/** @type {NonNullable<import('../definition.js').Codec['createDecoder']>} */
export const createPlainDecoder = (_shape, emit) =>
  frameCutter(FORM, (bytes, at) => emit(readReply(bytes, at)));

/**
 * @param {Buffer} bytes
 * @param {number} at of the body
 * @returns {any[][] | Error | null} null: a result without rows
 */
function readReply(bytes, at) {
  const opcode = bytes[at - HEAD_BYTES + 4];
  if (opcode === OPCODES.error) {
    const length = bytes.readUInt16BE(at + 4);
    return new Error(bytes.toString('utf8', at + 6, at + 6 + length));
  }
  if (opcode !== OPCODES.result) throw new Error(`opcode ${opcode} is no reply`);
  return bytes.readInt32BE(at) === ROWS ? readRows(bytes, at + 4) : null;
}

/** @param {Buffer} bytes @param {number} start of the metadata */
function readRows(bytes, start) {
  const flags = bytes.readInt32BE(start);
  const columns = bytes.readInt32BE(start + 4);
  let at = start + 8;
  if (flags & MORE_PAGES) at += 4 + bytes.readInt32BE(at);
  const skip = () => {
    at += 2 + bytes.readUInt16BE(at);
  };
  if (flags & GLOBAL_TABLE) {
    skip();
    skip();
  }
  /** @type {ReadCell[]} */
  const readers = [];
  for (let i = 0; i < columns; i += 1) {
    if (!(flags & GLOBAL_TABLE)) {
      skip();
      skip();
    }
    skip();
    const type = bytes.readUInt16BE(at);
    at += 2;
    const read = READERS[type];
    if (read === undefined) throw new Error(`type ${type}`);
    readers.push(read);
  }
  return readCells(bytes, at, readers);
}

/**
 * @param {Buffer} bytes
 * @param {number} start of the number of rows
 * @param {readonly ReadCell[]} readers by column
 */
function readCells(bytes, start, readers) {
  const rows = new Array(bytes.readInt32BE(start));
  let at = start + 4;
  for (let r = 0; r < rows.length; r += 1) {
    const row = new Array(readers.length);
    for (let i = 0; i < readers.length; i += 1) {
      const length = bytes.readInt32BE(at);
      at += 4;
      row[i] = length < 0 ? null : readers[i](bytes, at, length);
      if (length > 0) at += length;
    }
    rows[r] = row;
  }
  return rows;
}

/** Writes requests one after the other into memory that was there before. */
class Writer {
  /** @param {Buffer} target */
  constructor(target) {
    this.target = target;
    this.at = 0;
  }

  /** @param {number} opcode @param {number} stream @returns {number} where the frame begins */
  begin(opcode, stream) {
    const start = this.at;
    this.byte(VERSION);
    this.byte(0);
    this.short(stream);
    this.byte(opcode);
    this.at += 4;
    return start;
  }

  /** @param {number} start */
  end(start) {
    this.target.writeUInt32BE(this.at - start - HEAD_BYTES, start + 5);
  }

  /** @param {number} value */
  byte(value) {
    this.target[this.at] = value;
    this.at += 1;
  }

  /** @param {number} value */
  short(value) {
    this.at = this.target.writeUInt16BE(value, this.at);
  }

  /** @param {number} value */
  int(value) {
    this.at = this.target.writeInt32BE(value, this.at);
  }

  /** @param {Buffer} bytes */
  raw(bytes) {
    this.at += bytes.copy(this.target, this.at);
  }

  /** @param {string | number | Buffer} value */
  value(value) {
    if (typeof value === 'number') {
      this.int(4);
      this.int(value);
    } else if (typeof value === 'string') {
      const length = this.target.write(value, this.at + 4, 'utf8');
      this.int(length);
      this.at += length;
    } else {
      this.int(value.length);
      this.raw(value);
    }
  }

  timestamp() {
    this.at = this.target.writeBigInt64BE(BigInt(TIMESTAMP), this.at);
  }
}

/** @type {Record<string, () => import('../definition.js').Encoder>} */
export const PLAIN_ENCODERS = {
  'batch-4096': () => {
    const rows = batchRows();
    const id = statementId(STATEMENTS.insert);
    return (target) => {
      const writer = new Writer(target);
      const start = writer.begin(OPCODES.batch, 0);
      writer.byte(UNLOGGED);
      writer.short(rows.length);
      for (const row of rows) {
        writer.byte(1);
        writer.short(id.length);
        writer.raw(id);
        writer.short(row.length);
        for (const value of row) writer.value(value);
      }
      writer.short(LOCAL_ONE);
      writer.byte(BATCH_FLAGS);
      writer.timestamp();
      writer.end(start);
      return writer.at;
    };
  },
  'requests-1000': () => {
    const keys = requestKeys();
    const id = statementId(STATEMENTS.small);
    return (target) => {
      const writer = new Writer(target);
      for (const [i, key] of keys.entries()) {
        const start = writer.begin(OPCODES.execute, i);
        writer.short(id.length);
        writer.raw(id);
        writer.short(LOCAL_ONE);
        writer.byte(EXECUTE_FLAGS);
        writer.short(1);
        writer.value(key);
        writer.int(FETCH_SIZE);
        writer.timestamp();
        writer.end(start);
      }
      return writer.at;
    };
  },
};
