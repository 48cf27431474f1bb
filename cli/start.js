/**
 * Begins every program: a Node that is too old, or packages that are not installed, are one line in
 * place of the stack of a failed import. Node's own modules only, in syntax that old ones know.
 */

import { createRequire } from 'node:module';

/** The first version that runs this: see engines in package.json. */
const NODE_MIN = [20, 19];
/** The exit status of invalid usage, as lib/errors.js has it. */
const USAGE = 2;

/**
 * @param {readonly string[]} args of the command line
 * @param {Parameters<typeof import('./main.js').main>[1]} [shim] which program it is
 */
export async function start(args, shim) {
  const missing = missingHere({ version: process.versions.node, resolve });
  if (missing !== null) {
    process.stderr.write(`dragstrip: ${missing}\n`);
    process.exitCode = USAGE;
    return;
  }
  const { main } = await import('./main.js');
  await main([...args], shim);
}

/** @param {string} name of a package */
function resolve(name) {
  return createRequire(import.meta.url).resolve(name);
}

/**
 * @param {{ version: string, resolve: (name: string) => unknown }} here
 * @returns {string | null} what to do; null: nothing is missing
 */
export function missingHere({ version, resolve: find }) {
  const [major, minor] = version.split('.').map(Number);
  if (major < NODE_MIN[0] || (major === NODE_MIN[0] && minor < NODE_MIN[1])) {
    return `Node ${version} is too old; install Node ${NODE_MIN.join('.')} or later`;
  }
  try {
    find('commander');
    find('zod');
    return null;
  } catch {
    return 'its packages are not installed; run `npm ci` in its folder';
  }
}
