/** A process that claims a namespace and is killed before releasing it, or continues to live. */

import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { openNamespace } from '../../data/namespaces/index.js';

/**
 * @param {string} file this file
 * @param {[string, import('../../lib/types.js').Namespace,
 *   import('../../lib/types.js').ConnectionContext, 'live'?]} what
 */
export function spawnClaimer(file, what) {
  return spawn(process.execPath, [file, JSON.stringify(what)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [server, namespace, context, live] = JSON.parse(process.argv[2]);
  const handle = await openNamespace(server, namespace, context);
  await handle.claim();
  if (live) process.send?.('claimed');
  else process.kill(process.pid, 'SIGKILL');
}
