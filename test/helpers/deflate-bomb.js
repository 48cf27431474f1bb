/** Deflated text that inflates without end, for tests of limits. */

import { constants, deflateRawSync } from 'node:zlib';

/**
 * A part that ends with a full flush refers to no other one, so it is deflated only once.
 * @param {number} mib
 * @returns {Buffer} so many MiB of blanks, deflated to a thousandth
 */
export function bombOf(mib) {
  const part = deflateRawSync(Buffer.alloc(2 ** 20, ' '), {
    finishFlush: constants.Z_FULL_FLUSH,
  });
  return Buffer.concat([...Array(mib).fill(part), deflateRawSync('')]);
}
