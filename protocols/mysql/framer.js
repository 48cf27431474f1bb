/** Counts result sets of one column, by the head and the first byte of each packet. */

import { garbled, PacketFramer } from '../framer.js';
import { isEnd, MARK, PACKET_HEAD_BYTES, PAYLOAD_MAX } from './packet.js';

/** Header of a packet and the first byte of its payload, which determines its kind. */
const LOOK_BYTES = 5;

const FIRST = 0;
const COLUMNS = 1;
const COLUMNS_END = 2;
const ROWS = 3;

/** Reads each packet's head and first byte, and skips the rest of it. */
export class MysqlFramer extends PacketFramer {
  phase = FIRST;
  /** Sequence id of the next packet: each reply begins with 1. */
  sequence = 1;
  columns = 0;
  rows = 0;
  rowBytes = 0;
  /** The current packet continues the payload of the previous one. */
  continued = false;
  /** The skipped packet is the last one of its reply. */
  ending = false;

  /** @param {number} valueSize @param {boolean} deprecateEof @param {number} [minSize] */
  constructor(valueSize, deprecateEof, minSize = valueSize) {
    super(valueSize, LOOK_BYTES, minSize);
    this.deprecateEof = deprecateEof;
  }

  /**
   * An empty payload has no first byte: it ends a payload of PAYLOAD_MAX bytes.
   * @param {number} have
   * @override
   */
  isHead(have) {
    return have === PACKET_HEAD_BYTES && this.head.readUIntLE(0, 3) === 0;
  }

  /** @param {Buffer} bytes @param {number} at @override */
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

  /** @param {number} first first byte of the payload @param {number} size size of the payload */
  take(first, size) {
    if (size === 0) throw garbled('MySQL', 0);
    const isEof = isEnd(first, size, this.deprecateEof);
    if (first === MARK.error) this.end('error');
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
    if (first === MARK.ok) this.end('rows');
    else if (first > 250) throw garbled('MySQL', first);
    else {
      this.columns = first;
      this.phase = COLUMNS;
    }
  }

  /** @param {'error' | 'rows'} how */
  end(how) {
    if (how === 'error') this.errors += 1;
    else if (this.rows !== 1 || this.rowBytes <= this.minSize) this.misses += 1;
    this.phase = FIRST;
    this.sequence = 1;
    this.rows = 0;
    this.rowBytes = 0;
    // A reply counts when its last byte has arrived.
    this.ending = true;
    if (this.skip === 0) this.skipped();
  }

  /** @override */
  skipped() {
    if (!this.ending) return;
    this.ending = false;
    this.replies += 1;
  }
}
