/**
 * The base of all framers. A framer receives the bytes of a connection, in pieces of any size, and
 * counts replies; it copies and decodes nothing, for loops whose own cost must stay far below a
 * driver's. Parsers of complete replies are in the folder of each protocol.
 */

import { targetError } from '../lib/errors.js';

export class Framer {
  /** Complete replies of any kind. */
  replies = 0;
  /** Error replies among them. */
  errors = 0;
  /** Replies among them without a row of the dataset's size. */
  misses = 0;

  /**
   * @param {number} valueSize maximum bytes of a value
   * @param {number} [minSize] minimum bytes of a value; absent: all have the same size
   */
  constructor(valueSize, minSize = valueSize) {
    this.valueSize = valueSize;
    this.minSize = minSize;
  }

  /**
   * @param {Buffer} _bytes a buffer that may be longer and is reused afterwards
   * @param {number} _length number of new bytes in it
   * @throws {import('../lib/errors.js').DragstripError} E_TARGET if it is not a reply of the
   *   protocol
   */
  feed(_bytes, _length) {
    throw new TypeError('a subclass reads the protocol');
  }
}

/**
 * Frames a protocol with length-prefixed packets: reads the head of each packet, skips
 * the rest.
 */
export class PacketFramer extends Framer {
  #have = 0;
  /** Remaining bytes of the packet. */
  skip = 0;

  /**
   * @param {number} valueSize
   * @param {number} headBytes
   * @param {number} [minSize]
   */
  constructor(valueSize, headBytes, minSize = valueSize) {
    super(valueSize, minSize);
    this.head = Buffer.alloc(headBytes);
  }

  /** @param {Buffer} bytes @param {number} length @override */
  feed(bytes, length) {
    const { head } = this;
    let at = 0;
    while (at < length) {
      if (this.skip > 0) {
        const step = Math.min(this.skip, length - at);
        this.skip -= step;
        at += step;
        if (this.skip === 0) this.skipped();
      } else if (this.#have === 0 && length - at >= head.length) {
        at += this.begin(bytes, at);
      } else {
        head[this.#have] = bytes[at];
        this.#have += 1;
        at += 1;
        if (this.#have < head.length && !this.isHead(this.#have)) continue;
        this.#have = 0;
        this.begin(head, 0);
      }
    }
  }

  /**
   * @param {number} _have bytes in `head`, fewer than it holds
   * @returns {boolean} whether they form a complete head
   */
  isHead(_have) {
    return false;
  }

  /**
   * Inspects a head and sets `skip`.
   * @param {Buffer} _bytes
   * @param {number} _at
   * @returns {number} bytes of the head
   */
  begin(_bytes, _at) {
    throw new TypeError('a subclass reads the protocol');
  }

  /** Called at the end of a packet. */
  skipped() {
    throw new TypeError('a subclass reads the protocol');
  }
}

/**
 * @param {string} protocol
 * @param {number} byte the first unexpected byte
 * @returns {import('../lib/errors.js').DragstripError} E_TARGET
 */
export function garbled(protocol, byte) {
  const shown = byte.toString(16).padStart(2, '0');
  return targetError(
    `not the protocol of ${protocol} (byte 0x${shown} at the start of a message)`,
    'check whether the address belongs to a different server',
  );
}

/**
 * Bounds a length announced by a peer before anything is allocated or awaited.
 * @param {string} protocol
 * @param {number} length
 * @param {number} limit maximum that the request permits
 * @returns {import('../lib/errors.js').DragstripError} E_TARGET
 */
export function tooLong(protocol, length, limit) {
  return targetError(
    `${protocol}: announced length ${length} exceeds the requested maximum ${limit}`,
    'check whether the address belongs to a different server',
  );
}
