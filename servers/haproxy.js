/**
 * HAProxy before Redis, as a proxy that knows nothing of its protocol: bytes are passed on, and
 * each client has a connection of its own to Redis. Like nutcracker it has one thread.
 */

import { defineProxy } from './proxy.js';

/** Connections of clients; as many again go to Redis. */
const CONNECTIONS_MAX = 5000;

export default defineProxy({
  name: 'haproxy',
  summary: 'HAProxy: a proxy for Redis that passes bytes on (commands --proxy-binary haproxy)',
  endpoint: {
    default: '127.0.0.1:22122',
    env: 'DRAGSTRIP_HAPROXY',
    flag: 'proxy',
    summary: 'HAProxy before Redis',
  },
  hint: 'start one with `npx dragstrip servers start redis haproxy`',
  version: ['-v', /version (\S+)/],
  file: 'haproxy.cfg',
  settings: (listeners) => [
    ...['global', '  nbthread 1', `  maxconn ${CONNECTIONS_MAX}`],
    // A lock may be waited for a long time; a benchmark has a limit of its own.
    ...['defaults', '  mode tcp', '  timeout connect 10s', '  timeout client 1h'],
    ...['  timeout server 1h', '  option redispatch'],
    ...listeners.flatMap(({ name, listen, server }) => [
      `listen ${name}`,
      `  bind ${listen}${name === 'unix' ? ' mode 0700' : ''}`,
      `  server redis ${server}`,
    ]),
  ],
  // -db: in the foreground.
  args: (_folder, file) => ['-f', file, '-db'],
  readVersion: async () => 'unknown',
});
