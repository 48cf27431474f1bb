/**
 * nutcracker (twemproxy), a proxy in front of Redis that shares a few connections among many
 * clients: how to find, start and ask it. Not a store: it needs a Redis that runs.
 *
 * It listens twice, on a TCP port and on a unix socket, and goes on to Redis in the same way, so
 * that a test over unix sockets has no TCP in it. Its settings are written for each start into a
 * private file, because they hold the addresses of that Redis.
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatEndpoint, parseEndpoint } from '../lib/address.js';
import { defineServer } from '../lib/define.js';
import { targetError } from '../lib/errors.js';
import { findListener } from '../measure/listener.js';
import { readProgramVersion } from './command.js';
import { ask, nameKind, notThere } from './conversation.js';
import { SOCKET_PATH_MAX, startDaemon } from './daemon.js';
import { findBinaries } from './programs.js';
import { readThrough } from './proxied-read.js';
import { readRunning } from './record.js';

/** @typedef {import('../lib/types.js').Endpoint} Endpoint */
/** @typedef {import('../lib/types.js').Address} Address */

const NAME = 'nutcracker';
const REMEDY =
  'start one by `dragstrip servers start redis nutcracker`, or name its address by --proxy';
/** As its own documentation recommends where requests are small: a chunk of memory each. */
const CHUNK_BYTES = 16_384;

export default defineServer({
  name: NAME,
  summary: 'nutcracker (twemproxy): a proxy before Redis that shares its connections',
  endpoints: {
    main: {
      default: '127.0.0.1:22121',
      env: 'DRAGSTRIP_PROXY',
      flag: 'proxy',
      summary: 'a proxy that speaks Redis’ protocol',
    },
  },
  // A proxy that asks for a password asks for that of its Redis (redis_auth).
  credentials: { user: 'DRAGSTRIP_REDIS_USER', password: 'DRAGSTRIP_REDIS_PASSWORD' },
  packages: ['nutcracker'],
  programs: ['nutcracker'],
  behind: ['redis'],

  find(home) {
    return findBinaries({ required: ['nutcracker'], home, server: NAME });
  },

  async start(context) {
    const { binaries, home, behind } = context;
    const program = binaries.programs['nutcracker'];
    const redis = behind?.['redis'] ?? findRedis(home);
    return startDaemon(
      {
        name: NAME,
        version: await readProgramVersion(program, ['-V'], /nutcracker-(\S+)/, binaries.env),
        endpoints: ['main', 'stats'],
        plan: (folder, ports) => planStart(program, folder, ports, redis),
        answers: async ({ main }) => (await readThrough(main)).reached,
      },
      context,
    );
  },

  async probe({ main, stats }, credentials) {
    const { answer, reached, error } = await readThrough(main, credentials);
    const isOther = !reached && nameKind(answer.bytes) !== 'Redis';
    if (answer.end !== 'enough' || isOther) throw notThere('A proxy', main, answer, REMEDY);
    if (!reached) {
      throw targetError(
        `the proxy at ${formatEndpoint(main)} does not reach its Redis: it says ${quote(error ?? '')}`,
        'see that its Redis runs, and that its password, if any, is in DRAGSTRIP_REDIS_PASSWORD',
      );
    }
    const version = stats === undefined ? null : await readVersion(stats);
    return {
      version: version ?? 'or another proxy: it does not say',
      settings: {},
      pid: await findListener(main),
    };
  },
});

/**
 * @param {string} home
 * @returns {Address} of the Redis that the proxy goes on to: what the environment names, else our
 *   own; `main` by TCP where it listens there, and `unix` where it has a socket
 * @throws {import('../lib/errors.js').DragstripError} E_TARGET where none is known
 */
function findRedis(home) {
  const named = process.env['DRAGSTRIP_REDIS'];
  if (named) {
    if (process.env['DRAGSTRIP_REDIS_PASSWORD'] || process.env['DRAGSTRIP_REDIS_PASSWORD_FILE']) {
      throw targetError(
        'nutcracker: the Redis of DRAGSTRIP_REDIS asks for a password, which is written nowhere here',
        'start a proxy by hand (redis_auth in its file), and name it by --proxy',
      );
    }
    const [first, socket] = named.split(/,(?=unix:)/);
    return {
      main: parseEndpoint(first, 'DRAGSTRIP_REDIS'),
      ...(socket && { unix: parseEndpoint(socket, 'DRAGSTRIP_REDIS') }),
    };
  }
  const running = readRunning(home, 'redis');
  if (running === null) {
    throw targetError(
      'nutcracker: it needs a Redis to go on to, and none runs here',
      'run `dragstrip servers start redis nutcracker`, or name one by DRAGSTRIP_REDIS',
    );
  }
  return Object.fromEntries(
    Object.entries(running.address).map(([name, text]) => [name, parseEndpoint(text)]),
  );
}

/**
 * @param {string} program
 * @param {string} folder
 * @param {Record<string, number>} ports
 * @param {Address} redis
 * @returns {import('./daemon.js').DaemonPlan}
 */
function planStart(program, folder, ports, redis) {
  const socket = join(folder, 'nutcracker.sock');
  const hasSocket = socket.length <= SOCKET_PATH_MAX;
  const file = join(folder, 'nutcracker.yml');
  const pools = [
    ...poolLines('tcp', `127.0.0.1:${ports['main']}`, redis.main),
    ...(hasSocket ? poolLines('unix', `${socket} 0700`, redis['unix'] ?? redis.main) : []),
  ];
  writeFileSync(file, `${pools.join('\n')}\n`, { mode: 0o600 });
  return {
    program,
    args: [
      ...['--conf-file', file, '--pid-file', join(folder, 'nutcracker.pid')],
      // Its log is what it prints; its figures would else be open to the network.
      ...['--output', '/dev/stderr', '--stats-addr', '127.0.0.1'],
      ...['--stats-port', String(ports['stats']), '--mbuf-size', String(CHUNK_BYTES)],
    ],
    sockets: hasSocket ? { unix: socket } : {},
  };
}

/**
 * A pool in YAML's block style, the only one that nutcracker reads.
 * @param {string} name
 * @param {string} listen
 * @param {Endpoint} redis
 * @returns {string[]}
 */
function poolLines(name, listen, redis) {
  const server = redis.path ?? formatEndpoint(redis);
  if (/[\s#'"]/.test(listen.replace(/ 0700$/, '')) || /[\s#'"]/.test(server)) {
    throw targetError(
      `nutcracker: it cannot be told a path with blanks or quotes (${server})`,
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
    // One Redis: to put it aside after an error would leave none.
    '  auto_eject_hosts: false',
    '  backlog: 511',
    '  servers:',
    `   - ${server}:1`,
  ];
}

/** @param {string} text */
function quote(text) {
  return JSON.stringify(text.slice(0, 100));
}

/**
 * Whoever connects to the port of its figures is sent them as JSON.
 * @param {Endpoint} endpoint
 * @returns {Promise<string | null>}
 */
async function readVersion(endpoint) {
  const { bytes } = await ask(endpoint, { send: '', enough: (all) => all.includes('"uptime"') });
  return /"service":\s*"nutcracker".*?"version":\s*"([^"]+)"/.exec(bytes.toString())?.[1] ?? null;
}
