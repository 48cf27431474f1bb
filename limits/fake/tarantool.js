/**
 * The part of Tarantool that its drivers use: the greeting, the space by its name, select by key.
 */

import { ROW_NAMES, VALUE_SIZE_MAX } from '../../lib/dataset.js';
import { encodeGreeting } from '../../protocols/iproto/greeting.js';
import {
  CODE,
  encodeReply,
  KEY,
  packetBytes,
  REPLY_SYNC_OFFSET,
  readPacket,
  VSPACE,
} from '../../protocols/iproto/packet.js';
import { SelectReader } from '../../protocols/iproto/select.js';
import { ReplyTable } from './table.js';

const SPACE_ID = 512;
const OWNER_ID = 1;
const select = new SelectReader();
const GREETING = encodeGreeting('2.6.0 (Binary) 00000000-0000-4000-8000-000000000000');

/**
 * @param {import('../../lib/types.js').Dataset} dataset
 * @returns {import('./server.js').FakeServer}
 */
export function createTarantool(dataset) {
  const table = new ReplyTable(dataset, (value, id) => encodeReply([[id, value]]));
  const space = encodeReply([[SPACE_ID, OWNER_ID, ROW_NAMES.space]]);
  const none = encodeReply([]);
  return {
    greeting: GREETING,
    converse: () => ({ consume: (bytes, out) => consume({ table, space, none }, bytes, out) }),
  };
}

/**
 * @param {{ table: ReplyTable, space: Buffer, none: Buffer }} replies
 * @param {Buffer} bytes
 * @param {import('./write-buffer.js').WriteBuffer} out
 */
function consume({ table, space, none }, bytes, out) {
  let at = 0;
  for (;;) {
    const size = packetBytes(bytes, at, VALUE_SIZE_MAX);
    if (size === 0 || bytes.length - at < size) return at;
    if (select.read(bytes, at, at + size) && table.has(select.key)) {
      const { sync, key } = select;
      table.copy(key, out);
      out.patchUInt32(sync, table.offsets[key + 1] - table.offsets[key] - REPLY_SYNC_OFFSET);
    } else {
      const { header, body } = /** @type {NonNullable<ReturnType<typeof readPacket>>} */ (
        readPacket(bytes, at, VALUE_SIZE_MAX)
      );
      const isSpace = body[KEY.space] === VSPACE.id && body[KEY.key]?.[0] === ROW_NAMES.space;
      const other = isSpace && header[KEY.code] === CODE.select ? space : none;
      out.push(other);
      out.patchUInt32(header[KEY.sync], other.length - REPLY_SYNC_OFFSET);
    }
    at += size;
  }
}
