/**
 * Identity of a process: a pid is reused, a pid with its start time is not. Linux only (proc),
 * except pidExists.
 */

import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';

/**
 * @typedef {object} ProcessIdentity
 * @property {number} pid
 * @property {number} startTicks clock ticks since boot, /proc/PID/stat field 22
 */

/**
 * @param {number} pid
 * @returns {number | null} start time in clock ticks since boot; null if no such process lives (a
 *   zombie has already ended)
 */
export function readStartTicks(pid) {
  let stat;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return null;
  }
  // Field 2 is the name in brackets and may hold anything, so count from its last bracket
  // (proc(5)).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields[0] === 'Z' || fields[0] === 'X') return null;
  return Number(fields[19]);
}

/**
 * @param {ProcessIdentity} identity
 * @returns {boolean} whether this very process still lives
 */
export function isAlive({ pid, startTicks }) {
  return readStartTicks(pid) === startTicks;
}

/**
 * Fallback by pid only, on any operating system.
 * @param {number} pid
 * @returns {boolean} whether a process has it; possibly a different one than before
 */
export function pidExists(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** @returns {ProcessIdentity} identity of the calling process */
export function ownIdentity() {
  return { pid: process.pid, startTicks: readStartTicks(process.pid) ?? 0 };
}

/**
 * @returns {string} name of the calling process for its folders: `PID.TICKS.SCOPE`, short, since
 *   some of them contain sockets
 */
export function ownerName() {
  const { pid, startTicks } = ownIdentity();
  return `${pid}.${startTicks}.${scopeTag()}`;
}

/**
 * @param {string} name result of ownerName
 * @returns {boolean} whether that process may live; true if this is unknown: in another container
 */
export function ownerMayLive(name) {
  const [pid, startTicks, scope] = name.split('.');
  const here = scopeTag();
  if (processScope() === null) return pidExists(Number(pid));
  if (scope === here) return isAlive({ pid: Number(pid), startTicks: Number(startTicks) });
  return scope?.slice(0, 4) === here.slice(0, 4);
}

/** @returns {string} four digits each of this boot and of the pid namespace */
function scopeTag() {
  const parts = processScope()?.split('.') ?? ['', ''];
  const digest = (/** @type {string} */ text) => createHash('sha256').update(text).digest('hex');
  return parts.map((part) => digest(part).slice(0, 4)).join('');
}

/**
 * @returns {string | null} identity of the numbering of processes: this boot of the machine, and
 *   the pid namespace, of which containers have their own; null if unknown (not on Linux)
 */
export function processScope() {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
    const namespace = /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0];
    return namespace === undefined ? null : `${boot}.${namespace}`;
  } catch {
    return null;
  }
}
