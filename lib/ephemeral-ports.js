/**
 * The ports of outgoing TCP connections, on Linux: a connection closed by this side keeps its port
 * for a minute (TIME_WAIT). A client that opens one per request can run out of ports.
 */

import { readFileSync } from 'node:fs';

/** Linux' default: 32768 to 60999. */
const RANGE_DEFAULT = 28_232;

/**
 * @returns {{ range: number, reused: boolean, waiting: number }} range: number of ports; reused: on
 *   loopback the kernel reuses a port after a second (ip-sysctl, tcp_tw_reuse 1 or 2); waiting:
 *   sockets of this machine in TIME_WAIT
 */
export function readEphemeralPorts() {
  const [low, high] = read('/proc/sys/net/ipv4/ip_local_port_range')
    .trim()
    .split(/\s+/)
    .map(Number);
  const reuse = Number(read('/proc/sys/net/ipv4/tcp_tw_reuse').trim() || '0');
  const waiting = /^TCP:.* tw (\d+)/m.exec(read('/proc/net/sockstat'))?.[1];
  return {
    range: high > low ? high - low + 1 : RANGE_DEFAULT,
    reused: reuse === 1 || reuse === 2,
    waiting: Number(waiting ?? 0),
  };
}

/** @param {string} path */
function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
