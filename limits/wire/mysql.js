/**
 * MySQL's protocol on the wire: a prepared select executed for one row, framed by the packets of
 * its result set. The protocol's own convention is one command at a time; MariaDB reads the next
 * from its buffer when it has answered one, so that depth can be swept as for the others.
 */

import { PLACES } from '../../lib/dataset.js';
import { targetError } from '../../lib/errors.js';
import {
  CAPABILITY,
  COMMAND,
  nativePassword,
  PACKET_HEAD_BYTES,
  PAYLOAD_MAX,
  packet,
  readLengthEncoded,
  readPacket,
} from '../../protocols/mysql.js';
import { Framer, garbled } from './framer.js';

const SQL = `select str from ${PLACES.table} where id=?`;
/** utf8mb4_general_ci */
const CHARSET = 45;
const TYPE_LONGLONG = 0x08;
/** Head of a packet and the first byte of its payload, which says what it is. */
const LOOK_BYTES = 5;
const OK = 0x00;
const ERR = 0xff;
const EOF = 0xfe;
const NATIVE = 'mysql_native_password';

const FIRST = 0;
const COLUMNS = 1;
const COLUMNS_END = 2;
const ROWS = 3;

/** @typedef {{ statement: number, deprecateEof: boolean }} Session */

/** Looks at each packet's head and first byte, and skips the rest of it. */
export class MysqlFramer extends Framer {
  look = Buffer.alloc(LOOK_BYTES);
  lookBytes = 0;
  skip = 0;
  phase = FIRST;
  /** Of the next packet: each reply begins with 1. */
  sequence = 1;
  columns = 0;
  rows = 0;
  rowBytes = 0;
  /** The packet at hand carries on the payload of the one before. */
  continued = false;
  /** The packet that is skipped is the last one of its reply. */
  ending = false;

  /** @param {number} valueSize @param {boolean} deprecateEof */
  constructor(valueSize, deprecateEof) {
    super(valueSize);
    this.eofBelow = deprecateEof ? PAYLOAD_MAX : 9;
    this.deprecateEof = deprecateEof;
  }

  /** @param {Buffer} bytes @param {number} length @override */
  feed(bytes, length) {
    let at = 0;
    while (at < length) {
      if (this.skip > 0) {
        const step = Math.min(this.skip, length - at);
        this.skip -= step;
        at += step;
        if (this.skip === 0 && this.ending) this.count();
      } else if (this.lookBytes === 0 && length - at >= LOOK_BYTES) {
        at += this.begin(bytes, at);
      } else {
        this.look[this.lookBytes] = bytes[at];
        this.lookBytes += 1;
        at += 1;
        if (!this.isLooked()) continue;
        this.lookBytes = 0;
        this.begin(this.look, 0);
      }
    }
  }

  /** An empty payload has no first byte to wait for: it ends one of PAYLOAD_MAX bytes. */
  isLooked() {
    const isEmpty = this.lookBytes === PACKET_HEAD_BYTES && this.look.readUIntLE(0, 3) === 0;
    return this.lookBytes === LOOK_BYTES || isEmpty;
  }

  /**
   * @param {Buffer} bytes
   * @param {number} at
   * @returns {number} how many bytes were looked at
   */
  begin(bytes, at) {
    const size = bytes.readUIntLE(at, 3);
    if (bytes[at + 3] !== this.sequence) throw garbled('MySQL', bytes[at + 3]);
    this.sequence = (this.sequence + 1) & 0xff;
    const looked = size === 0 ? PACKET_HEAD_BYTES : LOOK_BYTES;
    const wasContinued = this.continued;
    this.continued = size === PAYLOAD_MAX;
    this.skip = PACKET_HEAD_BYTES + size - looked;
    if (wasContinued) this.rowBytes += size;
    else this.take(bytes[at + PACKET_HEAD_BYTES], size);
    return looked;
  }

  /** @param {number} first byte of the payload @param {number} size of it */
  take(first, size) {
    if (size === 0) throw garbled('MySQL', 0);
    const isEof = first === EOF && size < this.eofBelow;
    if (first === ERR) this.end('error');
    else if (this.phase === FIRST) this.takeFirst(first);
    else if (this.phase === COLUMNS) {
      this.columns -= 1;
      if (this.columns === 0) this.phase = this.deprecateEof ? ROWS : COLUMNS_END;
    } else if (this.phase === COLUMNS_END) {
      if (!isEof) throw garbled('MySQL', first);
      this.phase = ROWS;
    } else if (isEof) this.end('rows');
    else {
      this.rows += 1;
      this.rowBytes += size;
    }
  }

  /** @param {number} first */
  takeFirst(first) {
    if (first === OK) this.end('rows');
    else if (first > 250) throw garbled('MySQL', first);
    else {
      this.columns = first;
      this.phase = COLUMNS;
    }
  }

  /** @param {'error' | 'rows'} how */
  end(how) {
    if (how === 'error') this.errors += 1;
    else if (this.rows !== 1 || this.rowBytes <= this.valueSize) this.misses += 1;
    this.phase = FIRST;
    this.sequence = 1;
    this.rows = 0;
    this.rowBytes = 0;
    // A reply is one when its last byte is there.
    this.ending = true;
    if (this.skip === 0) this.count();
  }

  count() {
    this.ending = false;
    this.replies += 1;
  }
}

/** @type {import('./protocol.js').WireProtocol} */
export const mysql = {
  name: 'mysql',
  server: 'mariadb',
  endpoint: 'sql',
  async greet(link, { user = 'root', password }) {
    const hello = await link.ask(null, (bytes) => readPacket(bytes, 0));
    if (hello.payload[0] === ERR) throw refused(hello.payload);
    if (hello.payload[0] !== 10) throw garbled('MySQL', hello.payload[0]);
    const { salt, capabilities } = readHandshake(hello.payload);
    const deprecateEof = (capabilities & CAPABILITY.deprecateEof) !== 0;
    const answer = handshakeResponse({ user, password, salt, deprecateEof });
    await authenticate(link, packet(hello.sequence + 1, answer), password);
    return { statement: await prepare(link, deprecateEof), deprecateEof };
  },
  encode({ statement }, id) {
    const body = Buffer.alloc(22);
    body[0] = COMMAND.execute;
    body.writeUInt32LE(statement, 1);
    body.writeUInt32LE(1, 6); // iterations, always 1
    body[11] = 1; // the types of the parameters follow
    body[12] = TYPE_LONGLONG;
    body.writeUInt32LE(id, 14);
    return packet(0, body);
  },
  createFramer: ({ deprecateEof }, valueSize) => new MysqlFramer(valueSize, deprecateEof),
  read: ({ deprecateEof }, bytes, at) => readResultSet(bytes, at, deprecateEof),
};

/** @param {Buffer} payload of the server's first packet (protocol 10) */
function readHandshake(payload) {
  let at = payload.indexOf(0, 1) + 1 + 4; // version, connection id
  const first = payload.subarray(at, at + 8);
  at += 9;
  const low = payload.readUInt16LE(at);
  const high = payload.readUInt16LE(at + 5);
  const saltBytes = Math.max(13, payload[at + 7] - 8) - 1;
  at += 18;
  return {
    salt: Buffer.concat([first, payload.subarray(at, at + saltBytes)]),
    capabilities: (low | (high << 16)) >>> 0,
  };
}

/**
 * @param {{ user: string, password: string | undefined, salt: Buffer, deprecateEof: boolean
 *   }} options
 */
function handshakeResponse({ user, password, salt, deprecateEof }) {
  const { longPassword, connectWithDatabase, protocol41 } = CAPABILITY;
  const { transactions, secureConnection, pluginAuth } = CAPABILITY;
  const flags =
    longPassword |
    connectWithDatabase |
    protocol41 |
    transactions |
    secureConnection |
    pluginAuth |
    (deprecateEof ? CAPABILITY.deprecateEof : 0);
  const head = Buffer.alloc(32);
  head.writeUInt32LE(flags, 0);
  head.writeUInt32LE(PAYLOAD_MAX + 1, 4);
  head[8] = CHARSET;
  const token = nativePassword(password, salt);
  const texts = [`${user}\0`, `${PLACES.database}\0`, `${NATIVE}\0`].map((text) =>
    Buffer.from(text),
  );
  return Buffer.concat([head, texts[0], Buffer.of(token.length), token, texts[1], texts[2]]);
}

/**
 * @param {import('./link.js').Link} link
 * @param {Buffer} response
 * @param {string | undefined} password
 */
async function authenticate(link, response, password) {
  let reply = await link.ask(response, (bytes) => readPacket(bytes, 0));
  if (reply.payload[0] === EOF) {
    // The server wants another method: name, NUL, salt.
    const nul = reply.payload.indexOf(0, 1);
    const method = reply.payload.toString('latin1', 1, nul);
    if (method !== NATIVE) {
      throw targetError(
        `MySQL: the server wants the method ${method}, which is not spoken here`,
        `give the user ${NATIVE}, or use a server of "dragstrip servers start mariadb"`,
      );
    }
    const token = nativePassword(password, reply.payload.subarray(nul + 1, nul + 21));
    const answer = packet(reply.sequence + 1, token);
    reply = await link.ask(answer, (bytes) => readPacket(bytes, 0));
  }
  if (reply.payload[0] === ERR) throw refused(reply.payload);
}

/**
 * @param {import('./link.js').Link} link
 * @param {boolean} deprecateEof
 * @returns {Promise<number>} id of the statement
 */
async function prepare(link, deprecateEof) {
  const request = packet(0, Buffer.of(COMMAND.prepare), Buffer.from(SQL));
  const { payload } = await link.ask(request, (bytes) => readPacket(bytes, 0));
  if (payload[0] === ERR) throw refused(payload);
  // One parameter and one column are described, each list with its end where that is not left out.
  for (let left = deprecateEof ? 2 : 4; left > 0; left -= 1) {
    await link.ask(null, (bytes) => readPacket(bytes, 0));
  }
  return payload.readUInt32LE(1);
}

/** @param {Buffer} payload of an error packet */
function refused(payload) {
  return targetError(
    `MySQL: ${errorText(payload)}`,
    'fill it with "dragstrip seed mysql"; user and password come from the environment',
  );
}

/** @param {Buffer} payload: FF, code, in protocol 4.1 # and five letters of state, message */
function errorText(payload) {
  return `${payload.readUInt16LE(1)} ${payload.toString('utf8', payload[3] === 0x23 ? 9 : 3)}`;
}

/**
 * @param {Buffer} bytes
 * @param {number} at
 * @param {boolean} deprecateEof
 * @returns {import('./protocol.js').WireReply | null} null: not whole
 */
function readResultSet(bytes, at, deprecateEof) {
  const first = readPacket(bytes, at);
  if (first === null) return null;
  const none = { id: null, value: null, error: null };
  if (first.payload[0] === OK) return { ...none, end: first.end };
  if (first.payload[0] === ERR) {
    return { ...none, end: first.end, error: errorText(first.payload) };
  }
  let { end } = first;
  for (let left = first.payload[0] + (deprecateEof ? 0 : 1); left > 0; left -= 1) {
    const column = readPacket(bytes, end);
    if (column === null) return null;
    end = column.end;
  }
  /** @type {string | null} */
  let value = null;
  for (;;) {
    const row = readPacket(bytes, end);
    if (row === null) return null;
    end = row.end;
    const [mark] = row.payload;
    if (mark === ERR) return { ...none, end, error: errorText(row.payload) };
    if (mark === EOF && row.payload.length < (deprecateEof ? PAYLOAD_MAX : 9)) break;
    // A binary row: 00, one byte of NULL bits, the column.
    const { value: size, end: from } = readLengthEncoded(row.payload, 2);
    value = size === null ? null : row.payload.toString('latin1', from, from + size);
  }
  return { ...none, end, value };
}
