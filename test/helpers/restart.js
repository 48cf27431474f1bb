/** Restarts a server's process with the same data, address and secrets. */

import { readFileSync, readlinkSync, statSync } from 'node:fs';
import path from 'node:path';
import { launch } from '../../servers/process.js';

/**
 * Call it while the process is alive.
 * @param {number} pid
 * @returns {() => Promise<number>} function that restarts it and returns the pid of the new
 *   process, which ends with this one
 */
export function rememberProcess(pid) {
  const read = (/** @type {string} */ name) =>
    readFileSync(`/proc/${pid}/${name}`, 'utf8').split('\0').slice(0, -1);
  const [, ...args] = read('cmdline');
  const env = Object.fromEntries(
    read('environ').map((pair) => [pair.split('=', 1)[0], pair.slice(pair.indexOf('=') + 1)]),
  );
  const program = readlinkSync(`/proc/${pid}/exe`);
  const cwd = readlinkSync(`/proc/${pid}/cwd`);
  const { uid, gid } = statSync(`/proc/${pid}`);
  const user = process.getuid?.() === uid ? undefined : { uid, gid };
  const logPath = path.join(cwd, 'restarted.log');
  return async () => {
    const { identity } = await launch({ program, args, cwd, env, logPath, owned: true, user });
    return identity.pid;
  };
}
