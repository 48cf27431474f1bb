/**
 * Finds the process that listens at an endpoint of this machine, from /proc: for the CPU time of
 * servers that Dragstrip did not start, and to verify that a port belongs to the server that it
 * started. Only root sees the sockets of other users' processes; for these the result is null.
 */

import { readdir, readFile, readlink, stat } from 'node:fs/promises';
import { endianness } from 'node:os';
import { isLoopback } from '../lib/address.js';

/** @typedef {import('../lib/types.js').Endpoint} Endpoint */

/** TCP_LISTEN of the kernel's include/net/tcp_states.h, as /proc/net/tcp prints it. */
const TCP_LISTEN = '0A';
/** __SO_ACCEPTCON: the flag of a listening unix socket in /proc/net/unix. */
const UNIX_LISTENING = 0x10000;

/**
 * @param {Endpoint} endpoint
 * @returns {Promise<number | null>} pid of the listening process; null if the endpoint is not on
 *   this machine, nothing listens, or the process is not visible
 */
export async function findListener(endpoint) {
  const inodes = await findInodes(endpoint);
  if (inodes.size === 0) return null;
  for (const entry of await readdir('/proc').catch(() => [])) {
    if (/^\d+$/.test(entry) && (await holdsSocket(entry, inodes))) return Number(entry);
  }
  return null;
}

/**
 * The same, unless the listener only forwards to the server, like the end of a tunnel (ssh,
 * docker-proxy): its CPU time is not that of the server.
 * @param {Endpoint} endpoint
 * @param {number} reportedPid pid that the server reports, in its own pid namespace
 * @returns {Promise<number | null>}
 */
export async function findServer(endpoint, reportedPid) {
  const pid = await findListener(endpoint);
  if (pid === null || Number.isNaN(reportedPid)) return pid;
  const status = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '');
  const [, inNamespaces = String(pid)] = /^NSpid:\s+(.*)$/m.exec(status) ?? [];
  return inNamespaces.split(/\s+/).includes(String(reportedPid)) ? pid : null;
}

/**
 * @param {number} pid
 * @param {Endpoint} endpoint
 * @returns {Promise<boolean>} whether process `pid` listens at the endpoint; if its files are not
 *   visible, as for root in a container without CAP_SYS_PTRACE, whether its user does
 */
export async function listensAt(pid, endpoint) {
  const inodes = await findInodes(endpoint);
  if (inodes.size === 0) return false;
  if (await filesAreVisible(pid)) return holdsSocket(String(pid), inodes);
  const { uid } = await stat(`/proc/${pid}`);
  return [...inodes.values()].includes(String(uid));
}

/**
 * @param {number} pid
 * @returns {Promise<boolean>} whether the names of open files can be listed but not read
 */
async function filesAreVisible(pid) {
  const folder = `/proc/${pid}/fd`;
  try {
    for (const fd of await readdir(folder)) await readlink(`${folder}/${fd}`);
  } catch (error) {
    return error.code !== 'EACCES' && error.code !== 'EPERM';
  }
  return true;
}

/**
 * @param {Endpoint} endpoint
 * @returns {Promise<Map<string, string>>} inodes of the listening sockets, with the uid of each;
 *   empty for unix sockets
 */
async function findInodes(endpoint) {
  if (endpoint.path !== undefined) return unixInodes(endpoint.path);
  if (!isLoopback(endpoint)) return new Map();
  const port = endpoint.port.toString(16).toUpperCase().padStart(4, '0');
  const tables = await Promise.all(['tcp', 'tcp6'].map((name) => readTable(name)));
  /** @type {Map<string, string>} */
  const inodes = new Map();
  for (const line of tables.flat()) {
    const fields = line.trim().split(/\s+/);
    const [local, localPort] = (fields[1] ?? '').split(':');
    if (fields[3] !== TCP_LISTEN || localPort !== port) continue;
    if (serves(local, endpoint.host)) inodes.set(fields[9], fields[7]);
  }
  return inodes;
}

/**
 * @param {string} local address as printed by the kernel: 32-bit words in host byte order,
 *   `0100007F` for 127.0.0.1
 * @param {string} host a loopback name or address
 * @returns {boolean} whether a socket bound to `local` accepts connections to `host`
 */
function serves(local, host) {
  if (/^0+$/.test(local)) return true; // any address
  if (local === '00000000000000000000000001000000') return host === '::1' || host === 'localhost';
  const isMapped = /^0{16}(FFFF0000|0000FFFF)/.test(local); // ::ffff:127.0.0.1
  if (local.length > 8 && !isMapped) return false;
  const bytes = Buffer.from(local.slice(-8), 'hex');
  if (endianness() === 'LE') bytes.reverse();
  const dotted = bytes.join('.');
  return dotted === host || (host === 'localhost' && dotted === '127.0.0.1');
}

/** @param {string} path */
async function unixInodes(path) {
  /** @type {Map<string, string>} */
  const inodes = new Map();
  for (const line of await readTable('unix')) {
    // Num RefCount Protocol Flags Type St Inode Path
    const match = /^\S+ \S+ \S+ ([0-9A-F]+) \S+ \S+ +(\d+) (.*)$/.exec(line);
    if (match === null || match[3] !== path) continue;
    if ((Number.parseInt(match[1], 16) & UNIX_LISTENING) !== 0) inodes.set(match[2], '');
  }
  return inodes;
}

/** @param {string} name */
async function readTable(name) {
  const text = await readFile(`/proc/net/${name}`, 'utf8').catch(() => '');
  return text.split('\n').slice(1);
}

/**
 * @param {string} pid
 * @param {Map<string, string>} inodes
 */
async function holdsSocket(pid, inodes) {
  const folder = `/proc/${pid}/fd`;
  for (const fd of await readdir(folder).catch(() => [])) {
    const target = await readlink(`${folder}/${fd}`).catch(() => '');
    if (target.startsWith('socket:[') && inodes.has(target.slice(8, -1))) return true;
  }
  return false;
}
