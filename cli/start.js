/**
 * Entry of every program: reports an old Node version or missing packages in one line instead of
 * the stack of a failed import. Uses Node's own modules only, and syntax that old versions parse.
 */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** Minimum Node version, as in `engines` of package.json. */
const NODE_MIN = [20, 19];
/** Exit statuses, as in lib/errors.js. */
const USAGE = 2;
const TARGET = 4;
/**
 * File descriptors needed by the parent of a race in blocks: modules, and pipes to each process.
 */
const FILES_MIN = 200;

/**
 * @param {readonly string[]} args arguments of the command line
 * @param {Parameters<typeof import('./main.js').main>[1]} [shim] the program
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
    const what = `the limit of open files is ${files}, at least ${FILES_MIN} are needed`;
    process.stderr.write(`dragstrip: ${what}; raise the limit: ulimit -n 65536\n`);
    process.exitCode = TARGET;
    return;
  }
  const { main } = await import('./main.js');
  await main([...args], shim);
}

/**
 * Node has raised its limit to the hard limit. If that is low, imports, drivers, pools and
 * processes fail in various ways.
 * @returns {number} Infinity if unknown (not Linux)
 */
function openFilesMax() {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** @param {string} name name of a package */
function resolve(name) {
  return createRequire(import.meta.url).resolve(name);
}

/**
 * @param {{ version: string, resolve: (name: string) => unknown }} here
 * @returns {string | null} hint; null: nothing is missing
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
