/**
 * HAProxy before Redis, as a proxy without knowledge of the protocol: it forwards bytes, and each
 * client has a separate connection to Redis. Like nutcracker it has one thread.
 */

import { defineProxy } from './proxy.js';

/** Maximum connections of clients, with as many to Redis. */
const CONNECTIONS_MAX = 5000;

export default defineProxy({
  name: 'haproxy',
  summary: 'HAProxy: a proxy for Redis that passes bytes on (commands --proxy-binary haproxy)',
  endpoint: {
    default: '127.0.0.1:22122',
    env: 'DRAGSTRIP_HAPROXY',
    flag: 'proxy',
    summary: 'HAProxy in front of Redis',
  },
  hint: 'start one with `npx dragstrip servers start redis haproxy`',
  version: ['-v', /version (\S+)/],
  file: 'haproxy.cfg',
  settings: (listeners) => [
    ...['global', '  nbthread 1', `  maxconn ${CONNECTIONS_MAX}`],
    // Waiting for a lock may take long; benchmarks have their own time limit.
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
