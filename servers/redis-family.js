/**
 * Servers with the protocol and settings of Redis: how to find, start and probe them. Their
 * settings are in redis.conf, which also serves for manual starts.
 */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { formatEndpoint } from '../lib/address.js';
import { defineServer } from '../lib/define.js';
import { targetError } from '../lib/errors.js';
import { findServer } from '../measure/listener.js';
import { encodeCommand } from '../protocols/resp/command.js';
import { askRedis } from './ask-redis.js';
import { certificatesIn } from './certificates.js';
import { readProgramVersion } from './command.js';
import { ask, nameKind, notThere } from './conversation.js';
import { startDaemon } from './daemon.js';
import { findBinaries } from './programs.js';
import { PROBE_KEY } from './proxied-read.js';
import { OWN_USER, randomSecret, writePrivate } from './secrets.js';

/** @typedef {import('../lib/types.js').Credentials} Credentials */
/** @typedef {import('../lib/types.js').Endpoint} Endpoint */

export const CONFIGURATION = fileURLToPath(new URL('../redis.conf', import.meta.url));
const PING = encodeCommand(['PING']);
/** Rows of an earlier start are loaded first. */
const READY_TIMEOUT_MS = 120_000;
const SETTINGS = ['save', 'appendonly', 'appendfsync', 'maxmemory', 'io-threads', 'hz'];

/**
 * @typedef {object} Family differences between such servers
 * @property {string} name
 * @property {string} title for messages
 * @property {string} summary
 * @property {string} program prefix of its programs: `redis` of `redis-server`
 * @property {import('../lib/types.js').ServerDefinition['endpoints']['main']} endpoint
 * @property {Record<'user' | 'password', string> & { controller?: string }} credentials
 * @property {readonly string[]} packages
 * @property {string | null} product required product; null: any with the protocol
 * @property {string} [binariesOf] the server whose programs it uses, if different
 * @property {string} [rules] permissions of its user, in the syntax of ACL SETUSER; absent: all
 * @property {() => Credentials & { password: string }} [secrets] creates the secrets of a start;
 *   absent: a password
 * @property {boolean} [keepsRows] whether a persistent server keeps its rows over a restart;
 *   absent: yes
 */

/**
 * @param {Family} family
 * @returns {import('../lib/types.js').ServerDefinition}
 */
export function defineRedisServer(family) {
  const { name, title, summary, program, endpoint, credentials, packages } = family;
  const server = `${program}-server`;
  return defineServer({
    name,
    summary,
    endpoints: { main: endpoint },
    credentials,
    packages,
    programs: [server],
    tls: true,

    find(home) {
      return findBinaries({
        required: [server],
        optional: [`${program}-cli`, `${program}-benchmark`],
        home,
        servers: [family.binariesOf ?? name, name],
      });
    },

    async start(context) {
      const { guest } = context;
      const secrets = family.secrets?.() ?? {
        ...(guest !== undefined && { user: OWN_USER }),
        password: randomSecret(),
      };
      const path = context.binaries.programs[server];
      const { env } = context.binaries;
      const version = await readProgramVersion(path, ['--version'], /\bv=(\S+)/, env);
      return startDaemon(
        {
          name,
          version,
          endpoints: ['main'],
          inner: context.tls ? ['tls'] : [],
          readyTimeoutMs: READY_TIMEOUT_MS,
          secrets,
          socket: 'redis.sock',
          plan(folder, ports, socket) {
            const configuration = writeConfiguration(folder, secrets, family.rules, guest);
            const what = { program: path, version, folder, configuration, socket };
            const keeps = family.keepsRows !== false && !context.owned;
            return planStart(what, ports, keeps);
          },
          answers: ({ main }) => isReady(main, secrets),
        },
        context,
      );
    },

    ...(family.rules === undefined && {
      byHand: ({ programs }) => [
        { program: programs[server], args: [CONFIGURATION, '--port', portOf(endpoint.default)] },
      ],
    }),

    async probe({ main }, login) {
      const answer = await sniff(main);
      if (answer.end !== 'enough' || nameKind(answer.bytes) !== 'Redis') {
        throw notThere(title, main, answer, hintOf(family));
      }
      const { product, version, settings, processId } = await readSettings(main, login, {
        ...family,
        hint: hintOf(family),
      });
      if (family.product !== null && product !== family.product) {
        throw targetError(
          `${title} at ${formatEndpoint(main)}: ${product} is listening there`,
          hintOf(family),
        );
      }
      // Products other than Redis are named, since drivers are bound to Redis.
      const label = product === title ? version : `${product} ${version}`;
      return { version: label, settings, pid: await findServer(main, processId) };
    },
  });
}

/** @param {string} address */
function portOf(address) {
  return address.slice(address.lastIndexOf(':') + 1);
}

/** @param {Family} family */
function hintOf({ name, endpoint }) {
  return (
    `start one with \`npx dragstrip servers start ${name}\`, or give its address ` +
    (name === 'redis' ? `with --${endpoint.flag}` : `in ${endpoint.env}`)
  );
}

/**
 * @param {string} folder
 * @param {Credentials & { password: string }} owner
 * @param {string} [rules] rules of the owner
 * @param {import('../lib/server-types.js').Guest} [guest]
 * @returns {string} path of a private file: redis.conf and the hash of the password. Not an
 *   `include`, whose path is a glob pattern, and a user's path may contain one
 */
function writeConfiguration(folder, { user, password }, rules = '~* &* +@all', guest = undefined) {
  const path = join(folder, 'redis.conf');
  const settings = readFileSync(CONFIGURATION, 'utf8');
  const hash = createHash('sha256').update(password).digest('hex');
  // Not requirepass, which CONFIG GET shows in plain text to every user.
  const users = [`user ${user ?? 'default'} on #${hash} ${rules}`];
  if (guest !== undefined) {
    const allowed = guest.commands.map((command) => `+${command}`).join(' ');
    // Clients without a login are the default user. A proxy is ready when it replies to a read.
    users.push(`user default on nopass ~${guest.prefix}* ~${PROBE_KEY} ${allowed}`);
  }
  writePrivate(path, `${settings}\n${users.join('\n')}\n`);
  return path;
}

/**
 * @param {{ program: string, version: string, folder: string, configuration: string,
 *   socket: string }} what
 * @param {Record<string, number>} ports tls: of encrypted connections
 * @param {boolean} keeps whether it keeps its rows over a restart
 */
function planStart({ program, version, folder, configuration, socket }, ports, keeps) {
  const { main, tls: tlsPort } = ports;
  const args = [configuration, '--port', String(main), '--dir', folder];
  args.push('--unixsocket', socket, '--unixsocketperm', '700');
  if (tlsPort !== undefined) args.push(...tlsArguments(folder, tlsPort));
  // Persistent servers keep their rows over a restart: a snapshot at shutdown, never while running.
  // `force`: without space for the snapshot Redis ends as well, instead of running until it is
  // killed. Requires Redis 7.
  if (keeps && Number.parseInt(version, 10) >= 7) {
    args.push('--shutdown-on-sigterm', 'save', 'force');
  }
  return { program, args, tlsPort };
}

/**
 * Client certificates are optional, because not every driver supports them; they are verified.
 * @param {string} folder
 * @param {number} port
 */
export function tlsArguments(folder, port) {
  const { ca, server } = certificatesIn(folder);
  return [
    ...['--tls-port', String(port), '--tls-auth-clients', 'optional'],
    ...['--tls-ca-cert-file', ca, '--tls-cert-file', server.cert, '--tls-key-file', server.key],
  ];
}

/** @param {Endpoint} endpoint */
function sniff(endpoint) {
  return ask(endpoint, { send: PING, enough: (bytes) => bytes.includes('\n') });
}

/**
 * @param {Endpoint} endpoint
 * @param {Credentials} credentials
 * @returns {Promise<boolean>} not while it loads its rows
 */
async function isReady(endpoint, credentials) {
  const { replies } = await askRedis(endpoint, credentials, [['PING']]);
  return replies[0]?.value === 'PONG';
}

/**
 * @param {Endpoint} endpoint
 * @param {Credentials} credentials
 * @param {{ title: string, credentials: { password: string }, hint: string, settings?: readonly
 *   string[] }} about settings: further settings beside the common ones
 */
export async function readSettings(endpoint, credentials, about) {
  const { title, credentials: variables, hint, settings: more = [] } = about;
  const names = [...SETTINGS, ...more];
  const commands = [['INFO', 'server'], ...names.map((name) => ['CONFIG', 'GET', name])];
  const { answer, login, replies } = await askRedis(endpoint, credentials, commands);
  const [info, ...values] = replies;
  if (typeof info?.value !== 'string') {
    const reason = login?.error ?? info?.error ?? answer.error?.message ?? 'Connection is closed.';
    throw targetError(
      `${title} at ${formatEndpoint(endpoint)}: ${reason}`,
      /NOAUTH|WRONGPASS|AUTH|password/.test(reason)
        ? `set ${variables.password} or ${variables.password}_FILE`
        : hint,
    );
  }
  /** @type {Record<string, string>} */
  const settings = {};
  for (const [i, reply] of values.entries()) {
    // CONFIG may be forbidden or renamed; the settings are then unknown.
    const [, value] = Array.isArray(reply.value) ? reply.value : [];
    if (value !== undefined) settings[names[i]] = value;
  }
  const processId = Number(/^process_id:(\d+)/m.exec(info.value)?.[1]);
  return { ...productOf(info.value), settings, processId };
}

/** Products compatible with Redis, by the INFO field of their version. */
const PRODUCTS = Object.freeze({
  valkey_version: 'Valkey',
  dragonfly_version: 'Dragonfly',
  garnet_version: 'Garnet',
  kvrocks_version: 'Kvrocks',
});

/**
 * Other products also have a redis_version, with which they are compatible. Pure.
 * @param {string} info reply of INFO server
 * @returns {{ product: string, version: string }}
 */
export function productOf(info) {
  const field = (/** @type {string} */ name) => new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1];
  for (const [name, product] of Object.entries(PRODUCTS)) {
    const version = field(name);
    if (version !== undefined) return { product, version: version.replace(/^df-v?/, '') };
  }
  const version = field('redis_version') ?? 'unknown';
  // KeyDB has no separate field.
  const isKeyDb = /keydb/i.test(field('executable') ?? '');
  return { product: isKeyDb ? 'KeyDB' : 'Redis', version };
}
