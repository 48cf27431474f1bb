/** The part of HandlerSocket that its drivers use: auth, open index, ping, find by key. */

import { encodeError, encodeRows } from '../../protocols/handlersocket/answer.js';
import { ReplyTable } from './table.js';

const HT = 9;
const LF = 10;
const CR = 13;
const ZERO = 0x30;
const NINE = 0x39;
const DONE = encodeRows(1);
const BAD_COMMAND = encodeError(2, 'cmd');

/**
 * @param {import('../../lib/types.js').Dataset} dataset
 * @returns {import('./server.js').FakeServer}
 */
export function createHandlerSocket(dataset) {
  const table = new ReplyTable(dataset, (value) => encodeRows(1, [[value]]));
  return {
    greeting: null,
    converse: () => ({ consume: (bytes, out) => consume(table, bytes, out) }),
  };
}

/**
 * @param {ReplyTable} table
 * @param {Buffer} bytes
 * @param {import('./write-buffer.js').WriteBuffer} out
 */
function consume(table, bytes, out) {
  const { length } = bytes;
  let at = 0;
  while (at < length) {
    const lf = bytes.indexOf(LF, at);
    if (lf === -1) break;
    const first = bytes[at];
    if (first >= ZERO && first <= NINE) find(table, bytes, at, lf, out);
    else if (first === 0x50 || first === 0x41) out.push(DONE);
    else out.push(BAD_COMMAND);
    at = lf + 1;
  }
  return at;
}

/**
 * `index HT = HT 1 HT key`, with optional limit and offset.
 * @param {ReplyTable} table
 * @param {Buffer} bytes
 * @param {number} from
 * @param {number} to index of the LF
 * @param {import('./write-buffer.js').WriteBuffer} out
 */
function find(table, bytes, from, to, out) {
  let at = from;
  for (let tabs = 0; at < to && tabs < 3; at += 1) if (bytes[at] === HT) tabs += 1;
  let id = 0;
  for (; at < to && bytes[at] !== HT && bytes[at] !== CR; at += 1) {
    id = id * 10 + bytes[at] - ZERO;
  }
  if (table.has(id)) table.copy(id, out);
  else out.push(DONE);
}
