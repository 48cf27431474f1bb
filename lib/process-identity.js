/**
 * Identity of a process: a pid is reused, a pid with its start time is not. Linux only (proc),
 * except pidExists.
 */

import { readFileSync, readlinkSync } from 'node:fs';

/**
 * @typedef {object} ProcessIdentity
 * @property {number} pid
 * @property {number} startTicks clock ticks since boot, /proc/PID/stat field 22
 */

/**
 * @param {number} pid
 * @returns {number | null} start time in clock ticks since boot; null where no such process lives
 *   (a zombie has ended already)
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
 * Where only the pid is known, on any operating system.
 * @param {number} pid
 * @returns {boolean} whether a process has it; possibly another one than before
 */
export function pidExists(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/**
 * @returns {ProcessIdentity} of the calling process
 */
export function ownIdentity() {
  return { pid: process.pid, startTicks: readStartTicks(process.pid) ?? 0 };
}

/**
 * @returns {string | null} what names the numbering of processes: this boot of the machine, and the
 *   pid namespace, of which containers have their own; null where that is not known (not on Linux)
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
