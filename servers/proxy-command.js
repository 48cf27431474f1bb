/**
 * A user-supplied proxy started for a run: a command line with placeholders in braces for the
 * addresses chosen by Dragstrip. A program without arguments is a nutcracker or, by its name, an
 * HAProxy, with a configuration written by Dragstrip.
 *
 * No shell is involved: quotes only keep blanks together.
 */

import { basename } from 'node:path';
import { formatEndpoint } from '../lib/address.js';
import { targetError, usageError } from '../lib/errors.js';
import { makeHome } from '../lib/home.js';
import { startDaemon } from './daemon.js';
import { requireFetched } from './fetched.js';
import haproxy from './haproxy.js';
import nutcracker from './nutcracker.js';
import { endProcess } from './process.js';
import { findProgram, libraryPath, packagesRootOf } from './programs.js';
import { readThrough } from './proxied-read.js';
import { removeOwned } from './record.js';
import { SERVER_NAMES } from './registry.js';
import { serverUser } from './unprivileged.js';

/** @typedef {import('../lib/types.js').Address} Address */
/** @typedef {import('../lib/types.js').Credentials} Credentials */
/** @typedef {import('../lib/types.js').RunningServer} RunningServer */

/** Placeholders and their values. */
const ROW_NAMES = Object.freeze({
  port: 'a free port on 127.0.0.1 to listen on',
  socket: 'a path of a unix socket to listen on',
  folder: 'an empty private folder',
  redis: 'Redis, host:port',
  'redis-host': 'its host',
  'redis-port': 'its port',
  'redis-socket': 'its unix socket',
});

/**
 * @param {string} text
 * @returns {string[]} words; quotes keep blanks
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: empty, unbalanced quotes, an
 *   unknown placeholder
 */
export function parseProxyCommand(text) {
  const words = [];
  for (const match of text.matchAll(/(?:[^\s"']+|"[^"]*"|'[^']*')+|["']/g)) {
    if (/^["']$/.test(match[0])) throw usageError(`--proxy-binary: unbalanced quotes in ${text}`);
    words.push(match[0].replace(/"([^"]*)"|'([^']*)'/g, '$1$2'));
  }
  if (words.length === 0) throw usageError('--proxy-binary: no program given');
  for (const [place, name] of words.join(' ').matchAll(/\{([a-z-]*)\}/g)) {
    if (Object.hasOwn(ROW_NAMES, name)) continue;
    throw usageError(
      `--proxy-binary: unknown placeholder ${place}`,
      `placeholders: ${Object.keys(ROW_NAMES)
        .map((one) => `{${one}}`)
        .join(', ')}`,
    );
  }
  if (words.length > 1 && !/\{(port|socket)\}/.test(text)) {
    throw usageError(
      '--proxy-binary: the command has no listen address',
      'use {port} or {socket}, or both, in its arguments',
    );
  }
  return words;
}

/**
 * @param {string} text
 * @param {{ home: string, redis: Address, credentials?: Credentials, signal?: AbortSignal }}
 *   context credentials: of Redis, for the configuration of nutcracker; other proxies must forward
 *   the login of clients
 * @returns {Promise<{ address: string, pid: number, stop: () => Promise<void> }>} address: in the
 *   format of --proxy; the proxy ends with this process
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE, E_TARGET
 */
export async function startProxyCommand(text, { home, redis, credentials = {}, signal }) {
  const [name, ...args] = parseProxyCommand(text);
  const known = basename(name) === haproxy.name ? haproxy : nutcracker;
  const program = name.includes('/') ? name : await findByName(name, home);
  if (program === null) {
    const isKnown = name === known.name;
    throw targetError(
      `--proxy-binary: program ${name} not found`,
      isKnown ? `run \`npx dragstrip servers fetch ${name}\`` : 'give its path',
    );
  }
  makeHome(home);
  const root = packagesRootOf(program);
  if (root !== null) await requireFetched(root, known.name);
  /** @type {Record<string, string>} */
  const env = root === null ? {} : { LD_LIBRARY_PATH: await libraryPath(root) };
  const binaries = {
    programs: { [known.name]: program },
    env,
    source: /** @type {const} */ ('path'),
  };
  const behindCredentials = { redis: credentials };
  const user = serverUser(SERVER_NAMES.indexOf(known.name), {
    home,
    paths: [program],
    socket: redis['unix']?.path,
  });
  const to = { behind: { redis }, behindCredentials };
  const context = { home, binaries, owned: true, user, ...to, signal };
  const running =
    args.length === 0
      ? await known.start(context)
      : await startOther(program, args, redis, context);
  return {
    pid: running.pid,
    address: [running.address['main'], running.address['unix']].filter(Boolean).join(','),
    async stop() {
      await endProcess(running);
      await removeOwned(running);
    },
  };
}

/**
 * @param {string} name
 * @param {string} home
 * @returns {Promise<string | null>} path on PATH, or of the fetched program
 */
async function findByName(name, home) {
  const known = [haproxy, nutcracker].find((server) => server.name === name);
  const found = await known?.find(home);
  return found?.programs[name] ?? findProgram(name);
}

/**
 * @param {string} program
 * @param {string[]} args
 * @param {Address} redis
 * @param {import('../lib/types.js').StartContext} context
 * @returns {Promise<RunningServer>}
 */
function startOther(program, args, redis, context) {
  const listens = (/** @type {string} */ place) => args.some((word) => word.includes(`{${place}}`));
  let unix = '';
  return startDaemon(
    {
      name: 'proxy',
      version: 'unknown',
      secrets: context.behindCredentials?.['redis'] ?? {},
      endpoints: listens('port') ? ['main'] : [],
      socket: listens('socket') ? 'proxy.sock' : undefined,
      plan(folder, ports, socket) {
        unix = socket;
        const names = placesOf(redis, { folder, socket, port: String(ports['main'] ?? '') });
        return { program, args: args.map((word) => fillIn(word, names)) };
      },
      async answers({ main }) {
        const names = [...(main ? [main] : []), ...(unix === '' ? [] : [{ path: unix }])];
        for (const place of names) {
          if (!(await readThrough(place, context.behindCredentials?.['redis'])).reached)
            return false;
        }
        return true;
      },
    },
    context,
  );
}

/**
 * @param {Address} redis
 * @param {{ folder: string, socket: string, port: string }} own
 * @returns {Record<string, string | undefined>}
 */
function placesOf(redis, own) {
  const all = Object.values(redis);
  const tcp = all.find(({ path }) => path === undefined);
  return {
    ...own,
    redis: tcp && formatEndpoint(tcp),
    'redis-host': tcp?.host,
    'redis-port': tcp && String(tcp.port),
    'redis-socket': all.find(({ path }) => path !== undefined)?.path,
  };
}

/**
 * @param {string} word
 * @param {Record<string, string | undefined>} names
 */
function fillIn(word, names) {
  return word.replace(/\{([a-z-]+)\}/g, (place, name) => {
    const value = names[name];
    if (value !== undefined) return value;
    throw targetError(
      `--proxy-binary: no value for ${place}`,
      'give both addresses of Redis: --redis host:port,unix:/path',
    );
  });
}
