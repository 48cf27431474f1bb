/**
 * The state folder of Dragstrip: where fetched servers, their data and their records are kept.
 * Not for results: those go where the user says.
 */

import { statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** Name of the state folder. */
export const HOME_NAME = '.dragstrip';

/**
 * @param {{ env?: Record<string, string | undefined>, cwd?: string }} [options]
 * @returns {string} absolute path: DRAGSTRIP_HOME; else the nearest `.dragstrip` at or above cwd, as
 *   git looks for its folder; else cwd/.dragstrip. It need not exist yet
 */
export function findHome({ env = process.env, cwd = process.cwd() } = {}) {
  if (env['DRAGSTRIP_HOME']) return resolve(cwd, env['DRAGSTRIP_HOME']);
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const candidate = join(folder, HOME_NAME);
    if (statSync(candidate, { throwIfNoEntry: false })?.isDirectory()) return candidate;
    if (folder === dirname(folder)) return resolve(cwd, HOME_NAME);
  }
}
