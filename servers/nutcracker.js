/** nutcracker (twemproxy), a proxy that shares a few Redis connections among many clients. */

import { join } from 'node:path';
import { readProgramName } from '../measure/program-name.js';
import { ask } from './conversation.js';
import { defineProxy } from './proxy.js';

/** Memory per connection, as its documentation recommends for small requests. */
const CHUNK_BYTES = 16_384;

export default defineProxy({
  name: 'nutcracker',
  summary: 'nutcracker (twemproxy): a proxy for Redis that shares connections',
  endpoint: {
    default: '127.0.0.1:22121',
    env: 'DRAGSTRIP_PROXY',
    flag: 'proxy',
    summary: 'a proxy with the Redis protocol',
  },
  hint:
    'start one with `npx dragstrip servers start redis nutcracker`, or give its address with ' +
    '--proxy',
  version: ['-V', /nutcracker-(\S+)/],
  endpoints: ['stats'],
  file: 'nutcracker.yml',
  // Pools in YAML's block style, the only one that it supports.
  settings: (listeners, password) =>
    listeners.flatMap(({ name, listen, server }) => [
      `${name}:`,
      `  listen: ${listen}${name === 'unix' ? ' 0700' : ''}`,
      '  hash: fnv1a_64',
      '  distribution: ketama',
      '  redis: true',
      '  preconnect: true',
      // There is only one Redis.
      '  auto_eject_hosts: false',
      '  backlog: 511',
      // It requires the password of its Redis from clients.
      ...(password === undefined ? [] : [`  redis_auth: ${password}`]),
      '  servers:',
      `   - ${server}:1`,
    ]),
  args: (folder, file, ports) => [
    ...['--conf-file', file, '--pid-file', join(folder, 'nutcracker.pid')],
    // Log to standard error; statistics on loopback only.
    ...['--output', '/dev/stderr', '--stats-addr', '127.0.0.1'],
    ...['--stats-port', String(ports['stats']), '--mbuf-size', String(CHUNK_BYTES)],
  ],
  async readVersion({ stats }, pid) {
    const version = stats === undefined ? null : await readVersion(stats);
    const program = pid === null ? null : readProgramName(pid);
    const other = program === null ? 'unknown version' : `${program}, unknown version`;
    return version ?? `or another proxy (${other})`;
  },
});

/**
 * The statistics port sends JSON to every connection.
 * @param {import('../lib/types.js').Endpoint} endpoint
 * @returns {Promise<string | null>}
 */
async function readVersion(endpoint) {
  const { bytes } = await ask(endpoint, { send: '', enough: (all) => all.includes('"uptime"') });
  return /"service":\s*"nutcracker".*?"version":\s*"([^"]+)"/.exec(bytes.toString())?.[1] ?? null;
}
