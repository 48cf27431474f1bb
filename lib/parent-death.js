/**
 * Ties the life of a process to this one by the kernel: it is killed when its parent dies, for any
 * reason and in any state, such as an endless loop of a driver. Uses setpriv of util-linux, which
 * becomes the program: the pid and the open files stay.
 */

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Cached by arguments. @type {Map<string, string | null>} */
const cache = new Map();

/**
 * @param {readonly string[]} options options of setpriv
 * @param {string} program path of the program
 * @param {readonly string[]} args
 * @returns {[string, string[]] | null} command to execute instead; null: this machine has no
 *   suitable setpriv
 */
export function bySetpriv(options, program, args) {
  const key = options.join(' ');
  if (!cache.has(key)) {
    const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/bin', '/bin'];
    const path = folders.map((folder) => join(folder, 'setpriv')).find(existsSync);
    const works = (/** @type {string} */ setpriv) =>
      spawnSync(setpriv, [...options, '--', 'true'], { stdio: 'ignore' }).status === 0;
    cache.set(key, path !== undefined && works(path) ? path : null);
  }
  const setpriv = cache.get(key) ?? null;
  return setpriv === null ? null : [setpriv, [...options, '--', program, ...args]];
}

/**
 * Ends the process if its parent died before setpriv had tied it, which the kernel does not report.
 */
const WITH_PARENT = '[ "$PPID" = "$0" ] && exec "$@"';

/**
 * For a program that does not notice the death of its parent itself.
 * @param {string} program path of the program
 * @param {readonly string[]} args
 * @returns {[string, string[]]} command for setpriv that starts it only as a child of this process
 */
export function whileParentLives(program, args) {
  return ['/bin/sh', ['-c', WITH_PARENT, String(process.pid), program, ...args]];
}

/** Options of setpriv. */
export const UNTIL_PARENT_DIES = Object.freeze(['--pdeathsig', 'KILL']);

/**
 * @param {string} program path of the program
 * @param {readonly string[]} args
 * @returns {[string, string[]] | null} command to execute instead; null: not possible on this
 *   machine
 */
export function untilParentDies(program, args) {
  return bySetpriv(UNTIL_PARENT_DIES, program, args);
}
