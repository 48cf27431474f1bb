/**
 * The digest of a stored result: a file that was damaged, or changed by hand, is not read as if it
 * were whole. Not a signature: who changes a file may compute it again.
 */

import { createHash } from 'node:crypto';
import { packResult } from './packed-values.js';

/**
 * @param {Record<string, unknown>} document a result, as it was written or as it was read
 * @returns {string} SHA-256, in hexadecimal, of its JSON without the digest and without blanks
 */
export function digestOf({ digest: _own, ...document }) {
  return createHash('sha256').update(JSON.stringify(document)).digest('hex');
}

/**
 * @param {import('./result.js').Result} result
 * @returns {Record<string, unknown>} as every file has it: packed, with its digest
 */
export function sealResult(result) {
  const packed = packResult(result);
  return { ...packed, digest: digestOf(packed) };
}
