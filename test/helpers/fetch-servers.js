/**
 * A process that fetches and starts servers into a folder, for tests with a different user or an
 * interruption: node fetch-servers.js HOME NAME,NAME Prints one JSON line per event and one with
 * the outcome; the servers end with it.
 */

import { startServers } from '../../servers/index.js';

const [home, names] = process.argv.slice(2);
/** @param {unknown} value */
const print = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
const { servers, failures, stop } = await startServers(names.split(','), {
  home,
  owned: true,
  onEvent: print,
});
await stop();
print({
  uid: process.getuid?.(),
  servers: servers.map(({ name, version }) => ({ name, version })),
  failures: failures.map(({ error: { code, message, hint } }) => ({ code, message, hint })),
});
