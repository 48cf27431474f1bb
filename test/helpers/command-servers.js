/** A real Redis and nutcracker for tests of the command list, with redis-benchmark beside them. */

import { before } from 'node:test';
import { formatEndpoint } from '../../lib/address.js';
import { loadServer } from '../../servers/index.js';
import { rememberProgram } from '../../workloads/commands/redis-benchmark.js';
import { withFolder } from './folder.js';
import { withRedis } from './own-clients.js';
import { PACKAGES_HOME, withServers } from './servers.js';

/** Call it at the top of the tests, or inside `describe`. */
export function withCommandServers() {
  const servers = withServers(['redis', 'nutcracker']);
  const folder = withFolder();
  const redis = withRedis(servers);

  before(async () => {
    const { programs, env } = /** @type {any} */ (
      await (await loadServer('redis')).find(PACKAGES_HOME)
    );
    const libraries = env['LD_LIBRARY_PATH'];
    rememberProgram({ program: programs['redis-benchmark'], libraries }, process.env);
  });

  return {
    servers,
    redis,
    folder: () => folder,
    /** @param {string} name @returns {string} its TCP port and its unix socket */
    both(name) {
      const { main, unix } = servers.address(name);
      return [main, unix].map(formatEndpoint).join(',');
    },
  };
}
