/** Counts replies of Tarantool to a select by key, by the length before each packet. */

import { garbled, PacketFramer } from '../framer.js';
import { PREFIX_BYTES } from './packet.js';

/** Bytes read: the length, the map, and the code, which always has five bytes. */
const HEAD_BYTES = 12;
/** The server writes every header in one form: 83, 00 CE code, 01 CF sync, 05 CE schema. */
const HEADER_BYTES = 23;
/** Minimum bytes of a reply with one tuple in addition to the value: header 23, body 7, tuple 3. */
const ROW_OVERHEAD_BYTES = 33;

export class IprotoFramer extends PacketFramer {
  /** @param {number} valueSize @param {number} [minSize] */
  constructor(valueSize, minSize = valueSize) {
    super(valueSize, HEAD_BYTES, minSize);
  }

  /** @param {Buffer} bytes @param {number} at @override */
  begin(bytes, at) {
    if (bytes[at] !== 0xce) throw garbled('Tarantool', bytes[at]);
    if (bytes[at + 5] !== 0x83 || bytes[at + 6] !== 0 || bytes[at + 7] !== 0xce) {
      throw garbled('Tarantool', bytes[at + 5]);
    }
    const size = bytes.readUInt32BE(at + 1);
    if (size < HEADER_BYTES) throw garbled('Tarantool', bytes[at + 4]);
    if (bytes.readUInt32BE(at + 8) !== 0) this.errors += 1;
    else if (size < ROW_OVERHEAD_BYTES + this.minSize) this.misses += 1;
    this.skip = PREFIX_BYTES + size - HEAD_BYTES;
    return HEAD_BYTES;
  }

  /** @override */
  skipped() {
    this.replies += 1;
  }
}
