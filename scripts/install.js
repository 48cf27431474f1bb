/**
 * Installs the locked packages if they are not there: what `npm start` and `npm test` do first, so
 * that two commands are enough on a fresh machine. Node's own modules only; nothing is installed
 * outside of this folder.
 */

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = path.resolve(fileURLToPath(import.meta.url), '../..');

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`dragstrip: Node ${process.versions.node} is too old; install Node 20.19 or later`);
  process.exit(2);
}

if (!isInstalled()) {
  console.error('installing the locked packages (npm ci)');
  const npm = process.env['npm_execpath'];
  const [program, args] =
    npm !== undefined && /\.[cm]?js$/.test(npm) ? [process.execPath, [npm]] : ['npm', []];
  const { status, error } = spawnSync(program, [...args, 'ci', '--no-audit', '--no-fund'], {
    cwd: ROOT,
    stdio: ['ignore', 2, 2],
  });
  if (error !== undefined) console.error(`dragstrip: npm could not be run: ${error.message}`);
  process.exitCode = status ?? 70;
}

/** @returns {boolean} whether node_modules holds what the lock file says */
function isInstalled() {
  const hidden = path.join(ROOT, 'node_modules', '.package-lock.json');
  const lock = path.join(ROOT, 'package-lock.json');
  if (!existsSync(lock)) return existsSync(path.join(ROOT, '..', 'commander')); // a dependency
  if (!existsSync(hidden)) return false;
  const wanted = JSON.parse(readFileSync(lock, 'utf8')).packages;
  const there = JSON.parse(readFileSync(hidden, 'utf8')).packages;
  return Object.entries(wanted).every(([place, { version, optional, devOptional, os, cpu }]) => {
    if (place === '') return true;
    const found = there[place];
    if (found === undefined) return Boolean(optional || devOptional || os || cpu);
    return found.version === version;
  });
}
