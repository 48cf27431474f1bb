/** Lines of RESP: a mark, text, CR LF; the lengths in them, bounded. */

import { garbled, tooLong } from '../framer.js';

const CR = 13;
const LF = 10;
/** Longer than any line that Redis writes, including error texts. */
const LINE_BYTES_MAX = 65_536;

/**
 * @param {Buffer} bytes
 * @param {number} at
 * @returns {{ mark: string, text: string, end: number } | null} text in latin1; null: incomplete
 * @throws {import('../../lib/errors.js').DragstripError} E_TARGET if it is not a line
 */
export function readLine(bytes, at) {
  const lf = bytes.indexOf(LF, at);
  if (lf === -1) {
    if (bytes.length - at > LINE_BYTES_MAX) throw garbled('Redis', bytes[at]);
    return null;
  }
  if (lf < at + 2 || bytes[lf - 1] !== CR) throw garbled('Redis', bytes[at]);
  const text = bytes.toString('latin1', at + 1, lf - 1);
  return { mark: String.fromCharCode(bytes[at]), text, end: lf + 1 };
}

/**
 * @param {Buffer} bytes
 * @param {number} at
 * @param {string} mark
 * @param {number} limit
 * @returns {{ length: number, end: number } | null} null: incomplete
 * @throws {import('../../lib/errors.js').DragstripError} E_TARGET: anything else
 */
export function readLength(bytes, at, mark, limit) {
  const line = readLine(bytes, at);
  if (line === null) return null;
  if (line.mark !== mark || !/^\d{1,15}$/.test(line.text)) throw garbled('Redis', bytes[at]);
  const length = Number(line.text);
  if (length > limit) throw tooLong('Redis', length, limit);
  return { length, end: line.end };
}
