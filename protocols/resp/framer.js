/**
 * Counts replies to GET: parses the header of a reply byte by byte, and skips its string.
 */

import { Framer, garbled } from '../framer.js';

const LF = 10;
const CR = 13;
const MINUS = 0x2d;
const ZERO = 0x30;
const COLON = 0x3a;
const DOLLAR = 0x24;
const UNDERSCORE = 0x5f;
/** Redis's own limit of a string, proto-max-bulk-len. */
const SIZE_MAX = 512 * 2 ** 20;

export class RespFramer extends Framer {
  kind = 0;
  size = 0;
  negative = false;
  /** Remaining bytes of the string, including its CR LF. */
  skip = 0;

  /** @param {Buffer} bytes @param {number} length @override */
  feed(bytes, length) {
    let at = 0;
    while (at < length) {
      if (this.skip > 0) {
        const step = Math.min(this.skip, length - at);
        this.skip -= step;
        at += step;
        if (this.skip === 0) this.replies += 1;
        continue;
      }
      const byte = bytes[at];
      at += 1;
      if (this.kind === 0) this.begin(byte);
      else if (byte === LF) this.endHeader();
      else if (this.kind === DOLLAR && byte !== CR) {
        if (byte === MINUS) this.negative = true;
        else if (byte >= ZERO && byte < COLON) this.size = this.size * 10 + byte - ZERO;
        else throw garbled('Redis', byte);
      }
    }
  }

  /** @param {number} byte */
  begin(byte) {
    if (byte !== DOLLAR && byte !== MINUS && byte !== UNDERSCORE) throw garbled('Redis', byte);
    this.kind = byte;
    this.size = 0;
    this.negative = false;
  }

  endHeader() {
    const { kind } = this;
    this.kind = 0;
    if (kind === DOLLAR && !this.negative) {
      if (this.size > SIZE_MAX) throw garbled('Redis', DOLLAR);
      if (this.size < this.minSize || this.size > this.valueSize) this.misses += 1;
      this.skip = this.size + 2;
      return;
    }
    if (kind === MINUS) this.errors += 1;
    else this.misses += 1;
    this.replies += 1;
  }
}
