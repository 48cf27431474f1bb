/**
 * A rotating window over the body of a value: 32 windows cover it, and each can be compared without
 * the letters before it. The letters are drawn by a xorshift, which is linear over single bits: the
 * state n steps ahead is the exclusive or of one table entry for each byte of the state now
 * (H. Haramoto and others, "Efficient jump ahead for F2-linear random number generators", 2008).
 *
 * Any 32 replies in a row are compared in every position, whatever they are replies to; comparing
 * each of them whole would cost 1.3 ns per byte, more than the fastest drivers.
 */

/** Replies after which every position was compared; a power of two. */
export const WINDOWS = 32;
/** Letters that one step of the generator gives. */
const LETTERS_PER_STEP = 5;
const STATE_BITS = 32;

/**
 * One step of the generator (Marsaglia 2003: 13, 17, 5).
 * @param {number} state
 * @returns {number}
 */
function step(state) {
  let word = state ^ (state << 13);
  word ^= word >>> 17;
  return word ^ (word << 5);
}

/**
 * @typedef {object} ValueWindows
 * @property {Int32Array} from first letter of each window, counted from the begin of the body
 * @property {Int32Array} to behind its last letter
 * @property {Int32Array} jumps by window, byte of the state and value of that byte
 */

/**
 * @param {number} length letters of the body
 * @returns {ValueWindows}
 */
export function createValueWindows(length) {
  const steps = Math.ceil(Math.ceil(length / LETTERS_PER_STEP) / WINDOWS);
  const from = new Int32Array(WINDOWS);
  const to = new Int32Array(WINDOWS);
  const jumps = new Int32Array(WINDOWS * 4 * 256);
  const images = Int32Array.from({ length: STATE_BITS }, (_, bit) => 1 << bit);
  for (let window = 0; window < WINDOWS; window += 1) {
    from[window] = Math.min(length, window * steps * LETTERS_PER_STEP);
    to[window] = Math.min(length, (window + 1) * steps * LETTERS_PER_STEP);
    fillJump(jumps, window * 4 * 256, images);
    for (let bit = 0; bit < STATE_BITS; bit += 1) {
      for (let n = 0; n < steps; n += 1) images[bit] = step(images[bit]);
    }
  }
  return { from, to, jumps };
}

/**
 * @param {Int32Array} jumps
 * @param {number} at
 * @param {Int32Array} images of each bit of a state
 */
function fillJump(jumps, at, images) {
  for (let byte = 0; byte < 4; byte += 1) {
    for (let value = 1; value < 256; value += 1) {
      const low = 31 - Math.clz32(value & -value);
      const rest = jumps[at + byte * 256 + (value & (value - 1))];
      jumps[at + byte * 256 + value] = rest ^ images[byte * 8 + low];
    }
  }
}

/**
 * @param {ValueWindows} windows
 * @param {number} window
 * @param {number} state of the generator before the first letter
 * @param {string} text
 * @param {number} offset of the body in it
 * @param {Uint8Array} letters of the alphabet
 * @returns {boolean} whether all letters of the window are right
 */
export function windowMatches({ from, to, jumps }, window, state, text, offset, letters) {
  const end = offset + to[window];
  const base = window * 1024;
  let word =
    jumps[base + (state & 255)] ^
    jumps[base + 256 + ((state >>> 8) & 255)] ^
    jumps[base + 512 + ((state >>> 16) & 255)] ^
    jumps[base + 768 + (state >>> 24)];
  let at = offset + from[window];
  for (; at + LETTERS_PER_STEP <= end; at += LETTERS_PER_STEP) {
    word ^= word << 13;
    word ^= word >>> 17;
    word ^= word << 5;
    const isRight =
      text.charCodeAt(at) === letters[word >>> 26] &&
      text.charCodeAt(at + 1) === letters[(word >>> 20) & 63] &&
      text.charCodeAt(at + 2) === letters[(word >>> 14) & 63] &&
      text.charCodeAt(at + 3) === letters[(word >>> 8) & 63] &&
      text.charCodeAt(at + 4) === letters[(word >>> 2) & 63];
    if (!isRight) return false;
  }
  if (at === end) return true;
  word = step(word);
  for (let shift = 26; at < end; shift -= 6, at += 1) {
    if (text.charCodeAt(at) !== letters[(word >>> shift) & 63]) return false;
  }
  return true;
}
