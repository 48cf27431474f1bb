/**
 * The part of MySQL's protocol that mysql2 and the wire loop use: the handshake (any password is
 * accepted), a prepared select by key and the same as text, ping. Any other statement is answered
 * with OK.
 */

import { ROW_NAMES, VALUE_SIZE_MAX } from '../../lib/dataset.js';
import { encodeHandshake } from '../../protocols/mysql/handshake.js';
import { COMMAND, packet, readPacket } from '../../protocols/mysql/packet.js';
import {
  binaryRow,
  encodeColumn,
  encodePrepared,
  encodeResultSet,
  OK_PAYLOAD,
  readParameter,
  textRow,
} from '../../protocols/mysql/result-set.js';
import { ReplyTable } from './table.js';

/** utf8mb4_unicode_ci */
const CHARSET = 224;
const GREETING = encodeHandshake({
  version: '5.5.5-10.11.0-MariaDB',
  charset: CHARSET,
  salt: Buffer.from('fakeserverfakeserver', 'latin1'),
});

/**
 * @param {import('../../lib/types.js').Dataset} dataset
 * @returns {import('./server.js').FakeServer}
 */
export function createMysql(dataset) {
  const { database, table } = ROW_NAMES;
  const size = dataset.valueSize;
  const column = encodeColumn({ database, table, name: 'str', charset: CHARSET, size });
  const replies = {
    table: new ReplyTable(dataset, (value) => encodeResultSet(column, binaryRow(value))),
    none: encodeResultSet(column),
    prepared: encodePrepared(column),
    ok: packet(1, OK_PAYLOAD),
    text: (/** @type {number} */ id) => encodeResultSet(column, textRow(dataset.value(id))),
  };
  return { greeting: GREETING, converse: () => new Conversation(replies) };
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
      const request = readPacket(bytes, at, VALUE_SIZE_MAX);
      if (request === null) return at;
      at = request.end;
      if (this.greeted) this.answer(request.payload, out);
      else {
        this.greeted = true;
        out.push(packet(request.sequence + 1, OK_PAYLOAD));
      }
    }
  }

  /** @param {Buffer} payload @param {import('./write-buffer.js').WriteBuffer} out */
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
