/**
 * A proxy of the user's own, started for a run: a program and its arguments as one text, in which
 * the places that we choose are named in braces. A program alone is taken for a nutcracker.
 *
 * No shell reads the text: quotes keep blanks together, and that is all.
 */

import { join } from 'node:path';
import { formatEndpoint } from '../lib/address.js';
import { targetError, usageError } from '../lib/errors.js';
import { makeHome } from '../lib/home.js';
import { SOCKET_PATH_MAX, startDaemon } from './daemon.js';
import nutcracker from './nutcracker.js';
import { endProcess } from './process.js';
import { findProgram } from './programs.js';
import { readThrough } from './proxied-read.js';
import { removeFolder } from './record.js';

/** @typedef {import('../lib/types.js').Address} Address */
/** @typedef {import('../lib/types.js').RunningServer} RunningServer */

/** What a text may name, and what is put there. */
const PLACES = Object.freeze({
  port: 'a free port of 127.0.0.1 that it shall listen on',
  socket: 'a path for a unix socket that it shall listen on',
  folder: 'a folder of its own, empty',
  redis: 'Redis, host:port',
  'redis-host': 'its host',
  'redis-port': 'its port',
  'redis-socket': 'its unix socket',
});

/**
 * @param {string} text
 * @returns {string[]} words; quotes keep blanks
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: nothing, an open quote, a place that
 *   is not known
 */
export function parseProxyCommand(text) {
  const words = [];
  for (const match of text.matchAll(/(?:[^\s"']+|"[^"]*"|'[^']*')+|["']/g)) {
    if (/^["']$/.test(match[0])) throw usageError(`--proxy-binary: a quote in ${text} is open`);
    words.push(match[0].replace(/"([^"]*)"|'([^']*)'/g, '$1$2'));
  }
  if (words.length === 0) throw usageError('--proxy-binary: no program is named');
  for (const [place, name] of words.join(' ').matchAll(/\{([a-z-]*)\}/g)) {
    if (Object.hasOwn(PLACES, name)) continue;
    throw usageError(
      `--proxy-binary: ${place} is no place`,
      `there are ${Object.keys(PLACES)
        .map((one) => `{${one}}`)
        .join(', ')}`,
    );
  }
  if (words.length > 1 && !/\{(port|socket)\}/.test(text)) {
    throw usageError(
      '--proxy-binary: the command does not say where the proxy shall listen',
      'write {port} or {socket}, or both, where its arguments name these',
    );
  }
  return words;
}

/**
 * @param {string} text
 * @param {{ home: string, redis: Address, signal?: AbortSignal }} context
 * @returns {Promise<{ address: string, pid: number, stop: () => Promise<void> }>} address: as
 *   --proxy takes it; it ends with this process, however that ends
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE, E_TARGET
 */
export async function startProxyCommand(text, { home, redis, signal }) {
  const [name, ...args] = parseProxyCommand(text);
  const program = name.includes('/') ? name : await findProgram(name);
  if (program === null) throw targetError(`--proxy-binary: there is no program ${name}`);
  makeHome(home);
  const binaries = {
    programs: { nutcracker: program },
    env: {},
    source: /** @type {const} */ ('path'),
  };
  const context = { home, binaries, owned: true, behind: { redis }, signal };
  const running =
    args.length === 0
      ? await nutcracker.start(context)
      : await startOther(program, args, redis, context);
  return {
    pid: running.pid,
    address: [running.address['main'], running.address['unix']].filter(Boolean).join(','),
    async stop() {
      await endProcess(running);
      await removeFolder(running.folder);
    },
  };
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
  /** @type {Record<string, string>} */
  let sockets = {};
  return startDaemon(
    {
      name: 'proxy',
      version: 'unknown',
      endpoints: listens('port') ? ['main'] : [],
      plan(folder, ports) {
        const socket = join(folder, 'proxy.sock');
        if (listens('socket') && socket.length > SOCKET_PATH_MAX) {
          throw targetError(
            `the path of the proxy’s socket is too long: ${socket}`,
            'set DRAGSTRIP_HOME to a shorter one',
          );
        }
        sockets = listens('socket') ? { unix: socket } : {};
        const places = placesOf(redis, { folder, socket, port: String(ports['main'] ?? '') });
        return { program, args: args.map((word) => fillIn(word, places)), sockets };
      },
      async answers({ main }) {
        const unix = sockets['unix'];
        const places = [...(main ? [main] : []), ...(unix === undefined ? [] : [{ path: unix }])];
        for (const place of places) {
          if (!(await readThrough(place)).reached) return false;
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
 * @param {Record<string, string | undefined>} places
 */
function fillIn(word, places) {
  return word.replace(/\{([a-z-]+)\}/g, (place, name) => {
    const value = places[name];
    if (value !== undefined) return value;
    throw targetError(
      `--proxy-binary: ${place} is not known`,
      'name Redis by both: --redis host:port,unix:/path',
    );
  });
}
