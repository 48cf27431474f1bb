/**
 * Jumps ahead in a 32-bit xorshift sequence: the generator is linear over GF(2), so any number of
 * steps is one 32 × 32 bit matrix (Haramoto and others 2008), applied here by four table lookups.
 */

/** Entries per table: four bytes of 256 values. */
const ENTRIES = 1024;

/**
 * @param {number} word
 * @returns {number} the next state (Marsaglia 2003: 13, 17, 5)
 */
export function xorshift(word) {
  word ^= word << 13;
  word ^= word >>> 17;
  word ^= word << 5;
  return word;
}

/**
 * @param {number} count of tables
 * @param {number} steps between two tables
 * @returns {Int32Array[]} table k jumps k · steps ahead, see jump()
 */
export function jumpTables(count, steps) {
  const stride = power(steps);
  const tables = [];
  /** @type {Int32Array} */
  let matrix = identity();
  for (let k = 0; k < count; k += 1) {
    tables.push(toTable(matrix));
    matrix = multiply(stride, matrix);
  }
  return tables;
}

/**
 * @param {Int32Array} table
 * @param {number} word a state
 * @returns {number} the state of `table`'s number of steps later
 */
export function jump(table, word) {
  return (
    table[word & 255] ^
    table[256 + ((word >>> 8) & 255)] ^
    table[512 + ((word >>> 16) & 255)] ^
    table[768 + (word >>> 24)]
  );
}

/** A matrix is its 32 columns: what becomes of each bit. @returns {Int32Array} */
function identity() {
  return Int32Array.from({ length: 32 }, (_, bit) => 1 << bit);
}

/** @param {number} steps @returns {Int32Array} by squaring */
function power(steps) {
  /** @type {Int32Array} */
  let result = identity();
  /** @type {Int32Array} */
  let square = Int32Array.from(identity(), (bit) => xorshift(bit));
  for (let left = steps; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) result = multiply(square, result);
    square = multiply(square, square);
  }
  return result;
}

/** @param {Int32Array} a @param {Int32Array} b @returns {Int32Array} first b, then a */
function multiply(a, b) {
  return Int32Array.from(b, (word) => apply(a, word));
}

/** @param {Int32Array} matrix @param {number} word */
function apply(matrix, word) {
  let result = 0;
  for (let bit = 0; bit < 32; bit += 1) if ((word >>> bit) & 1) result ^= matrix[bit];
  return result;
}

/** @param {Int32Array} matrix */
function toTable(matrix) {
  const table = new Int32Array(ENTRIES);
  for (let byte = 0; byte < 4; byte += 1) {
    for (let value = 0; value < 256; value += 1) {
      table[byte * 256 + value] = apply(matrix, value << (8 * byte));
    }
  }
  return table;
}
