/**
 * A process that starts servers, for tests of their end: node start-servers.js HOME owned|lasting
 *   NAME,NAME [wait] Prints the servers as JSON. With `wait` it stays; SIGINT and SIGTERM stop its
 *   servers, like in the command line.
 */

import { startServers } from '../../servers/index.js';
import { PACKAGES_HOME } from './servers.js';

const [home, mode, names, wait] = process.argv.slice(2);
const { servers, failures, stop } = await startServers(names.split(','), {
  home,
  packagesHome: PACKAGES_HOME,
  owned: mode === 'owned',
});
if (failures.length > 0) throw failures[0].error;
if (wait === 'wait') {
  const staying = setInterval(() => {}, 1000);
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, async () => {
      const alive = servers.filter(({ pid }) => process.kill(pid, 0)).length;
      await stop();
      process.stdout.write(`stopped ${alive}\n`);
      clearInterval(staying);
    });
  }
}
// Last, because the reader may send a signal immediately.
process.stdout.write(`${JSON.stringify(servers)}\n`);
