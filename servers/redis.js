/**
 * Redis: how to find, start and probe it. Its settings are in redis.conf, which also serves for
 * manual starts.
 */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { formatEndpoint } from '../lib/address.js';
import { defineServer } from '../lib/define.js';
import { targetError } from '../lib/errors.js';
import { findListener } from '../measure/listener.js';
import { authWords, encodeCommand } from '../protocols/resp/command.js';
import { readProgramVersion } from './command.js';
import { ask, nameKind, notThere, PROBE_TIMEOUT_MS } from './conversation.js';
import { SOCKET_PATH_MAX, startDaemon } from './daemon.js';
import { findBinaries } from './programs.js';
import { randomSecret, writePrivate } from './secrets.js';

/** @typedef {import('../lib/types.js').Credentials} Credentials */
/** @typedef {import('../lib/types.js').Endpoint} Endpoint */

const CONFIGURATION = fileURLToPath(new URL('../redis.conf', import.meta.url));
const PING = encodeCommand(['PING']);
const LF = 10;
/** Rows of an earlier start are loaded first. */
const READY_TIMEOUT_MS = 120_000;
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
    const secrets = { password: randomSecret() };
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
        readyTimeoutMs: READY_TIMEOUT_MS,
        secrets,
        plan(folder, ports) {
          const configuration = writeConfiguration(folder, secrets.password);
          return planStart({ program, version, folder, configuration }, ports['main'], context);
        },
        answers: async ({ main }) => isReady(await login(main, secrets)),
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
 * @param {string} folder
 * @param {string} password
 * @returns {string} path of a private file: redis.conf and the hash of the password. Not an
 *   `include`, whose path is a pattern: a path of the user's may be one by accident
 */
function writeConfiguration(folder, password) {
  const path = join(folder, 'redis.conf');
  const settings = readFileSync(CONFIGURATION, 'utf8');
  const hash = createHash('sha256').update(password).digest('hex');
  // Not requirepass, which CONFIG GET tells in plain text to whoever may log in.
  writePrivate(path, `${settings}\nuser default on #${hash} ~* &* +@all\n`);
  return path;
}

/**
 * @param {{ program: string, version: string, folder: string, configuration: string }} what
 * @param {number} port
 * @param {{ owned: boolean }} context
 */
function planStart({ program, version, folder, configuration }, port, { owned }) {
  const socket = join(folder, 'redis.sock');
  const args = [configuration, '--port', String(port), '--dir', folder];
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
function login(endpoint, credentials) {
  const words = authWords(credentials) ?? ['PING'];
  return ask(endpoint, {
    send: Buffer.concat([encodeCommand(words), PING]),
    enough: (bytes) => bytes.filter((byte) => byte === LF).length === 2,
  });
}

/** @param {import('./conversation.js').Answer} answer */
function isReady({ bytes }) {
  return bytes.toString('latin1').endsWith('+PONG\r\n'); // not while it loads its rows
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
