/**
 * Cuts the byte stream of a connection into reply lines. Bytes in, text out: one call per reply
 * with a text, the start and end of the reply in it, and flags. It knows neither sockets nor the
 * meaning of a reply.
 *
 * Fast because it works on whole chunks: all complete lines of a chunk become one string, so a
 * reply costs no call into C++. Lines are cut before bytes are decoded, so multi-byte characters
 * are never split. The start of an incomplete line stays in the space before the next chunk, so
 * most lines are never copied; a line longer than that space is collected in pieces and joined
 * once, hence linear for any length and any splitting.
 */

import { isAscii } from 'node:buffer';

import { protocolError } from './handlersocket-error.js';
import { ARE_BYTES, MAY_HAVE_ESCAPES, MAY_HAVE_NULLS } from './reply-values.js';

const LINE_FEED = 10;
/** Chunks up to this size are scanned byte by byte, which is cheaper than five calls into C++. */
const SMALL_BYTES = 256;
/** Maximum bytes of one read. */
const CHUNK_BYTES = 65536;
/**
 * Short replies are read in smaller chunks of about this many replies: requests released by them
 * are sent while the server processes the rest, instead of alternating waits.
 */
const CHUNK_REPLIES = 128;
const CHUNK_BYTES_MIN = 4096;
/** Space before the chunk for the start of a line; longer starts are collected in pieces. */
const CARRY_BYTES = 16384;
/** Maximum length of a string (2^29 - 24 characters). */
export const LINE_BYTES_MAX = 512 * 1024 * 1024 - 1024;

/** @typedef {(text: string, start: number, end: number, flags: number) => void} OnReply */

export class ReplyParser {
  /**
   * @param {OnReply} onReply called for each reply, in order; may throw; the rest of the chunk is
   *   then dropped, and the parser must be reset before further input
   * @param {{ lineBytesMax?: number }} [options]
   */
  constructor(onReply, { lineBytesMax = LINE_BYTES_MAX } = {}) {
    this.onReply = onReply;
    this.lineBytesMax = lineBytesMax;
    /** A column needs its bytes (Buffer, latin1), so text is not decoded as UTF-8. */
    this.keepBytes = false;
    this.memory = Buffer.allocUnsafeSlow(CARRY_BYTES + CHUNK_BYTES);
    /** Buffer for the next bytes of the stream. */
    this.target = this.memory.subarray(CARRY_BYTES);
    /** Bytes of an incomplete line, kept right before `target`. */
    this.carried = 0;
    /** @type {Buffer[]} the start of a long line */
    this.pieces = [];
    this.piecesBytes = 0;
  }

  /** @returns {number} bytes of an incomplete reply */
  get pendingBytes() {
    return this.carried + this.piecesBytes;
  }

  /** Discards an incomplete line, for a new stream. */
  reset() {
    this.carried = 0;
    this.pieces = [];
    this.piecesBytes = 0;
  }

  /**
   * Parses any bytes, for sources that cannot write into `target`.
   * @param {Uint8Array} bytes
   */
  push(bytes) {
    for (let at = 0; at < bytes.length; ) {
      const part = bytes.subarray(at, at + this.target.length);
      this.target.set(part);
      this.advance(part.length);
      at += part.length;
    }
  }

  /**
   * Adapts the size of the next reads to the replies.
   * @param {number} replyBytes their mean size
   * @returns {Buffer | undefined} the new target; undefined: unchanged
   */
  resizeTarget(replyBytes) {
    const bytes = this.piecesBytes > 0 ? CHUNK_BYTES : chunkBytes(replyBytes);
    if (bytes === this.target.length) return undefined;
    this.target = this.memory.subarray(CARRY_BYTES, CARRY_BYTES + bytes);
    return this.target;
  }

  /**
   * Parses the bytes written at the start of `target`.
   * @param {number} count
   * @throws {import('./handlersocket-error.js').HandlerSocketError} HS_PROTOCOL: a line is too long
   */
  advance(count) {
    if (count <= SMALL_BYTES && this.carried === 0 && this.piecesBytes === 0) {
      if (this.advanceSmall(CARRY_BYTES + count)) return;
    }
    const { memory } = this;
    const end = CARRY_BYTES + count;
    let start = CARRY_BYTES - this.carried;
    const last = memory.lastIndexOf(LINE_FEED, end - 1);
    // The carried part has no line feed, and bytes before it belong to earlier chunks.
    if (last < CARRY_BYTES) {
      this.keep(start, end);
      return;
    }
    if (this.piecesBytes > 0) {
      const first = memory.indexOf(LINE_FEED, CARRY_BYTES);
      this.endPieces(first + 1);
      start = first + 1;
    }
    this.carried = 0;
    if (start <= last) this.cutLines(memory.subarray(start, last + 1));
    this.keep(last + 1, end);
  }

  /**
   * Fast path for a few complete lines of plain ASCII without escapes and NULL, such as the reply
   * to a single find.
   * @param {number} end end of the bytes
   * @returns {boolean} false: not such lines; no effect
   */
  advanceSmall(end) {
    const { memory } = this;
    if (memory[end - 1] !== LINE_FEED) return false;
    for (let at = CARRY_BYTES; at < end; at += 1) {
      const byte = memory[at];
      if (byte > 0x7f || byte < 2) return false;
    }
    this.giveLines(memory.toString('latin1', CARRY_BYTES, end), 0);
    return true;
  }

  /**
   * @param {number} start start of an incomplete line in memory
   * @param {number} end
   */
  keep(start, end) {
    const length = end - start;
    if (this.piecesBytes === 0 && length <= CARRY_BYTES) {
      this.memory.copyWithin(CARRY_BYTES - length, start, end);
      this.carried = length;
      return;
    }
    if (this.piecesBytes + length > this.lineBytesMax) {
      throw protocolError(`a reply is longer than ${this.lineBytesMax} bytes`);
    }
    this.pieces.push(Buffer.from(this.memory.subarray(start, end)));
    this.piecesBytes += length;
    this.carried = 0;
  }

  /** @param {number} end offset after the line feed of the long line */
  endPieces(end) {
    this.pieces.push(this.memory.subarray(CARRY_BYTES, end));
    const line = Buffer.concat(this.pieces);
    this.pieces = [];
    this.piecesBytes = 0;
    this.cutLines(line);
  }

  /** @param {Buffer} bytes complete lines */
  cutLines(bytes) {
    let flags = bytes.includes(0) ? MAY_HAVE_NULLS : 0;
    if (bytes.includes(1)) flags |= MAY_HAVE_ESCAPES;
    let text;
    if (isAscii(bytes)) {
      text = bytes.toString('latin1');
    } else if (this.keepBytes) {
      text = bytes.toString('latin1');
      flags |= ARE_BYTES;
    } else {
      text = bytes.toString('utf8');
    }
    this.giveLines(text, flags);
  }

  /**
   * @param {string} text complete lines
   * @param {number} flags
   */
  giveLines(text, flags) {
    const { onReply } = this;
    for (let start = 0; start < text.length; ) {
      const end = text.indexOf('\n', start);
      onReply(text, start, end, flags);
      start = end + 1;
    }
  }
}

/**
 * @param {number} replyBytes
 * @returns {number} a power of two
 */
function chunkBytes(replyBytes) {
  const wanted = replyBytes * CHUNK_REPLIES;
  let bytes = CHUNK_BYTES_MIN;
  while (bytes < wanted && bytes < CHUNK_BYTES) bytes *= 2;
  return bytes;
}
