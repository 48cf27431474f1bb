/** A real Redis and nutcracker for tests of the command list, with redis-benchmark beside them. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before } from 'node:test';
import { Redis } from 'ioredis';
import { formatEndpoint } from '../../lib/address.js';
import { loadServer } from '../../servers/index.js';
import { rememberProgram } from '../../workloads/commands/redis-benchmark.js';
import { PACKAGES_HOME, withServers } from './servers.js';

/** Call it at the top of the tests, or inside `describe`. */
export function withCommandServers() {
  const servers = withServers(['redis', 'nutcracker']);
  let folder = '';
  /** @type {Redis} */
  let redis;

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'dragstrip-commands-'));
    redis = new Redis({
      .../** @type {any} */ (servers.address('redis').main),
      ...servers.login('redis'),
    });
    const { programs, env } = /** @type {any} */ (
      await (await loadServer('redis')).find(PACKAGES_HOME)
    );
    const libraries = env['LD_LIBRARY_PATH'];
    rememberProgram({ program: programs['redis-benchmark'], libraries }, process.env);
  });

  after(async () => {
    redis?.disconnect();
    await rm(folder, { recursive: true, force: true });
  });

  return {
    servers,
    redis: () => redis,
    folder: () => folder,
    /** @param {string} name @returns {string} its TCP port and its unix socket */
    both(name) {
      const { main, unix } = servers.address(name);
      return [main, unix].map(formatEndpoint).join(',');
    },
  };
}
