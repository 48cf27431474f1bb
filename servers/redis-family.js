/**
 * Servers with the protocol and the settings of Redis: how to find, start and probe them. Their
 * settings are in redis.conf, which also serves for manual starts.
 */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { formatEndpoint } from '../lib/address.js';
import { defineServer } from '../lib/define.js';
import { targetError } from '../lib/errors.js';
import { findListener } from '../measure/listener.js';
import { encodeCommand } from '../protocols/resp/command.js';
import { askRedis } from './ask-redis.js';
import { certificatesIn } from './certificates.js';
import { readProgramVersion } from './command.js';
import { ask, nameKind, notThere } from './conversation.js';
import { SOCKET_PATH_MAX, startDaemon } from './daemon.js';
import { findBinaries } from './programs.js';
import { randomSecret, writePrivate } from './secrets.js';

/** @typedef {import('../lib/types.js').Credentials} Credentials */
/** @typedef {import('../lib/types.js').Endpoint} Endpoint */

export const CONFIGURATION = fileURLToPath(new URL('../redis.conf', import.meta.url));
const PING = encodeCommand(['PING']);
/** Rows of an earlier start are loaded first. */
const READY_TIMEOUT_MS = 120_000;
const SETTINGS = ['save', 'appendonly', 'appendfsync', 'maxmemory', 'io-threads', 'hz'];

/**
 * @typedef {object} Family what tells such a server from another
 * @property {string} name
 * @property {string} title for messages
 * @property {string} summary
 * @property {string} program prefix of its programs: `redis` of `redis-server`
 * @property {import('../lib/types.js').ServerDefinition['endpoints']['main']} endpoint
 * @property {Record<'user' | 'password', string> & { controller?: string }} credentials
 * @property {readonly string[]} packages
 * @property {string | null} product that has to answer; null: any with the protocol
 * @property {string} [binariesOf] the server whose programs it runs on, if not its own
 * @property {string} [rules] of its user, as ACL SETUSER takes them; absent: everything
 * @property {() => Credentials & { password: string }} [secrets] of a start; absent: a password
 * @property {boolean} [keepsRows] over a restart, of a persistent one; absent: yes
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
      const secrets = family.secrets?.() ?? { password: randomSecret() };
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
          plan(folder, ports) {
            const configuration = writeConfiguration(folder, secrets.password, family.rules);
            const what = { program: path, version, folder, configuration };
            const keeps = family.keepsRows !== false && !context.owned;
            return planStart(what, ports, keeps);
          },
          answers: ({ main }) => isReady(main, secrets),
        },
        context,
      );
    },

    async probe({ main }, given) {
      const answer = await sniff(main);
      if (answer.end !== 'enough' || nameKind(answer.bytes) !== 'Redis') {
        throw notThere(title, main, answer, hintOf(family));
      }
      const { product, version, settings } = await readSettings(main, given, {
        ...family,
        hint: hintOf(family),
      });
      if (family.product !== null && product !== family.product) {
        throw targetError(
          `${title} at ${formatEndpoint(main)}: ${product} answers there`,
          hintOf(family),
        );
      }
      // Other products are named where Redis is expected, which is what drivers are bound to.
      const label = product === title ? version : `${product} ${version}`;
      return { version: label, settings, pid: await findListener(main) };
    },
  });
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
 * @param {string} password
 * @param {string} [rules] of the user
 * @returns {string} path of a private file: redis.conf and the hash of the password. Not an
 *   `include`, whose path is a pattern: a path of the user's may be one by accident
 */
function writeConfiguration(folder, password, rules = '~* &* +@all') {
  const path = join(folder, 'redis.conf');
  const settings = readFileSync(CONFIGURATION, 'utf8');
  const hash = createHash('sha256').update(password).digest('hex');
  // Not requirepass, which CONFIG GET shows in plain text to every user who may log in.
  writePrivate(path, `${settings}\nuser default on #${hash} ${rules}\n`);
  return path;
}

/**
 * @param {{ program: string, version: string, folder: string, configuration: string }} what
 * @param {Record<string, number>} ports tls: of encrypted connections
 * @param {boolean} keeps its rows over a restart
 */
function planStart({ program, version, folder, configuration }, ports, keeps) {
  const socket = join(folder, 'redis.sock');
  const { main, tls: tlsPort } = ports;
  const args = [configuration, '--port', String(main), '--dir', folder];
  if (tlsPort !== undefined) args.push(...tlsArguments(folder, tlsPort));
  /** @type {Record<string, string>} */
  const sockets = {};
  if (socket.length <= SOCKET_PATH_MAX) {
    args.push('--unixsocket', socket, '--unixsocketperm', '700');
    sockets['unix'] = socket;
  }
  // Persistent servers keep their rows over a restart: a snapshot at shutdown, never while running.
  // Requires Redis 7.
  if (keeps && Number.parseInt(version, 10) >= 7) args.push('--shutdown-on-sigterm', 'save');
  return { program, args, sockets, tlsPort };
}

/**
 * Clients may have a certificate, which is verified then: not every driver can.
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
 * @param {{ title: string, credentials: { password: string }, hint: string,
 *   settings?: readonly string[] }} about settings: beside those of every server of the family
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
  return { ...productOf(info.value), settings };
}

/** Products that answer as Redis, by the field of INFO that has their own version. */
const PRODUCTS = Object.freeze({
  valkey_version: 'Valkey',
  dragonfly_version: 'Dragonfly',
  garnet_version: 'Garnet',
  kvrocks_version: 'Kvrocks',
});

/**
 * Others than Redis also say a redis_version, which is the one that they are compatible with. Pure.
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
  // KeyDB has no field of its own.
  const isKeyDb = /keydb/i.test(field('executable') ?? '');
  return { product: isKeyDb ? 'KeyDB' : 'Redis', version };
}
