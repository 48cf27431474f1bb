/**
 * Proof that a run was started on this machine and by the same user: a file that no one else can
 * have written. Servers on loopback are loaded only with this proof, because a claim in a message
 * proves nothing.
 */

import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { processScope } from '../../lib/process-identity.js';

/** @param {string} run */
function fileOf(run) {
  return path.join(tmpdir(), `dragstrip-run-${run}`);
}

/** @param {string} run @param {string} scope */
function textOf(run, scope) {
  return `${run} ${scope}`;
}

/**
 * @param {string} run
 * @returns {() => void} removes the proof
 */
export function leaveProof(run) {
  const scope = processScope();
  if (scope === null) return () => {};
  const file = fileOf(run);
  writeFileSync(file, textOf(run, scope), { mode: 0o600, flag: 'wx' });
  return () => rmSync(file, { force: true });
}

/**
 * @param {string} run
 * @returns {boolean} whether its controller runs on this machine, in the same process namespace, as
 *   the same user or as root
 */
export function hasProof(run) {
  const scope = processScope();
  if (scope === null) return false;
  let descriptor;
  try {
    // A named pipe of another user would block open() forever.
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    descriptor = openSync(fileOf(run), flags);
    const stat = fstatSync(descriptor);
    const isOwn = [0, process.getuid?.()].includes(stat.uid) && (stat.mode & 0o077) === 0;
    return isOwn && stat.isFile() && readFileSync(descriptor, 'utf8') === textOf(run, scope);
  } catch {
    return false;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
