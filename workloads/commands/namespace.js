/** Keys of the commands in Redis: names with a common prefix, and a key that marks them. */

export const PREFIX = 'dragstrip:commands:';
export const MARKER = `${PREFIX}owner`;

/** @type {import('../../lib/types.js').Namespace} */
export const namespace = Object.freeze({
  name: 'commands',
  redis: {
    prefix: PREFIX,
    marker: MARKER,
    // Kinds of keys.js.
    own: /^dragstrip:commands:(s\d{6}:)?((key|counter):\d{12}|list|range|set)$/,
  },
});

/**
 * Access without a login to a temporary Redis behind a proxy: only the commands of the tests on
 * their keys.
 */
export const GUEST = Object.freeze({
  prefix: PREFIX,
  commands: 'ping get set incr lpush lpop sadd spop lrange mset'.split(' '),
});

/** The name of the proxy among the servers. */
export const PROXY = 'nutcracker';
