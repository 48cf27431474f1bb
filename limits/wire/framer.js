/**
 * What the framers of all protocols have in common: the counts. A framer takes the bytes of a
 * connection, in pieces of any size, and counts replies; it copies and decodes nothing.
 */

import { targetError } from '../../lib/errors.js';

/** @typedef {(bytes: Buffer, length: number) => void} Feed the first `length` bytes of a buffer */

export class Framer {
  /** Replies that are whole, of any kind. */
  replies = 0;
  /** Of these, error replies. */
  errors = 0;
  /** Of these, replies without a row of the dataset's size. */
  misses = 0;

  /** @param {number} valueSize */
  constructor(valueSize) {
    this.valueSize = valueSize;
  }

  /**
   * @param {Buffer} _bytes a buffer that may be longer and is used again afterwards
   * @param {number} _length how many bytes of it are new
   * @throws {import('../../lib/errors.js').DragstripError} E_TARGET for what is no reply of the
   *   protocol
   */
  feed(_bytes, _length) {
    throw new TypeError('feed is the protocol’s');
  }
}

/**
 * @param {string} protocol
 * @param {number} byte
 * @returns {import('../../lib/errors.js').DragstripError}
 */
export function garbled(protocol, byte) {
  const shown = byte.toString(16).padStart(2, '0');
  return targetError(
    `what answers is no reply of ${protocol} (byte 0x${shown} where a reply begins)`,
    'see whether the address is that of another server',
  );
}
