/**
 * A Tarantool connection for loaders and namespaces: calls of stored functions, with rows encoded
 * straight from the dataset; https://www.tarantool.io/en/doc/latest/dev_guide/internals/box_protocol/
 * Not the driver that is raced: that one encodes through objects and hangs with much in flight.
 */

import { createHash } from 'node:crypto';
import { targetError } from '../../lib/errors.js';
import {
  Decoder,
  encode,
  encodeMap,
  writeArrayHead,
  writeStringHead,
  writeUint,
} from '../../protocols/msgpack.js';
import { Link } from './link.js';

const GREETING_BYTES = 128;
/** Request codes, and the keys of bodies. */
const CODE = Object.freeze({ select: 1, replace: 3, auth: 7, call: 10 });
const KEY = Object.freeze({
  space: 0x10,
  index: 0x11,
  limit: 0x12,
  offset: 0x13,
  iterator: 0x14,
  key: 0x20,
  tuple: 0x21,
  name: 0x22,
  user: 0x23,
  data: 0x30,
  error: 0x31,
});
/** The view of all spaces that the user may see, and its index by name. */
const VSPACE = 281;
const VSPACE_BY_NAME = 2;
/** Of a packet: its length and its header. */
const HEAD_BYTES = 14;
/** Of a call of rows: the head, the map, the function's name, the first id, heads of arrays. */
const CALL_OVERHEAD_BYTES = 160;
/** Of a space's name behind the rows, with its head. */
const SPACE_BYTES_MAX = 37;
/** Head of a string. */
const VALUE_OVERHEAD_BYTES = 5;

/** Requests may be answered in any order: each has a number, `sync`. */
export class TarantoolLink extends Link {
  sync = 0;
  greeted = false;

  /**
   * @param {import('../../lib/types.js').ConnectionContext} context
   * @returns {Promise<TarantoolLink>} connected and authenticated
   * @throws {import('../../lib/errors.js').DragstripError} E_TARGET, E_ABORTED
   */
  static async connect({ address, credentials, signal, timeoutMs }) {
    const link = new TarantoolLink({
      what: 'Tarantool',
      endpoint: address.main,
      signal,
      timeoutMs,
    });
    try {
      await link.greet(credentials);
      return link;
    } catch (error) {
      link.close();
      throw error;
    }
  }

  /**
   * @param {import('../../lib/types.js').Credentials} credentials without a user: guest
   * @returns {Promise<void>} connected, and authenticated where there are credentials
   */
  async greet({ user, password }) {
    // The greeting comes unasked; it is waited for as the reply to a request without bytes.
    const salt = this.request(0, Buffer.alloc(0));
    salt.catch(() => {});
    await this.opened();
    if (user === undefined) {
      await salt;
      return;
    }
    const scramble = scrambled(await salt, password ?? '');
    const head = Buffer.of(0xc4, scramble.length);
    const tuple = Buffer.concat([Buffer.of(0x92), encode('chap-sha1'), head, scramble]);
    await this.send(CODE.auth, [
      [KEY.user, user],
      [KEY.tuple, tuple],
    ]);
  }

  /**
   * @param {string} name of a stored function
   * @param {any[]} [values] its arguments
   * @returns {Promise<any>} the first value it returns
   * @throws {import('../../lib/errors.js').DragstripError} E_TARGET with the server's message
   */
  async call(name, values = []) {
    const [first] = await this.send(CODE.call, [
      [KEY.name, name],
      [KEY.tuple, values],
    ]);
    return first;
  }

  /**
   * @param {string} name
   * @returns {Promise<number | null>} id of a space that this user may see
   */
  async spaceId(name) {
    const [tuple] = await this.select(VSPACE, VSPACE_BY_NAME, [name]);
    return tuple?.[0] ?? null;
  }

  /**
   * @param {number} space
   * @param {number} index a unique one
   * @param {any[]} key whole
   * @returns {Promise<any[][]>} the tuple, if there is one
   */
  select(space, index, key) {
    return this.send(CODE.select, [
      [KEY.space, space],
      [KEY.index, index],
      [KEY.limit, 1],
      [KEY.offset, 0],
      [KEY.iterator, 0],
      [KEY.key, key],
    ]);
  }

  /** @param {number} space @param {any[]} tuple */
  replace(space, tuple) {
    return this.send(CODE.replace, [
      [KEY.space, space],
      [KEY.tuple, tuple],
    ]);
  }

  /** @param {number} code @param {[number, any][]} entries */
  send(code, entries) {
    this.sync += 1;
    const head = Buffer.allocUnsafe(HEAD_BYTES);
    writeHead(head, code, this.sync);
    const packet = Buffer.concat([head, encodeMap(entries)]);
    packet.writeUInt32BE(packet.length - 5, 1);
    return this.request(this.sync, packet);
  }

  /**
   * Encodes a call name(first, {value, …}), with as many values as the buffer takes. To be sent by
   * sendRows before any other request.
   * @param {string} name
   * @param {import('../../lib/types.js').Dataset} dataset
   * @param {Buffer} buffer of rowBufferBytes or more
   * @param {number} first
   * @param {string} [space] where to, as a third argument
   * @returns {{ length: number, next: number }}
   */
  encodeRows(name, dataset, buffer, first, space) {
    this.sync += 1;
    let at = writeHead(buffer, CODE.call, this.sync);
    at = buffer.writeUInt8(0x82, at);
    at = buffer.writeUInt8(KEY.name, at);
    at = writeStringHead(buffer, at, name.length);
    at += buffer.write(name, at, 'latin1');
    at = buffer.writeUInt8(KEY.tuple, at);
    at = buffer.writeUInt8(space === undefined ? 0x92 : 0x93, at);
    at = writeUint(buffer, at, first);
    const countAt = at;
    at += 5;
    let id = first;
    const tail = space === undefined ? 0 : SPACE_BYTES_MAX;
    const limit = buffer.length - dataset.valueSize - VALUE_OVERHEAD_BYTES - tail;
    for (; id <= dataset.rows && at <= limit; id += 1) {
      at = writeStringHead(buffer, at, dataset.valueSize);
      at = dataset.write(id, buffer, at);
    }
    writeArrayHead(buffer, countAt, id - first);
    if (space !== undefined) {
      at = writeStringHead(buffer, at, space.length);
      at += buffer.write(space, at, 'latin1');
    }
    buffer.writeUInt32BE(at - 5, 1);
    return { length: at, next: id };
  }

  /**
   * @param {Uint8Array} bytes what encodeRows wrote last
   * @returns {Promise<any>}
   */
  sendRows(bytes) {
    return this.request(this.sync, bytes);
  }

  /** @param {Buffer} bytes @override */
  consume(bytes) {
    let at = 0;
    if (!this.greeted) {
      if (bytes.length >= 9 && bytes.toString('latin1', 0, 9) !== 'Tarantool') {
        throw this.garbled(bytes);
      }
      if (bytes.length < GREETING_BYTES) return 0;
      this.greeted = true;
      this.settle(0, null, Buffer.from(bytes.toString('latin1', 64, 108), 'base64'));
      at = GREETING_BYTES;
    }
    while (bytes.length - at >= 5) {
      if (bytes[at] !== 0xce) throw this.garbled(bytes.subarray(at));
      const end = at + 5 + bytes.readUInt32BE(at + 1);
      if (end > bytes.length) {
        this.need = end - at;
        break;
      }
      this.reply(bytes.subarray(at + 5, end));
      at = end;
    }
    return at;
  }

  /** @param {Buffer} packet */
  reply(packet) {
    let header;
    let body;
    try {
      const decoder = new Decoder(packet);
      header = decoder.next();
      body = decoder.at < packet.length ? decoder.next() : new Map();
    } catch {
      throw this.garbled(packet);
    }
    const code = header.get(0);
    const sync = header.get(1);
    if (!this.waiting.has(sync)) throw this.garbled(packet);
    if (code === 0) this.settle(sync, null, body.get(KEY.data) ?? []);
    else this.settle(sync, this.refusal(code & 0x7fff, body.get(KEY.error)));
  }

  /** @param {number} code of Tarantool's errcode.h @param {string} message */
  refusal(code, message) {
    return targetError(`${this.where} answered ${JSON.stringify(message)}`, REMEDIES[code]);
  }
}

/**
 * @param {number} valueSize
 * @returns {number} what a buffer for encodeRows must have for one row
 */
export function rowBufferBytes(valueSize) {
  return CALL_OVERHEAD_BYTES + VALUE_OVERHEAD_BYTES + valueSize;
}

const BOX = 'start it from our box.lua (`dragstrip servers start tarantool`)';

/** @type {Record<number, string>} by error code */
const REMEDIES = {
  2: 'raise memtx_memory in box.lua, or choose fewer --rows or a smaller --value-size',
  7: 'name a server that takes writes',
  33: BOX,
  42: BOX,
  45: 'check the user in the environment',
  47: 'check the password in the environment',
  110: 'raise memtx_max_tuple_size in box.lua, or choose a smaller --value-size',
};

/** @param {Buffer} packet @param {number} code @param {number} sync */
function writeHead(packet, code, sync) {
  packet[0] = 0xce;
  packet[5] = 0x82;
  packet[6] = 0x00;
  packet[7] = code;
  packet[8] = 0x01;
  packet[9] = 0xce;
  return packet.writeUInt32BE(sync, 10);
}

/**
 * chap-sha1: SHA1(password) xor SHA1(first 20 bytes of salt + SHA1(SHA1(password))).
 * @param {Buffer} salt
 * @param {string} password
 */
function scrambled(salt, password) {
  const sha1 = (/** @type {(Buffer | string)[]} */ ...parts) => {
    const hash = createHash('sha1');
    for (const part of parts) hash.update(part);
    return hash.digest();
  };
  const once = sha1(password);
  const mask = sha1(salt.subarray(0, 20), sha1(once));
  return Buffer.from(once.map((byte, index) => byte ^ mask[index]));
}
