/**
 * MySQL's protocol, as far as mysql2 and the wire loop ask: the handshake (any password is right),
 * a prepared select by key and the same as text, ping. Any other statement is answered with OK.
 */

import { PLACES } from '../../lib/dataset.js';
import {
  CAPABILITY,
  COMMAND,
  lengthEncoded,
  packet,
  readLengthEncoded,
  readPacket,
} from '../../protocols/mysql.js';
import { ReplyTable } from './table.js';

/** utf8mb4_unicode_ci */
const CHARSET = 224;
const TYPE = Object.freeze({ long: 0x03, double: 0x05, longlong: 0x08, varString: 0xfd });
const OK_PAYLOAD = Buffer.of(0, 0, 0, 2, 0, 0, 0);
const EOF_PAYLOAD = Buffer.of(0xfe, 0, 0, 2, 0);
const ROW_SEQUENCE = 4;

/**
 * @param {import('../../lib/types.js').Dataset} dataset
 * @returns {import('./server.js').StandIn}
 */
export function createMysql(dataset) {
  const column = columnDefinition(dataset.valueSize);
  const head = Buffer.concat([packet(1, Buffer.of(1)), packet(2, column), packet(3, EOF_PAYLOAD)]);
  const resultSet = (/** @type {Buffer[]} */ ...rows) =>
    Buffer.concat([
      head,
      ...rows.map((row, i) => packet(ROW_SEQUENCE + i, row)),
      packet(ROW_SEQUENCE + rows.length, EOF_PAYLOAD),
    ]);
  const encodeText = (/** @type {string} */ value) =>
    Buffer.concat([lengthEncoded(value.length), Buffer.from(value, 'latin1')]);
  const replies = {
    table: new ReplyTable(dataset, (value) =>
      resultSet(Buffer.concat([Buffer.of(0, 0), encodeText(value)])),
    ),
    none: resultSet(),
    prepared: preparedReply(column),
    ok: packet(1, OK_PAYLOAD),
    text: (/** @type {number} */ id) => resultSet(encodeText(dataset.value(id))),
  };
  return { greeting: greeting(), converse: () => new Conversation(replies) };
}

/** @param {number} valueSize */
function columnDefinition(valueSize) {
  const texts = ['def', PLACES.database, PLACES.table, PLACES.table, 'str', 'str'];
  const tail = Buffer.alloc(13);
  tail[0] = 12;
  tail.writeUInt16LE(CHARSET, 1);
  tail.writeUInt32LE(valueSize * 4, 3);
  tail[7] = TYPE.varString;
  const names = texts.map((text) => Buffer.concat([Buffer.of(text.length), Buffer.from(text)]));
  return Buffer.concat([...names, tail]);
}

/** @param {Buffer} column */
function preparedReply(column) {
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

/** No DEPRECATE_EOF: the form that every client reads. */
function greeting() {
  const { longPassword, connectWithDatabase, protocol41 } = CAPABILITY;
  const { transactions, secureConnection, pluginAuth } = CAPABILITY;
  const flags =
    longPassword | connectWithDatabase | protocol41 | transactions | secureConnection | pluginAuth;
  const salt = Buffer.from('standinstandinstandi', 'latin1');
  const low = Buffer.alloc(2);
  low.writeUInt16LE(flags & 0xffff);
  const high = Buffer.alloc(2);
  high.writeUInt16LE(flags >>> 16);
  return packet(
    0,
    Buffer.of(10),
    Buffer.from('5.5.5-10.11.0-MariaDB\0'),
    Buffer.of(1, 0, 0, 0),
    salt.subarray(0, 8),
    Buffer.of(0),
    low,
    Buffer.of(CHARSET, 2, 0),
    high,
    Buffer.of(salt.length + 1),
    Buffer.alloc(10),
    salt.subarray(8),
    Buffer.of(0),
    Buffer.from('mysql_native_password\0'),
  );
}

/**
 * @typedef {object} Replies
 * @property {ReplyTable} table
 * @property {Buffer} none
 * @property {Buffer} prepared
 * @property {Buffer} ok
 * @property {(id: number) => Buffer} text
 */

class Conversation {
  greeted = false;

  /** @param {Replies} replies */
  constructor(replies) {
    this.replies = replies;
  }

  /** @type {import('./server.js').Conversation['consume']} */
  consume(bytes, out) {
    let at = 0;
    for (;;) {
      const request = readPacket(bytes, at);
      if (request === null) return at;
      at = request.end;
      if (this.greeted) this.answer(request.payload, out);
      else {
        this.greeted = true;
        out.push(packet(request.sequence + 1, OK_PAYLOAD));
      }
    }
  }

  /** @param {Buffer} payload @param {import('./outbox.js').Outbox} out */
  answer(payload, out) {
    const { table, none, prepared, ok, text } = this.replies;
    switch (payload[0]) {
      case COMMAND.execute: {
        const id = readParameter(payload);
        if (table.has(id)) table.copy(id, out);
        else out.push(none);
        return;
      }
      case COMMAND.prepare:
        out.push(prepared);
        return;
      case COMMAND.query: {
        const sql = payload.toString('utf8', 1);
        const match = /where\s+id\s*=\s*'?(\d+)'?\s*$/i.exec(sql);
        if (match === null) out.push(ok);
        else out.push(table.has(Number(match[1])) ? text(Number(match[1])) : none);
        return;
      }
      case COMMAND.quit:
      case COMMAND.closeStatement:
        return; // they have no reply
      default:
        out.push(ok);
    }
  }
}

/**
 * @param {Buffer} payload command, statement (4), flags, iterations (4), NULL bits, 1, type (2)
 * @returns {number} the one parameter; NaN where it is none that is read here
 */
function readParameter(payload) {
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
