/** Addresses at which a process listens, from /proc, for tests of servers. */

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** TCP_LISTEN of the kernel's include/net/tcp_states.h, as /proc/net/tcp prints it. */
const LISTEN = '0A';

/**
 * @param {number} pid
 * @returns {string[]} addresses of its listening TCP sockets as the kernel prints them
 */
export function listeningPlaces(pid) {
  const sockets = readdirSync(`/proc/${pid}/fd`).map((fd) => linkOf(`/proc/${pid}/fd/${fd}`));
  return ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/${pid}/net/${table}`, 'latin1')
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .filter((fields) => fields[3] === LISTEN && sockets.includes(`socket:[${fields[9]}]`))
      .map((fields) => fields[1]),
  );
}

/** @param {string} path */
function linkOf(path) {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
