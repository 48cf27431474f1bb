/**
 * CQL's codecs, on Cassandra's replies and requests: what cassandra-driver does with a socket's
 * bytes, its reader without its streams, and a simple one.
 */

import { PacketFramer } from '../protocols/framer.js';
import { countReplies } from './counter.js';
import { loadReader, loadStreams } from './cql/driver.js';
import { createPlainDecoder, FORM, HEAD_BYTES, PLAIN_ENCODERS } from './cql/plain.js';
import { defineCodec } from './definition.js';

const protocol = 'cql';
const ENCODES = Object.freeze(['batch-4096', 'requests-1000']);
const DRIVER = 'cassandra-driver';

/** Counts frames by their length. */
class CqlFramer extends PacketFramer {
  constructor() {
    super(0, HEAD_BYTES);
  }

  /** @param {Buffer} bytes @param {number} at @override */
  begin(bytes, at) {
    this.skip = FORM.bodyBytes(bytes, at);
    return HEAD_BYTES;
  }

  /** @override */
  skipped() {
    this.replies += 1;
  }
}

export const codecs = [
  defineCodec({
    name: 'cassandra-driver',
    protocol,
    kind: 'driver',
    package: DRIVER,
    summary: 'cassandra-driver: three streams, a Row of named columns per row; its requests',
    encodes: ENCODES,
    load: loadStreams,
  }),
  defineCodec({
    name: 'cassandra-reader',
    protocol,
    kind: 'driver',
    package: DRIVER,
    summary: 'cassandra-driver’s FrameReader, Encoder and Row, frames cut by us: no streams',
    load: loadReader,
  }),
  defineCodec({
    name: 'cql-plain',
    protocol,
    kind: 'ours',
    summary: 'a simple codec: rows as arrays; requests written into the memory of the socket',
    encodes: ENCODES,
    load: () => ({ createDecoder: createPlainDecoder, encoders: PLAIN_ENCODERS }),
  }),
  defineCodec({
    name: 'cql-count',
    protocol,
    kind: 'bound',
    summary: 'skips frames by their length and decodes nothing',
    load: () => ({ createDecoder: () => countReplies(new CqlFramer()) }),
  }),
];
