/**
 * Decoders of CQL, on Cassandra's replies: cassandra-driver's processing of a socket's bytes, and
 * its reader without its streams.
 */

import { PacketFramer } from '../protocols/framer.js';
import { FORM, HEAD_BYTES, loadReader, loadStreams } from './cassandra-driver.js';
import { countReplies } from './counter.js';
import { defineCodecs } from './definition.js';

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

export const codecs = defineCodecs('cql', [
  {
    name: 'cassandra-driver',
    package: DRIVER,
    summary: 'cassandra-driver: three streams, a Row of named columns per row',
    load: loadStreams,
  },
  {
    name: 'cassandra-reader',
    package: DRIVER,
    summary: 'cassandra-driver’s FrameReader, Encoder and Row, framed by Dragstrip: no streams',
    load: loadReader,
  },
  {
    name: 'cql-count',
    kind: 'bound',
    summary: 'skips frames by their length and decodes nothing',
    load: () => ({ createDecoder: () => countReplies(new CqlFramer()) }),
  },
]);
