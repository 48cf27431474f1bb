/**
 * Versions of rows: a mix writes values that identify the writer and its write, so that a read that
 * returns an older value than the last acknowledged one is detected. A version is the last twelve
 * letters of a value, which otherwise stays the row's own: four of the writer, four of the write,
 * four derived from row, writer and write, so that damage is not mistaken for a version.
 */

import { mix32 } from './random.js';

/** @typedef {{ writer: number, slot: number }} RowVersion */

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const FIELD = 4;
export const VERSION_LETTERS = 3 * FIELD;
/** Four letters of six bits. */
export const VERSION_MAX = 2 ** (6 * FIELD) - 1;

/** Six bits by character code; -1: not a letter of the alphabet. */
const BITS = new Int8Array(256).fill(-1);
for (let i = 0; i < ALPHABET.length; i += 1) BITS[ALPHABET.charCodeAt(i)] = i;

/** @param {number} field */
function lettersOf(field) {
  return (
    ALPHABET[(field >>> 18) & 63] +
    ALPHABET[(field >>> 12) & 63] +
    ALPHABET[(field >>> 6) & 63] +
    ALPHABET[field & 63]
  );
}

/**
 * @param {string} text
 * @param {number} at
 * @returns {number} negative: not letters of the alphabet
 */
function fieldAt(text, at) {
  let field = 0;
  for (let i = at; i < at + FIELD; i += 1) {
    const bits = BITS[text.charCodeAt(i) & 255];
    if (bits < 0) return -1;
    field = (field << 6) | bits;
  }
  return field;
}

/**
 * @param {number} id
 * @param {RowVersion} version
 */
function checkOf(id, { writer, slot }) {
  return mix32(mix32(id, writer), slot) & VERSION_MAX;
}

/**
 * @param {number} id id of the row
 * @param {RowVersion} version each 0 to VERSION_MAX
 * @returns {string} the last letters of its value
 */
export function formatVersion(id, version) {
  return lettersOf(version.writer) + lettersOf(version.slot) + lettersOf(checkOf(id, version));
}

/**
 * @param {number} id
 * @param {string} text the value of a row
 * @returns {RowVersion | null} null: it has none
 */
export function parseVersion(id, text) {
  const at = text.length - VERSION_LETTERS;
  const version = { writer: fieldAt(text, at), slot: fieldAt(text, at + FIELD) };
  return fieldAt(text, at + 2 * FIELD) === checkOf(id, version) ? version : null;
}
