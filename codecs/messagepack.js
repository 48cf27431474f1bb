/**
 * MessagePack's codecs, on Tarantool's replies and requests: npm packages, and tarantool-driver's
 * use of one.
 */

import { createRequire } from 'node:module';
import { IprotoFramer } from '../protocols/iproto/framer.js';
import { countReplies } from './counter.js';
import { defineCodecs } from './definition.js';
import { packetDecoder } from './messagepack/packets.js';
import { selectEncoder } from './messagepack/requests.js';
import { loadTarantoolDriver } from './messagepack/tarantool-driver.js';
import { batchRows } from './rows.js';

/** @type {(name: string) => any} untyped modules, or modules with untyped internals */
const requireModule = createRequire(import.meta.url);
const ENCODES = Object.freeze(['batch-4096', 'requests-1000']);

/**
 * @param {(value: any) => Uint8Array} pack
 * @returns {Record<string, () => import('./definition.js').Encoder>}
 */
function encodersBy(pack) {
  return {
    'batch-4096': () => {
      const rows = batchRows();
      return (target) => {
        const bytes = pack(rows);
        target.set(bytes);
        return bytes.length;
      };
    },
    'requests-1000': () => selectEncoder(pack),
  };
}

/** @returns {import('./definition.js').Codec} */
function loadMsgpackr() {
  const { Packr } = requireModule('msgpackr');
  // Plain MessagePack, since Tarantool does not support its extension for objects of one shape.
  const packr = new Packr({ useRecords: false, int64AsType: 'number' });
  return {
    createDecoder: packetDecoder((packet) => {
      const [header, body] = packr.unpackMultiple(packet);
      return { header, body };
    }),
    encoders: encodersBy((value) => packr.pack(value)),
  };
}

/** @returns {import('./definition.js').Codec} */
function loadMsgpackLite() {
  const { Decoder, encode } = requireModule('msgpack-lite');
  const decoder = new Decoder();
  return {
    createDecoder: packetDecoder((packet) => {
      decoder.buffer = packet;
      decoder.offset = 0;
      const header = decoder.fetch();
      return { header, body: decoder.fetch() };
    }),
    encoders: encodersBy(encode),
  };
}

/** @returns {import('./definition.js').Codec} */
function loadMsgpackJavascript() {
  const { Decoder, Encoder } = requireModule('@msgpack/msgpack');
  const decoder = new Decoder();
  const encoder = new Encoder();
  return {
    createDecoder: packetDecoder((packet) => {
      const [header, body] = decoder.decodeMulti(packet);
      return { header, body };
    }),
    // The next call reuses the memory, so the bytes are copied before.
    encoders: encodersBy((value) => encoder.encodeSharedRef(value)),
  };
}

export const codecs = defineCodecs('messagepack', [
  {
    name: 'tarantool-driver',
    package: 'tarantool-driver',
    summary: 'tarantool-driver: its handler of data, its parser over msgpack-lite, its select',
    encodes: ['requests-1000'],
    load: loadTarantoolDriver,
  },
  {
    name: 'msgpack-lite',
    package: 'msgpack-lite',
    summary: 'msgpack-lite by itself, packets framed by Dragstrip',
    encodes: ENCODES,
    load: loadMsgpackLite,
  },
  {
    name: 'msgpackr',
    package: 'msgpackr',
    summary: 'msgpackr, packets framed by Dragstrip; long strings by its native part, if installed',
    encodes: ENCODES,
    load: loadMsgpackr,
  },
  {
    name: 'msgpack-javascript',
    package: '@msgpack/msgpack',
    summary: '@msgpack/msgpack, packets framed by Dragstrip',
    encodes: ENCODES,
    load: loadMsgpackJavascript,
  },
  {
    name: 'messagepack-count',
    kind: 'bound',
    summary: 'the framer of the server ceiling: skips packets by their length and decodes nothing',
    load: () => ({ createDecoder: () => countReplies(new IprotoFramer(0)) }),
  },
]);
