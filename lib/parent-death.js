/**
 * Ties a process to the life of this one by the kernel: it is killed when its parent dies, however
 * that dies and whatever it is doing, such as an endless loop of a driver. By setpriv of
 * util-linux, which becomes the program: the pid and the open files stay.
 */

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** @type {string | null | undefined} */
let found;

/** @returns {string | null} setpriv, if it supports --pdeathsig */
function findSetpriv() {
  if (found !== undefined) return found;
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/bin', '/bin'];
  const path = folders.map((folder) => join(folder, 'setpriv')).find(existsSync);
  const works = (/** @type {string} */ program) =>
    spawnSync(program, ['--pdeathsig', 'KILL', '--', 'true'], { stdio: 'ignore' }).status === 0;
  found = path !== undefined && works(path) ? path : null;
  return found;
}

/**
 * @param {string} program path
 * @param {readonly string[]} args
 * @returns {[string, string[]] | null} what to execute instead; null: this machine cannot do that
 */
export function untilParentDies(program, args) {
  const setpriv = findSetpriv();
  return setpriv === null ? null : [setpriv, ['--pdeathsig', 'KILL', '--', program, ...args]];
}
