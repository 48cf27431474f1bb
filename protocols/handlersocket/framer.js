/**
 * Counts replies of HandlerSocket to a find of one row: a reply is a line. For values without
 * escaped bytes, like those of the dataset.
 */

import { Framer, garbled } from '../framer.js';

const LF = 10;
const ZERO = 0x30;
const NINE = 0x39;
/** Before the value of a reply: status, one column. */
const HEAD = '0\t1\t';

export class HandlerSocketFramer extends Framer {
  /** The first byte of the current line; -1 between lines. */
  first = -1;
  lineBytes = 0;

  /** @param {Buffer} bytes @param {number} length @override */
  feed(bytes, length) {
    const least = HEAD.length + this.minSize;
    const most = HEAD.length + this.valueSize;
    let at = 0;
    while (at < length) {
      if (this.first === -1) {
        this.first = bytes[at];
        if (this.first < ZERO || this.first > NINE) throw garbled('HandlerSocket', this.first);
      }
      const lf = bytes.indexOf(LF, at);
      if (lf === -1 || lf >= length) {
        this.lineBytes += length - at;
        return;
      }
      const size = this.lineBytes + lf - at;
      if (this.first !== ZERO) this.errors += 1;
      else if (size < least || size > most) this.misses += 1;
      this.replies += 1;
      this.first = -1;
      this.lineBytes = 0;
      at = lf + 1;
    }
  }
}
