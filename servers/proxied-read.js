/**
 * Sends one read through a proxy to check whether it reaches its Redis. PING is not sufficient:
 * nutcracker replies to it itself, even without Redis.
 */

import { askRedis } from './ask-redis.js';

export const PROBE_KEY = 'dragstrip:probe';

/**
 * @param {import('../lib/types.js').Endpoint} endpoint
 * @param {import('../lib/types.js').Credentials} [credentials]
 * @returns {Promise<{ answer: import('./conversation.js').Answer, reached: boolean,
 *   error: string | null }>} reached: the reply is a string or null; error: an
 *   error reply
 */
export async function readThrough(endpoint, credentials = {}) {
  const { answer, replies } = await askRedis(endpoint, credentials, [['GET', PROBE_KEY]]);
  const [reply] = replies;
  const error = reply?.error ?? null;
  const isValue = typeof reply?.value === 'string' || reply?.value === null;
  return { answer, reached: isValue && error === null, error };
}
