/**
 * The digest of a stored result, so that a damaged or edited file is detected. Not a signature:
 * anyone who changes a file can recompute it.
 */

import { createHash } from 'node:crypto';
import { packResult } from './packed-values.js';

/**
 * @param {Record<string, unknown>} document a result, as written or as read
 * @returns {string} SHA-256, in hexadecimal, of its JSON without the digest and without blanks
 */
export function digestOf({ digest: _own, ...document }) {
  return createHash('sha256').update(JSON.stringify(document)).digest('hex');
}

/**
 * @param {import('./result.js').Result} result
 * @returns {Record<string, unknown>} as stored in files: packed, with its digest
 */
export function sealResult(result) {
  const packed = packResult(result);
  return { ...packed, digest: digestOf(packed) };
}
