/**
 * Tarantool on the wire: select of one tuple by its key, framed by the length before each packet.
 * https://www.tarantool.io/en/doc/latest/reference/internals/iproto/format/
 */

import { createHash } from 'node:crypto';
import { PLACES } from '../../lib/dataset.js';
import { targetError } from '../../lib/errors.js';
import { Decoder, encode, encodeMap } from '../../protocols/msgpack.js';
import { Framer, garbled } from './framer.js';

const GREETING_BYTES = 128;
const SELECT = 1;
const AUTH = 7;
/** The view of the spaces that this user may see, and its index by name. */
const VSPACE = 281;
const VSPACE_BY_NAME = 2;
/** What is read of a packet: its length, the map, and the code, always in five bytes. */
const HEAD_BYTES = 12;
/** Length prefix of a packet: 0xCE and 32 bits. */
const PREFIX_BYTES = 5;
/** Of a reply with one tuple, beside the value, at least: header 23, body 7, tuple 3. */
const ROW_OVERHEAD_BYTES = 33;

/** The server writes every header in the same form: 83 00 CE code, 01 CF sync, 05 CE schema. */
export class TarantoolFramer extends Framer {
  head = Buffer.alloc(HEAD_BYTES);
  headBytes = 0;
  skip = 0;

  /** @param {Buffer} bytes @param {number} length @override */
  feed(bytes, length) {
    let at = 0;
    while (at < length) {
      if (this.skip > 0) {
        const step = Math.min(this.skip, length - at);
        this.skip -= step;
        at += step;
        if (this.skip === 0) this.replies += 1;
      } else if (this.headBytes === 0 && length - at >= HEAD_BYTES) {
        this.begin(bytes, at);
        at += HEAD_BYTES;
      } else {
        this.head[this.headBytes] = bytes[at];
        this.headBytes += 1;
        at += 1;
        if (this.headBytes < HEAD_BYTES) continue;
        this.headBytes = 0;
        this.begin(this.head, 0);
      }
    }
  }

  /** @param {Buffer} bytes @param {number} at */
  begin(bytes, at) {
    if (bytes[at] !== 0xce) throw garbled('Tarantool', bytes[at]);
    if (bytes[at + 5] !== 0x83 || bytes[at + 6] !== 0 || bytes[at + 7] !== 0xce) {
      throw garbled('Tarantool', bytes[at + 5]);
    }
    const size = bytes.readUInt32BE(at + 1);
    if (bytes.readUInt32BE(at + 8) !== 0) this.errors += 1;
    else if (size < ROW_OVERHEAD_BYTES + this.valueSize) this.misses += 1;
    this.skip = PREFIX_BYTES + size - HEAD_BYTES;
  }
}

/** @type {import('./protocol.js').WireProtocol} the session is the id of the space */
export const tarantool = {
  name: 'tarantool',
  server: 'tarantool',
  endpoint: 'main',
  async greet(link, { user, password }) {
    const greeting = await link.ask(null, (bytes) => {
      if (bytes.length > 8 && bytes.toString('latin1', 0, 9) !== 'Tarantool') {
        throw garbled('Tarantool', bytes[0]);
      }
      return bytes.length < GREETING_BYTES ? null : { end: GREETING_BYTES, bytes };
    });
    if (user !== undefined) await authenticate(link, greeting.bytes, user, password ?? '');
    const select = encodeSelect(0, VSPACE, VSPACE_BY_NAME, PLACES.space);
    const reply = await link.ask(select, (bytes) => readPacket(bytes, 0));
    if (reply.tuple !== null) return reply.tuple[0];
    throw targetError(
      `Tarantool: there is no space ${PLACES.space}, or its user may not read it`,
      'fill it with "dragstrip seed tarantool"',
    );
  },
  // Replies may come in another order: each says which row it is for by its request's number.
  encode: (session, id) => encodeSelect(id, session, 0, id),
  createFramer: (_session, valueSize) => new TarantoolFramer(valueSize),
  read(_session, bytes, at) {
    const packet = readPacket(bytes, at);
    if (packet === null) return null;
    const { end, sync, tuple, error } = packet;
    return { end, id: sync, value: tuple === null ? null : tuple[1], error };
  },
};

/**
 * @param {number} sync
 * @param {number} space
 * @param {number} index
 * @param {number | string} key
 * @returns {Buffer}
 */
function encodeSelect(sync, space, index, key) {
  return encodePacket(SELECT, sync, [
    [0x10, space],
    [0x11, index],
    [0x12, 1],
    [0x13, 0],
    [0x14, 0],
    [0x20, Buffer.concat([Buffer.of(0x91), encode(key)])],
  ]);
}

/** @param {number} code @param {number} sync @param {[number, any][]} entries */
function encodePacket(code, sync, entries) {
  const body = Buffer.concat([
    encodeMap([
      [0, code],
      [1, sync],
    ]),
    encodeMap(entries),
  ]);
  const prefix = Buffer.alloc(PREFIX_BYTES, 0xce);
  prefix.writeUInt32BE(body.length, 1);
  return Buffer.concat([prefix, body]);
}

/**
 * @param {Buffer} bytes
 * @param {number} at
 * @returns {{ end: number, sync: number, tuple: any[] | null, error: string | null } | null}
 */
function readPacket(bytes, at) {
  if (bytes.length - at < PREFIX_BYTES) return null;
  if (bytes[at] !== 0xce) throw garbled('Tarantool', bytes[at]);
  const end = at + PREFIX_BYTES + bytes.readUInt32BE(at + 1);
  if (bytes.length < end) return null;
  const decoder = new Decoder(bytes.subarray(at + PREFIX_BYTES, end));
  const header = decoder.next();
  const body = decoder.at < end - at - PREFIX_BYTES ? decoder.next() : new Map();
  const isError = header.get(0) !== 0;
  return {
    end,
    sync: header.get(1),
    tuple: isError ? null : (body.get(0x30)?.[0] ?? null),
    error: isError ? String(body.get(0x31)) : null,
  };
}

/**
 * chap-sha1: SHA1(password) xor SHA1(first 20 bytes of salt + SHA1(SHA1(password))).
 * @param {import('./link.js').Link} link
 * @param {Buffer} greeting
 * @param {string} user
 * @param {string} password
 */
async function authenticate(link, greeting, user, password) {
  const sha1 = (/** @type {(Buffer | string)[]} */ ...parts) => {
    const hash = createHash('sha1');
    for (const part of parts) hash.update(part);
    return hash.digest();
  };
  const salt = Buffer.from(greeting.toString('latin1', 64, 108), 'base64').subarray(0, 20);
  const once = sha1(password);
  const mask = sha1(salt, sha1(once));
  const scramble = Buffer.from(once.map((byte, index) => byte ^ mask[index]));
  const head = Buffer.of(0xc4, scramble.length);
  const tuple = Buffer.concat([Buffer.of(0x92), encode('chap-sha1'), head, scramble]);
  const request = encodePacket(AUTH, 0, [
    [0x23, user],
    [0x21, tuple],
  ]);
  const { error } = await link.ask(request, (bytes) => readPacket(bytes, 0));
  if (error === null) return;
  throw targetError(`Tarantool: ${error}`, 'check the user and the password in the environment');
}
