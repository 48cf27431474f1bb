/** Some commands to one Redis-like server, over a new connection. */

import { authWords, encodeCommand } from '../protocols/resp/command.js';
import { readReplies } from '../protocols/resp/reply.js';
import { ask } from './conversation.js';

/** @typedef {import('../protocols/resp/reply.js').RespReply} Reply */

/**
 * @param {import('../lib/types.js').Endpoint} endpoint
 * @param {import('../lib/types.js').Credentials} credentials
 * @param {readonly (readonly (string | number)[])[]} commands
 * @returns {Promise<{ answer: import('./conversation.js').Answer, login: Reply | null, replies:
 *   Reply[] }>} login: its reply, or null; replies: the received ones, empty if not parsable
 */
export async function askRedis(endpoint, credentials, commands) {
  const words = authWords(credentials);
  const all = words === null ? commands : [words, ...commands];
  const answer = await ask(endpoint, {
    send: Buffer.concat(all.map(encodeCommand)),
    // An invalid reply also ends the exchange.
    enough: (bytes) => (readReplies(bytes)?.length ?? all.length) >= all.length,
  });
  const replies = readReplies(answer.bytes) ?? [];
  const login = words === null ? null : (replies.shift() ?? null);
  return { answer, login, replies };
}
