/** The name of a running program, from /proc/PID/comm (proc(5)). */

import { readFileSync } from 'node:fs';

/**
 * @param {number} pid
 * @returns {string | null} at most fifteen characters; null if it has ended
 */
export function readProgramName(pid) {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim() || null;
  } catch {
    return null;
  }
}
