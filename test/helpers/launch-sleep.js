/**
 * A process that owns another one by a given mechanism, for tests of its end: node launch-sleep.js
 *   FOLDER setpriv|watcher [end] Prints the owned process as JSON; then waits to be killed, or ends
 *   by itself.
 */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { launch } from '../../servers/process.js';

const [folder, means, end] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const { identity } = await launch({
  program: '/bin/sleep',
  args: ['600'],
  cwd: folder,
  env: {},
  logPath: join(folder, 'sleep.log'),
  owned: true,
  ownership: means === 'watcher' ? 'watcher' : 'setpriv',
});
process.stdout.write(`${JSON.stringify([identity])}\n`);
if (end === undefined) setInterval(() => {}, 1000);
