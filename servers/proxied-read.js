/**
 * Sends one read through a proxy to check whether it reaches its Redis. PING would not: nutcracker
 * answers it itself, even without Redis.
 */

import { authWords, encodeCommand } from '../protocols/resp/command.js';
import { readReplies } from '../protocols/resp/reply.js';
import { ask } from './conversation.js';

const READ = encodeCommand(['GET', 'dragstrip:probe']);

/**
 * @param {import('../lib/types.js').Endpoint} endpoint
 * @param {import('../lib/types.js').Credentials} [credentials]
 * @returns {Promise<{ answer: import('./conversation.js').Answer, reached: boolean,
 *   error: string | null }>} reached: the reply is a string or null; error: an
 *   error reply
 */
export async function readThrough(endpoint, credentials = {}) {
  const login = authWords(credentials);
  const commands = login === null ? [READ] : [encodeCommand(login), READ];
  const answer = await ask(endpoint, {
    send: Buffer.concat(commands),
    enough: (bytes) => (readReplies(bytes)?.length ?? commands.length) >= commands.length,
  });
  const reply = readReplies(answer.bytes)?.[commands.length - 1];
  const error = reply?.error ?? null;
  const isValue = typeof reply?.value === 'string' || reply?.value === null;
  return { answer, reached: isValue && error === null, error };
}
