/**
 * HAProxy before Redis, as a proxy that knows nothing of its protocol: bytes are passed on, and
 * each client has a connection of its own to Redis. How to find, start and probe it.
 *
 * Like nutcracker it listens on a TCP port and on a unix socket, forwards each over the same
 * transport, and has one thread.
 */

import { join } from 'node:path';
import { formatEndpoint } from '../lib/address.js';
import { defineServer } from '../lib/define.js';
import { targetError } from '../lib/errors.js';
import { findListener } from '../measure/listener.js';
import { readProgramVersion } from './command.js';
import { SOCKET_PATH_MAX, startDaemon } from './daemon.js';
import { findBinaries } from './programs.js';
import { readThrough } from './proxied-read.js';
import { redisBehind, requireThrough, UNQUOTABLE } from './redis-behind.js';
import { writePrivate } from './secrets.js';

/** @typedef {import('../lib/types.js').Address} Address */
/** @typedef {import('../lib/types.js').Endpoint} Endpoint */

const NAME = 'haproxy';
const HINT = 'start one with `npx dragstrip servers start redis haproxy`';
/** Connections of clients; as many again go to Redis. */
const CONNECTIONS_MAX = 5000;

export default defineServer({
  name: NAME,
  summary: 'HAProxy: a proxy for Redis that passes bytes on (commands --proxy-binary haproxy)',
  endpoints: {
    main: {
      default: '127.0.0.1:22122',
      env: 'DRAGSTRIP_HAPROXY',
      flag: 'proxy',
      summary: 'HAProxy before Redis',
    },
  },
  credentials: { user: 'DRAGSTRIP_REDIS_USER', password: 'DRAGSTRIP_REDIS_PASSWORD' },
  packages: ['haproxy'],
  programs: ['haproxy'],
  behind: ['redis'],

  find(home) {
    return findBinaries({ required: ['haproxy'], home, server: NAME });
  },

  async start(context) {
    const { binaries } = context;
    const program = binaries.programs['haproxy'];
    const { address: redis, password } = await redisBehind(context, NAME);
    return startDaemon(
      {
        name: NAME,
        version: await readProgramVersion(program, ['-v'], /version (\S+)/, binaries.env),
        endpoints: ['main'],
        secrets: password === undefined ? {} : { password },
        plan: (folder, ports) => planStart(program, folder, ports, redis),
        answers: async ({ main }) => (await readThrough(main, { password })).reached,
      },
      context,
    );
  },

  async probe({ main }, credentials) {
    await requireThrough(main, credentials, HINT);
    return { version: 'unknown', settings: {}, pid: await findListener(main) };
  },
});

/**
 * @param {string} program
 * @param {string} folder
 * @param {Record<string, number>} ports
 * @param {Address} redis
 * @returns {import('./daemon.js').DaemonPlan}
 */
function planStart(program, folder, ports, redis) {
  const socket = join(folder, 'haproxy.sock');
  const hasSocket = socket.length <= SOCKET_PATH_MAX && !UNQUOTABLE.test(socket);
  const near = redis['unix'];
  const unix = near?.path !== undefined && !UNQUOTABLE.test(near.path) ? near : redis.main;
  const file = join(folder, 'haproxy.cfg');
  const lines = [
    ...['global', '  nbthread 1', `  maxconn ${CONNECTIONS_MAX}`],
    // A lock may be waited for a long time; a benchmark has a limit of its own.
    ...['defaults', '  mode tcp', '  timeout connect 10s', '  timeout client 1h'],
    ...['  timeout server 1h', '  option redispatch'],
    ...listenLines('tcp', `127.0.0.1:${ports['main']}`, redis.main),
    ...(hasSocket ? listenLines('unix', `${socket} mode 0700`, unix) : []),
  ];
  writePrivate(file, `${lines.join('\n')}\n`);
  return {
    program,
    // -db: in the foreground.
    args: ['-f', file, '-db'],
    sockets: hasSocket ? { unix: socket } : {},
  };
}

/**
 * @param {string} name
 * @param {string} bind
 * @param {Endpoint} redis
 * @returns {string[]}
 */
function listenLines(name, bind, redis) {
  const server = redis.path ?? formatEndpoint(redis);
  if (UNQUOTABLE.test(server)) {
    throw targetError(
      `haproxy: paths with blanks or quotes are not supported (${server})`,
      'set DRAGSTRIP_HOME to a folder without them',
    );
  }
  return [`listen ${name}`, `  bind ${bind}`, `  server redis ${server}`];
}
