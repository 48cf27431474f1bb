/**
 * Where the commands have their keys in Redis: names under one prefix, and a key that marks them.
 */

export const PREFIX = 'dragstrip:commands:';
export const MARKER = `${PREFIX}owner`;

/** @type {import('../../lib/types.js').Namespace} */
export const namespace = Object.freeze({
  name: 'commands',
  redis: {
    prefix: PREFIX,
    marker: MARKER,
    // Those of keys.js.
    own: /^dragstrip:commands:(s\d{6}:)?((key|counter):\d{12}|list|range|set)$/,
  },
});

/** The name of the proxy among the servers. */
export const PROXY = 'nutcracker';
