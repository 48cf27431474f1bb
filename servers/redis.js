/**
 * Redis: how to find, start and probe it. Its settings are in redis.conf, which also serves for
 * manual starts.
 */

import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { formatEndpoint } from '../lib/address.js';
import { defineServer } from '../lib/define.js';
import { targetError } from '../lib/errors.js';
import { findListener } from '../measure/listener.js';
import { encodeCommand } from '../protocols/resp/command.js';
import { readProgramVersion } from './command.js';
import { ask, nameKind, notThere, PROBE_TIMEOUT_MS } from './conversation.js';
import { SOCKET_PATH_MAX, startDaemon } from './daemon.js';
import { findBinaries } from './programs.js';

/** @typedef {import('../lib/types.js').Credentials} Credentials */
/** @typedef {import('../lib/types.js').Endpoint} Endpoint */

const CONFIGURATION = fileURLToPath(new URL('../redis.conf', import.meta.url));
const PING = encodeCommand(['PING']);
const HINT = 'start one with `npx dragstrip servers start redis`, or give its address with --redis';
const SETTINGS = ['save', 'appendonly', 'appendfsync', 'maxmemory', 'io-threads', 'hz'];

export default defineServer({
  name: 'redis',
  summary: 'Redis: in-memory key-value store, RESP',
  endpoints: {
    main: {
      default: '127.0.0.1:6379',
      env: 'DRAGSTRIP_REDIS',
      flag: 'redis',
      summary: 'Redis, or a proxy with its protocol',
    },
  },
  credentials: { user: 'DRAGSTRIP_REDIS_USER', password: 'DRAGSTRIP_REDIS_PASSWORD' },
  packages: ['redis-server', 'redis-tools'],
  programs: ['redis-server'],

  find(home) {
    return findBinaries({
      required: ['redis-server'],
      optional: ['redis-cli', 'redis-benchmark'],
      home,
      server: 'redis',
    });
  },

  async start(context) {
    const program = context.binaries.programs['redis-server'];
    const version = await readProgramVersion(
      program,
      ['--version'],
      /\bv=(\S+)/,
      context.binaries.env,
    );
    return startDaemon(
      {
        name: 'redis',
        version,
        endpoints: ['main'],
        plan: (folder, ports) => planStart(program, version, folder, ports['main'], context.owned),
        answers: async ({ main }) => (await sniff(main)).end === 'enough',
      },
      context,
    );
  },

  async probe({ main }, credentials) {
    const answer = await sniff(main);
    if (answer.end !== 'enough' || nameKind(answer.bytes) !== 'Redis') {
      throw notThere('Redis', main, answer, HINT);
    }
    const { version, settings } = await readSettings(main, credentials);
    return { version, settings, pid: await findListener(main) };
  },
});

/**
 * @param {string} program
 * @param {string} version
 * @param {string} folder
 * @param {number} port
 * @param {boolean} owned
 */
function planStart(program, version, folder, port, owned) {
  const socket = join(folder, 'redis.sock');
  const args = [CONFIGURATION, '--port', String(port), '--dir', folder];
  /** @type {Record<string, string>} */
  const sockets = {};
  if (socket.length <= SOCKET_PATH_MAX) {
    args.push('--unixsocket', socket, '--unixsocketperm', '700');
    sockets['unix'] = socket;
  }
  // Persistent servers keep their rows over a restart: a snapshot at shutdown, never while running.
  // Requires Redis 7.
  if (!owned && Number.parseInt(version, 10) >= 7) args.push('--shutdown-on-sigterm', 'save');
  return { program, args, sockets };
}

/** @param {Endpoint} endpoint */
function sniff(endpoint) {
  return ask(endpoint, { send: PING, enough: (bytes) => bytes.includes('\n') });
}

/**
 * @param {Endpoint} endpoint
 * @param {Credentials} credentials
 */
async function readSettings(endpoint, credentials) {
  const { Redis } = await import('ioredis');
  const client = new Redis({
    ...endpoint,
    username: credentials.user,
    password: credentials.password,
    lazyConnect: true,
    protocol: 2,
    disableClientInfo: true,
    enableReadyCheck: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    connectTimeout: PROBE_TIMEOUT_MS,
    commandTimeout: PROBE_TIMEOUT_MS,
  });
  // A refused login closes the connection, which is all that connect() reports; the event has the
  // reason.
  /** @type {Error | null} */
  let reason = null;
  client.on('error', (error) => {
    reason ??= error;
  });
  try {
    await client.connect();
    return await readInfo(client);
  } catch (closed) {
    const error = reason ?? closed;
    throw targetError(
      `Redis at ${formatEndpoint(endpoint)}: ${error.message}`,
      /NOAUTH|WRONGPASS|AUTH|password/.test(error.message)
        ? 'set DRAGSTRIP_REDIS_PASSWORD or DRAGSTRIP_REDIS_PASSWORD_FILE'
        : HINT,
      error,
    );
  } finally {
    client.disconnect();
  }
}

/** @param {import('ioredis').Redis} client */
async function readInfo(client) {
  const info = await client.info('server');
  const version = /^redis_version:(\S+)/m.exec(info)?.[1] ?? 'unknown';
  /** @type {Record<string, string>} */
  const settings = {};
  for (const name of SETTINGS) {
    // CONFIG may be forbidden or renamed; the settings are then unknown.
    const reply = await client.config('GET', name).catch(() => []);
    const [, value] = /** @type {string[]} */ (reply);
    if (value !== undefined) settings[name] = value;
  }
  return { version, settings };
}
