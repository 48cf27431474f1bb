/**
 * What an error of cassandra-driver comes to, in one line: its "All host(s) tried for query failed"
 * has the reasons of the hosts within, and an error of the server may be a Java exception.
 */

import { FULL_DISK } from './remedies.js';

/** Names that Cassandra and Java give to an error of writing. */
const NO_SPACE = /FSWriteError|FSDiskFull|No space left|InsufficientDiskSpace/i;

/**
 * @param {any} error
 * @returns {{ text: string, hint: string | undefined }}
 */
export function explainCassandra(error) {
  const [inner] = Object.values(error?.innerErrors ?? {});
  const [text] = String(inner?.message ?? error?.message ?? error).split('\n');
  // What it has in memory and could not write stays wrong until then.
  const hint = NO_SPACE.test(text) ? `${FULL_DISK}, then start it again` : undefined;
  return { text, hint };
}
