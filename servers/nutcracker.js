/**
 * nutcracker (twemproxy), a proxy that shares a few Redis connections among many clients: how to
 * find, start and probe it. It is not a store and requires a running Redis.
 *
 * It listens on a TCP port and on a unix socket, and forwards each over the same transport, so that
 * a benchmark over unix sockets involves no TCP. Its settings are written to a private file at
 * every start, because they contain the
 * address and the password of that Redis.
 */

import { join } from 'node:path';
import { formatEndpoint } from '../lib/address.js';
import { defineServer } from '../lib/define.js';
import { targetError } from '../lib/errors.js';
import { findListener } from '../measure/listener.js';
import { readProgramName } from '../measure/program-name.js';
import { readProgramVersion } from './command.js';
import { ask } from './conversation.js';
import { SOCKET_PATH_MAX, startDaemon } from './daemon.js';
import { findBinaries } from './programs.js';
import { readThrough } from './proxied-read.js';
import { redisBehind, requireThrough, UNQUOTABLE } from './redis-behind.js';
import { writePrivate } from './secrets.js';

/** @typedef {import('../lib/types.js').Endpoint} Endpoint */
/** @typedef {import('../lib/types.js').Address} Address */

const NAME = 'nutcracker';
const HINT =
  'start one with `npx dragstrip servers start redis nutcracker`, or give its address with --proxy';
/** Memory per connection, as its documentation recommends for small requests. */
const CHUNK_BYTES = 16_384;

export default defineServer({
  name: NAME,
  summary: 'nutcracker (twemproxy): a proxy for Redis that shares connections',
  endpoints: {
    main: {
      default: '127.0.0.1:22121',
      env: 'DRAGSTRIP_PROXY',
      flag: 'proxy',
      summary: 'a proxy with the Redis protocol',
    },
  },
  // A proxy's password is that of its Redis (redis_auth).
  credentials: { user: 'DRAGSTRIP_REDIS_USER', password: 'DRAGSTRIP_REDIS_PASSWORD' },
  packages: ['nutcracker'],
  programs: ['nutcracker'],
  behind: ['redis'],

  find(home) {
    return findBinaries({ required: ['nutcracker'], home, server: NAME });
  },

  async start(context) {
    const { binaries } = context;
    const program = binaries.programs['nutcracker'];
    const { address: redis, password } = await redisBehind(context, NAME);
    return startDaemon(
      {
        name: NAME,
        version: await readProgramVersion(program, ['-V'], /nutcracker-(\S+)/, binaries.env),
        endpoints: ['main', 'stats'],
        // It asks its clients for the password of its Redis (redis_auth).
        secrets: password === undefined ? {} : { password },
        plan: (folder, ports) => planStart({ program, folder, password }, ports, redis),
        answers: async ({ main }) => (await readThrough(main, { password })).reached,
      },
      context,
    );
  },

  async probe({ main, stats }, credentials) {
    await requireThrough(main, credentials, HINT);
    const version = stats === undefined ? null : await readVersion(stats);
    const pid = await findListener(main);
    return { version: version ?? `or another proxy (${describe(pid)})`, settings: {}, pid };
  },
});

/**
 * @param {{ program: string, folder: string, password: string | undefined }} what password: of
 *   Redis
 * @param {Record<string, number>} ports
 * @param {Address} redis
 * @returns {import('./daemon.js').DaemonPlan}
 */
function planStart({ program, folder, password }, ports, redis) {
  const socket = join(folder, 'nutcracker.sock');
  const hasSocket = socket.length <= SOCKET_PATH_MAX && !UNQUOTABLE.test(socket);
  const near = redis['unix'];
  const unix = near?.path !== undefined && !UNQUOTABLE.test(near.path) ? near : redis.main;
  const file = join(folder, 'nutcracker.yml');
  const pools = [
    ...poolLines('tcp', `127.0.0.1:${ports['main']}`, redis.main, password),
    ...(hasSocket ? poolLines('unix', `${socket} 0700`, unix, password) : []),
  ];
  writePrivate(file, `${pools.join('\n')}\n`);
  return {
    program,
    args: [
      ...['--conf-file', file, '--pid-file', join(folder, 'nutcracker.pid')],
      // Log to standard error; statistics on loopback only.
      ...['--output', '/dev/stderr', '--stats-addr', '127.0.0.1'],
      ...['--stats-port', String(ports['stats']), '--mbuf-size', String(CHUNK_BYTES)],
    ],
    sockets: hasSocket ? { unix: socket } : {},
  };
}

/**
 * A pool in YAML's block style, the only one that nutcracker supports.
 * @param {string} name
 * @param {string} listen
 * @param {Endpoint} redis
 * @param {string | undefined} password
 * @returns {string[]}
 */
function poolLines(name, listen, redis, password) {
  const server = redis.path ?? formatEndpoint(redis);
  if (UNQUOTABLE.test(server)) {
    throw targetError(
      `nutcracker: paths with blanks or quotes are not supported (${server})`,
      'set DRAGSTRIP_HOME to a folder without them',
    );
  }
  return [
    `${name}:`,
    `  listen: ${listen}`,
    '  hash: fnv1a_64',
    '  distribution: ketama',
    '  redis: true',
    '  preconnect: true',
    // There is only one Redis to eject.
    '  auto_eject_hosts: false',
    '  backlog: 511',
    ...(password === undefined ? [] : [`  redis_auth: ${password}`]),
    '  servers:',
    `   - ${server}:1`,
  ];
}

/**
 * @param {number | null} pid
 * @returns {string} the name of its program, where that is known
 */
function describe(pid) {
  const name = pid === null ? null : readProgramName(pid);
  return name === null ? 'unknown version' : `${name}, unknown version`;
}

/**
 * The statistics port sends JSON to every connection.
 * @param {Endpoint} endpoint
 * @returns {Promise<string | null>}
 */
async function readVersion(endpoint) {
  const { bytes } = await ask(endpoint, { send: '', enough: (all) => all.includes('"uptime"') });
  return /"service":\s*"nutcracker".*?"version":\s*"([^"]+)"/.exec(bytes.toString())?.[1] ?? null;
}
