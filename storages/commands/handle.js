/** What a handle that was opened for commands alone says to whoever asks it for rows. */

import { DragstripError } from '../../lib/errors.js';

/**
 * @param {import('../../lib/types.js').OpenContext} context
 * @param {NonNullable<import('../../lib/types.js').Handle['connect']>} connect
 * @returns {import('../../lib/types.js').Handle}
 */
export function commandHandle({ address }, connect) {
  return {
    address,
    connect,
    get() {
      throw new DragstripError('E_INTERNAL', 'it was opened for commands, and not for rows');
    },
    async close() {}, // whoever connects closes what it got
  };
}
