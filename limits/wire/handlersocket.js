/** HandlerSocket on the wire: a find of one row by its key. */

import { targetError } from '../../lib/errors.js';
import { decodeError, isSuccess, valueDecoder } from '../../packages/handlersocket/reply-values.js';
import { encodeAuth, encodeFind, encodeOpen } from '../../packages/handlersocket/request-lines.js';
import { garbled, tooLong } from '../../protocols/framer.js';
import { HandlerSocketFramer } from '../../protocols/handlersocket/framer.js';

const LF = 10;
/** Maximum length of an error line, in addition to the requested value. */
const LINE_BYTES_MAX = 1024;
const decodeValue = valueDecoder(['latin1']);

/** @type {import('./protocol.js').WireProtocol} */
export const handlersocket = {
  name: 'handlersocket',
  server: 'mariadb',
  endpoint: 'read',
  async greet(wire, { secret }, { database, table }) {
    if (secret !== undefined) {
      await request(wire, encodeAuth(secret), 'the server rejects the secret');
    }
    const definition = { database, table, columns: ['str'] };
    await request(wire, encodeOpen(0, definition), 'no index was opened');
    return null;
  },
  encode: (_session, id) => Buffer.from(encodeFind(0, { op: '=', key: [id] }), 'latin1'),
  createFramer: (_session, { valueSize, minSize }) => new HandlerSocketFramer(valueSize, minSize),
  read: (_session, bytes, at, valueSize) => readLine(bytes, at, valueSize),
};

/**
 * @param {import('./wire-socket.js').WireSocket} wire
 * @param {string} line
 * @param {string} failure
 */
async function request(wire, line, failure) {
  const reply = await wire.ask(Buffer.from(line, 'latin1'), (bytes) => readLine(bytes, 0));
  if (reply.error === null) return;
  throw targetError(
    `HandlerSocket: ${failure} (${reply.error})`,
    'fill it with "npx dragstrip seed mysql"; set the secret in DRAGSTRIP_HANDLERSOCKET_SECRET',
  );
}

/**
 * @param {Buffer} bytes
 * @param {number} at
 * @param {number} [valueSize]
 * @returns {import('./protocol.js').WireReply | null} null: incomplete
 */
function readLine(bytes, at, valueSize = 0) {
  const lf = bytes.indexOf(LF, at);
  if (lf === -1) {
    const limit = LINE_BYTES_MAX + valueSize;
    if (bytes.length - at > limit) throw tooLong('HandlerSocket', bytes.length - at, limit);
    return null;
  }
  const text = bytes.toString('latin1', at, lf);
  const reply = { end: lf + 1, id: null, value: null, error: null };
  try {
    if (isSuccess(text, 0, text.length)) {
      return { ...reply, value: decodeValue(text, 0, text.length, 0) ?? null };
    }
    const { code, message } = decodeError(text, 0, text.length);
    return { ...reply, error: `${code} ${message}` };
  } catch {
    throw garbled('HandlerSocket', bytes[at]);
  }
}
