/**
 * Replies of one read, collected in one buffer and written at once. The buffer is reused if the
 * kernel accepted all of it; otherwise its bytes are still needed.
 */

const BYTES = 1024 * 1024;

export class WriteBuffer {
  #bytes = Buffer.allocUnsafeSlow(BYTES);
  #length = 0;

  /** @param {import('node:net').Socket} socket */
  constructor(socket) {
    this.socket = socket;
  }

  /**
   * Copies source[from..to). Returns the position of the copy, so that a reply can be completed
   * there.
   * @param {Buffer} source
   * @param {number} from
   * @param {number} to
   */
  append(source, from, to) {
    const size = to - from;
    if (this.#length + size > this.#bytes.length) {
      this.flush();
      if (size > this.#bytes.length) this.#bytes = Buffer.allocUnsafeSlow(size);
    }
    source.copy(this.#bytes, this.#length, from, to);
    this.#length += size;
  }

  /** @param {Buffer} bytes */
  push(bytes) {
    this.append(bytes, 0, bytes.length);
  }

  /**
   * Overwrites the last appended bytes with a number.
   * @param {number} value unsigned, 32 bits, big-endian
   * @param {number} fromEnd bytes before the end of the buffer
   */
  patchUInt32(value, fromEnd) {
    this.#bytes.writeUInt32BE(value, this.#length - fromEnd);
  }

  /** Writes the buffered bytes. */
  flush() {
    if (this.#length === 0) return;
    this.socket.write(this.#bytes.subarray(0, this.#length));
    if (this.socket.writableLength > 0) this.#bytes = Buffer.allocUnsafeSlow(BYTES);
    this.#length = 0;
  }
}
