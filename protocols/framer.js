/**
 * The base of all framers. A framer receives the bytes of a connection, in
 * pieces of any size, and counts replies; it copies and decodes nothing, for loops whose own cost
 * must stay far below a driver's. Parsers of complete replies are beside each protocol's framer.
 */

import { targetError } from '../lib/errors.js';

export class Framer {
  /** Whole replies of any kind. */
  replies = 0;
  /** Error replies among them. */
  errors = 0;
  /** Replies among them without a row of the dataset's size. */
  misses = 0;

  /**
   * @param {number} valueSize bytes of a value, at most
   * @param {number} [minSize] and at least; absent: all have as many
   */
  constructor(valueSize, minSize = valueSize) {
    this.valueSize = valueSize;
    this.minSize = minSize;
  }

  /**
   * @param {Buffer} _bytes a buffer that may be longer and is used again afterwards
   * @param {number} _length how many bytes of it are new
   * @throws {import('../lib/errors.js').DragstripError} E_TARGET if it is not a reply of the
   *   protocol
   */
  feed(_bytes, _length) {
    throw new TypeError('a subclass reads the protocol');
  }
}

/**
 * Of a protocol that says at the head of each packet how long it is: the head is looked at, the
 * rest is skipped.
 */
export class PacketFramer extends Framer {
  #have = 0;
  /** Bytes of the packet that are still to come. */
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
   * @returns {boolean} whether they are a head already
   */
  isHead(_have) {
    return false;
  }

  /**
   * Looks at a head and sets `skip`.
   * @param {Buffer} _bytes
   * @param {number} _at
   * @returns {number} bytes of it
   */
  begin(_bytes, _at) {
    throw new TypeError('a subclass reads the protocol');
  }

  /** The packet is over. */
  skipped() {
    throw new TypeError('a subclass reads the protocol');
  }
}

/**
 * @param {string} protocol
 * @param {number} byte the first one that does not fit
 * @returns {import('../lib/errors.js').DragstripError} E_TARGET
 */
export function garbled(protocol, byte) {
  const shown = byte.toString(16).padStart(2, '0');
  return targetError(
    `this is not the protocol of ${protocol} (byte 0x${shown} where a message begins)`,
    'see whether the address is that of another server',
  );
}

/**
 * A length that a peer announces is bounded before anything is allocated or waited for.
 * @param {string} protocol
 * @param {number} length
 * @param {number} limit the longest that the request can have asked for
 * @returns {import('../lib/errors.js').DragstripError} E_TARGET
 */
export function tooLong(protocol, length, limit) {
  return targetError(
    `${protocol}: a length of ${length} is announced where ${limit} is the most that was asked for`,
    'see whether the address is that of another server',
  );
}
