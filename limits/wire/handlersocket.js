/**
 * HandlerSocket on the wire: a find of one row by its key; a reply is a line, counted by its LF.
 * HandlerSocket-Plugin-for-MySQL, docs-en/protocol.en.txt. Our values hold no byte that is escaped.
 */

import { PLACES } from '../../lib/dataset.js';
import { targetError } from '../../lib/errors.js';
import { Framer, garbled } from './framer.js';

const LF = 10;
const ZERO = 0x30;
const NINE = 0x39;
/** Before the value of a reply: status, one column. */
const HEAD = '0\t1\t';

export class HandlerSocketFramer extends Framer {
  /** The first byte of the line at hand; -1 between lines. */
  first = -1;
  lineBytes = 0;

  /** @param {Buffer} bytes @param {number} length @override */
  feed(bytes, length) {
    const wanted = HEAD.length + this.valueSize;
    let at = 0;
    while (at < length) {
      if (this.first === -1) {
        this.first = bytes[at];
        if (this.first < ZERO || this.first > NINE) throw garbled('HandlerSocket', this.first);
      }
      const lf = bytes.indexOf(LF, at);
      if (lf === -1 || lf >= length) {
        this.lineBytes += length - at;
        return;
      }
      if (this.first !== ZERO) this.errors += 1;
      else if (this.lineBytes + lf - at !== wanted) this.misses += 1;
      this.replies += 1;
      this.first = -1;
      this.lineBytes = 0;
      at = lf + 1;
    }
  }
}

/** @type {import('./protocol.js').WireProtocol} */
export const handlersocket = {
  name: 'handlersocket',
  server: 'mariadb',
  endpoint: 'read',
  async greet(link, { secret }) {
    const { database, table } = PLACES;
    if (secret !== undefined) {
      await request(link, `A\t1\t${secret}`, 'the server does not take the secret');
    }
    await request(link, `P\t0\t${database}\t${table}\tPRIMARY\tstr`, 'no index is opened');
    return null;
  },
  encode: (_session, id) => Buffer.from(`0\t=\t1\t${id}\n`, 'latin1'),
  createFramer: (_session, valueSize) => new HandlerSocketFramer(valueSize),
  read: (_session, bytes, at) => readLine(bytes, at),
};

/**
 * @param {import('./link.js').Link} link
 * @param {string} line
 * @param {string} failure
 */
async function request(link, line, failure) {
  const reply = await link.ask(Buffer.from(`${line}\n`), (bytes) => readLine(bytes, 0));
  if (reply.error === null) return;
  throw targetError(
    `HandlerSocket: ${failure} (${reply.error})`,
    'fill it with "dragstrip seed mysql"; a secret comes from DRAGSTRIP_HANDLERSOCKET_SECRET',
  );
}

/**
 * @param {Buffer} bytes
 * @param {number} at
 * @returns {import('./protocol.js').WireReply | null} null: not whole
 */
function readLine(bytes, at) {
  const lf = bytes.indexOf(LF, at);
  if (lf === -1) return null;
  const [status, , ...columns] = bytes.toString('latin1', at, lf).split('\t');
  const isError = status !== '0';
  return {
    end: lf + 1,
    id: null,
    value: isError ? null : (columns[0] ?? null),
    error: isError ? `${status} ${columns.join(' ')}`.trim() : null,
  };
}
