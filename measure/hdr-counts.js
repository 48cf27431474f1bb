/**
 * The counts of an HdrHistogram V2 payload, after decompression. Pure; measure/hdr.js has the outer
 * layers. Format: HdrHistogram by Gil Tene, AbstractHistogram.java (encodeIntoByteBuffer,
 * fillCountsArrayFromSourceBuffer) and ZigZagEncoding.java.
 */

import { DragstripError } from '../lib/errors.js';
import { LENGTH } from './histogram.js';

const COOKIE = 0x1c849303;
const COOKIE_MASK = ~0xf0;
/** Cookie, payload length, index offset, digits, lowest and highest value, ratio. */
const HEADER = 40;
const DIGITS = 3;
/** LEB128-64b9B: at most nine bytes of seven bits each, the ninth has eight. */
const WORD_BYTES_MAX = 9;

/** @param {string} why @param {unknown} [cause] */
export function refused(why, cause) {
  return new DragstripError('E_USAGE', `not a histogram written by Dragstrip: ${why}`, {
    hint: 'use a file written by --json or --out',
    cause,
  });
}

/**
 * @param {Buffer} plain
 * @returns {number[]} index, count, index, count … of the counts above 0, as Histogram.toSparse
 * @throws {DragstripError} E_USAGE: another format, unit or precision, or invalid counts
 */
export function readCounts(plain) {
  requireHeader(plain);
  const sparse = [];
  let index = 0;
  let total = 0;
  for (let at = HEADER; at < plain.length; ) {
    const { value, end } = readWord(plain, at);
    at = end;
    // A negative number is the length of a run of zeros.
    if (value < 0) index -= value;
    else {
      if (value > 0) sparse.push(index, value);
      index += 1;
      total += value;
    }
    if (index > LENGTH) throw refused('it has more counts than values');
    if (!Number.isSafeInteger(total)) throw refused('its counts are too large');
  }
  return sparse;
}

/** @param {Buffer} plain @throws {DragstripError} E_USAGE */
function requireHeader(plain) {
  if (plain.length < HEADER) throw refused('not HdrHistogram V2 (it is too short)');
  if ((plain.readInt32BE(0) & COOKIE_MASK) !== COOKIE) {
    throw refused('not HdrHistogram V2 (unexpected cookie)');
  }
  const digits = plain.readInt32BE(12);
  const unit = plain.readBigInt64BE(16);
  if (unit !== 1n || digits !== DIGITS) {
    throw refused(`unit ${unit} and ${digits} digits instead of unit 1 and 3 digits`);
  }
  if (plain.readInt32BE(4) !== plain.length - HEADER) throw refused('its length differs');
}

/**
 * ZigZag: the lowest bit is the sign. Values too large for a double are only compared with bounds.
 * @param {Buffer} bytes
 * @param {number} start
 * @returns {{ value: number, end: number }}
 */
function readWord(bytes, start) {
  const last = Math.min(bytes.length, start + WORD_BYTES_MAX) - 1;
  let word = 0;
  let scale = 1;
  for (let at = start; at <= last; at += 1) {
    const isEnd = bytes[at] < 0x80 || at === start + WORD_BYTES_MAX - 1;
    word += (bytes[at] & (isEnd ? 0xff : 0x7f)) * scale;
    if (isEnd) {
      const isNegative = (bytes[start] & 1) === 1;
      return { value: isNegative ? -(word + 1) / 2 : word / 2, end: at + 1 };
    }
    scale *= 128;
  }
  throw refused('it is truncated');
}
