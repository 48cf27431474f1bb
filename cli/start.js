/**
 * Begins every program: a Node that is too old, or packages that are not installed, are one line in
 * place of the stack of a failed import. Node's own modules only, in syntax that old ones know.
 */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** The first version that runs this: see engines in package.json. */
const NODE_MIN = [20, 19];
/** Exit statuses, as lib/errors.js has them. */
const USAGE = 2;
const TARGET = 4;
/** Of the parent of a race by slices: its modules, and pipes to each process. */
const FILES_MIN = 200;

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
  const files = openFilesMax();
  if (files < FILES_MIN) {
    const what = `only ${files} files may be open at once, ${FILES_MIN} are needed`;
    process.stderr.write(`dragstrip: ${what}; raise the limit: ulimit -n 65536\n`);
    process.exitCode = TARGET;
    return;
  }
  const { main } = await import('./main.js');
  await main([...args], shim);
}

/**
 * Node has raised its limit to the highest that it may have. Where that is low, imports fail, and
 * drivers, pools and processes in many ways of their own.
 * @returns {number} Infinity where it is not known: not Linux
 */
function openFilesMax() {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
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
