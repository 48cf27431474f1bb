/**
 * The shell line that starts a server by hand: with the programs found by Dragstrip, the settings
 * file of the package and the default ports, without a password. Only returns the text.
 */

import { join } from 'node:path';
import { targetError, usageError } from '../lib/errors.js';
import { quoteForShell } from '../lib/format.js';
import { loadServer } from './registry.js';

/**
 * @param {string} name
 * @param {string} home state folder, with its data in `by-hand/`
 * @returns {Promise<string>} a line that ends with the server's command, so arguments can be
 *   appended
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: the server needs more than a line;
 *   E_TARGET: its programs are missing
 */
export async function commandByHand(name, home) {
  const { find, byHand } = await loadServer(name);
  if (byHand === undefined) {
    throw usageError(
      `servers command: ${name} needs settings written for it`,
      `run \`npx dragstrip servers start ${name}\``,
    );
  }
  const binaries = await find(home);
  if (binaries === null) {
    throw targetError(`${name}: not installed`, `run \`npx dragstrip servers fetch ${name}\``);
  }
  const folder = join(home, 'by-hand');
  const steps = byHand(binaries, folder).map(({ program, args, env }) => {
    const variables = Object.entries({ ...binaries.env, ...env });
    const set = variables.map(([variable, value]) => `${variable}=${quoteForShell(value)}`);
    return [...set, ...[program, ...args].map(quoteForShell)].join(' ');
  });
  const quoted = quoteForShell(folder);
  return [`mkdir -p ${quoted}`, `cd ${quoted}`, ...steps].join(' && ');
}
