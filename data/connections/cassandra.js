/** A connection to one node of Cassandra for namespaces and counts, with Dragstrip's errors. */

import { formatEndpoint } from '../../lib/address.js';
import { connectCassandra, explainCassandra } from '../../lib/cassandra.js';
import { targetError } from '../../lib/errors.js';

const CONNECT_TIMEOUT_MS = 5000;
/** Its driver reads tables of the cluster before the first query; a stopped server accepts. */
const HANDSHAKE_MS_MAX = 15_000;

/**
 * @param {import('../../lib/types.js').ConnectionContext} context
 * @param {number} readTimeout milliseconds, of a request
 * @returns {Promise<{ where: string, close: () => Promise<void>, ask(query: string, values?:
 *   unknown[]): Promise<import('cassandra-driver').types.ResultSet> }>} connection whose requests
 *   reject with E_TARGET
 * @throws {import('../../lib/errors.js').DragstripError} E_TARGET
 */
export async function openCassandra({ address: { main }, credentials }, readTimeout) {
  const where = `Cassandra at ${formatEndpoint(main)}`;
  const bounds = {
    connectTimeout: CONNECT_TIMEOUT_MS,
    readTimeout: Math.min(HANDSHAKE_MS_MAX, readTimeout),
  };
  const client = await connectCassandra(main, credentials, bounds).catch((error) => {
    throw explained(where, error);
  });
  return {
    where,
    ask: (query, values = []) =>
      client.execute(query, values, { readTimeout }).catch((error) => {
        throw explained(where, error);
      }),
    close: () => client.shutdown(),
  };
}

/**
 * @param {string} where
 * @param {Error} error error of the driver
 */
function explained(where, error) {
  const { text, hint } = explainCassandra(error);
  return targetError(`${where}: ${text}`, hint, error);
}
