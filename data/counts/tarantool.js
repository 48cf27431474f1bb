/**
 * Operations executed by a Tarantool, through a function of box.lua, since users may not call
 * box.stat. Operations of a function count individually, its call as one more; PING does not count.
 */

import { TarantoolConnection } from '../connections/tarantool.js';

const FUNCTION = 'dragstrip_executed';

/**
 * @param {import('../../lib/types.js').ConnectionContext} context
 * @returns {Promise<import('./index.js').Counter>}
 */
export async function openCounter(context) {
  const connection = await TarantoolConnection.connect(context);
  return {
    async read() {
      // Without the function, or the privilege to execute it, the message names both.
      const [identity, operations, errors] = await connection.call(FUNCTION);
      return { identity, operations, errors };
    },
    close: () => connection.close(),
  };
}
