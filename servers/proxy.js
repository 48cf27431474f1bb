/**
 * Proxies before Redis: how to find, start and probe one. A proxy stores nothing and requires a
 * running Redis.
 *
 * It listens on a TCP port and on a unix socket, and forwards each over the same transport, so that
 * a benchmark over unix sockets involves no TCP. Its settings are written to a private file at
 * every start, because they contain the address of that Redis, and possibly its password.
 */

import { join } from 'node:path';
import { formatEndpoint } from '../lib/address.js';
import { defineServer } from '../lib/define.js';
import { targetError } from '../lib/errors.js';
import { findListener } from '../measure/listener.js';
import { readProgramVersion } from './command.js';
import { startDaemon } from './daemon.js';
import { findBinaries } from './programs.js';
import { readThrough } from './proxied-read.js';
import { redisBehind, requireThrough, UNQUOTABLE } from './redis-behind.js';
import { writePrivate } from './secrets.js';

/**
 * @typedef {object} Listener
 * @property {'tcp' | 'unix'} name
 * @property {string} listen address or path
 * @property {string} server the proxied Redis
 *
 * @typedef {object} Proxy
 * @property {string} name name of the server, its program and its package
 * @property {string} summary
 * @property {import('../lib/types.js').EndpointDefinition} endpoint
 * @property {string} hint
 * @property {[argument: string, pattern: RegExp]} version pattern of the version in the output of
 *   its program
 * @property {string[]} [endpoints] beside `main`
 * @property {string} file file of its settings
 * @property {(listeners: Listener[], password?: string) => string[]} settings lines
 * @property {(folder: string, file: string, ports: Record<string, number>) => string[]} args
 * @property {(address: import('../lib/types.js').Address, pid: number | null) => Promise<string>}
 *   readVersion reads the version of a running proxy
 */

/**
 * @param {Proxy} proxy
 * @returns {import('../lib/types.js').ServerDefinition}
 */
export function defineProxy(proxy) {
  const { name, summary, endpoint, endpoints = [], version } = proxy;
  return defineServer({
    name,
    summary,
    endpoints: { main: endpoint },
    // A proxy's password is that of its Redis.
    credentials: { user: 'DRAGSTRIP_REDIS_USER', password: 'DRAGSTRIP_REDIS_PASSWORD' },
    packages: [name],
    programs: [name],
    behind: ['redis'],

    find(home) {
      return findBinaries({ required: [name], home, servers: [name] });
    },

    async start(context) {
      const { programs, env } = context.binaries;
      const program = programs[name];
      const { address: redis, password } = await redisBehind(context, name);
      return startDaemon(
        {
          name,
          version: await readProgramVersion(program, [version[0]], version[1], env),
          endpoints: ['main', ...endpoints],
          secrets: password === undefined ? {} : { password },
          socket: `${name}.sock`,
          plan(folder, ports, socket) {
            const listeners = listenersOf(name, ports['main'], redis, socket);
            const file = join(folder, proxy.file);
            writePrivate(file, `${proxy.settings(listeners, password).join('\n')}\n`);
            return { program, args: proxy.args(folder, file, ports) };
          },
          answers: async ({ main }) => (await readThrough(main, { password })).reached,
        },
        context,
      );
    },

    async probe(address, credentials) {
      const { main } = address;
      await requireThrough(main, credentials, proxy.hint);
      const pid = await findListener(main);
      return { version: await proxy.readVersion(address, pid), settings: {}, pid };
    },
  });
}

/**
 * @param {string} name
 * @param {number} port
 * @param {import('../lib/types.js').Address} redis
 * @param {string} socket
 * @returns {Listener[]}
 * @throws {import('../lib/errors.js').DragstripError} E_TARGET: the configuration cannot express a
 *   path
 */
function listenersOf(name, port, redis, socket) {
  const { main, unix } = redis;
  const near = unix?.path !== undefined && !UNQUOTABLE.test(unix.path) ? unix : main;
  return [
    { name: 'tcp', listen: `127.0.0.1:${port}`, server: placeOf(name, main) },
    { name: 'unix', listen: socket, server: placeOf(name, near) },
  ];
}

/**
 * @param {string} name
 * @param {import('../lib/types.js').Endpoint} redis
 */
function placeOf(name, redis) {
  const place = redis.path ?? formatEndpoint(redis);
  if (!UNQUOTABLE.test(place)) return place;
  throw targetError(
    `${name}: paths with blanks or quotes are not supported (${place})`,
    'give the address of Redis as host:port',
  );
}
