/**
 * Parses a select by one integer in place, for a fake server, which must reply faster than a driver
 * sends requests: a library creates two objects and their keys per request, at four times the cost.
 * Other requests are left to readPacket.
 */

import { CODE, KEY, PREFIX_BYTES } from './packet.js';

export class SelectReader {
  sync = 0;
  space = 0;
  key = 0;
  #at = 0;

  /**
   * @param {Buffer} bytes
   * @param {number} at start of a complete packet
   * @param {number} end end of the packet
   * @returns {boolean} whether it is one; sync, space and key are then set
   */
  read(bytes, at, end) {
    this.#at = at + PREFIX_BYTES;
    return this.#header(bytes) && this.#body(bytes) && this.#at === end;
  }

  /** @param {Buffer} bytes */
  #header(bytes) {
    let code = -1;
    for (let left = this.#map(bytes); left > 0; left -= 1) {
      const field = this.#uint(bytes);
      const value = this.#uint(bytes);
      if (field < 0 || value < 0) return false;
      if (field === KEY.code) code = value;
      else if (field === KEY.sync) this.sync = value;
    }
    return code === CODE.select;
  }

  /** @param {Buffer} bytes */
  #body(bytes) {
    this.key = -1;
    for (let left = this.#map(bytes); left > 0; left -= 1) {
      const field = this.#uint(bytes);
      if (field === KEY.key) {
        if (bytes[this.#at] !== 0x91) return false; // an array of one
        this.#at += 1;
        this.key = this.#uint(bytes);
      } else {
        const value = this.#uint(bytes);
        if (field < 0 || value < 0) return false;
        if (field === KEY.space) this.space = value;
      }
    }
    return this.key >= 0;
  }

  /** @param {Buffer} bytes @returns {number} entries of a short map; 0 for anything else */
  #map(bytes) {
    const code = bytes[this.#at];
    this.#at += 1;
    return code >= 0x80 && code < 0x90 ? code & 15 : 0;
  }

  /** @param {Buffer} bytes @returns {number} -1: not an unsigned integer of up to 32 bits */
  #uint(bytes) {
    const code = bytes[this.#at];
    const width = code < 0x80 ? 0 : code >= 0xcc && code <= 0xce ? 1 << (code - 0xcc) : -1;
    const from = this.#at + 1;
    this.#at = from + width;
    if (width <= 0) return width === 0 ? code : -1;
    let value = 0;
    for (let i = from; i < this.#at; i += 1) value = value * 256 + bytes[i];
    return value;
  }
}
