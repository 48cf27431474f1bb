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
  // What npm has in its cache needs no network; without one it would try for more than a minute.
  // package.json denies the scripts of dependencies; npm 10 does not know that. hiredis' own would
  // fail, and npm would then remove it: scripts/build-hiredis.js builds it.
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
  const waits = [
    '--fetch-retries=1',
    '--fetch-retry-mintimeout=2000',
    '--fetch-retry-maxtimeout=4000',
  ];
  const { status, error, stderr } = spawnSync(program, [...args, 'ci', ...flags, ...waits], {
    cwd: ROOT,
    stdio: ['ignore', 2, 'pipe'],
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  if (error !== undefined) console.error(`dragstrip: npm could not be run: ${error.message}`);
  else if (status !== 0) console.error(`dragstrip: packages not installed: ${reasonOf(stderr)}`);
  process.exitCode = status ?? 70;
}

/**
 * @param {string} stderr of npm
 * @returns {string} one line
 */
function reasonOf(stderr) {
  const lines = stderr
    .split('\n')
    .flatMap((line) => /^npm (?:error|ERR!) (.*)$/.exec(line)?.[1] ?? []);
  const code = lines.find((line) => line.startsWith('code '))?.slice(5);
  const network = [
    'EAI_AGAIN',
    'ENOTFOUND',
    'ECONNREFUSED',
    'ETIMEDOUT',
    'ENETUNREACH',
    'ECONNRESET',
  ];
  if (code !== undefined && network.includes(code)) {
    return `the registry of npm cannot be reached (${code}); connect to a network and run it again`;
  }
  const said = lines.find((line) => !/^(code|syscall|errno|path) /.test(line)) ?? lines[0];
  return `${said ?? 'npm ci failed'}${code === undefined ? '' : ` (${code})`}; run \`npm ci\` to see more`;
}

/** @returns {boolean} whether node_modules holds what the lock file says */
function isInstalled() {
  const hidden = path.join(ROOT, 'node_modules', '.package-lock.json');
  const lock = path.join(ROOT, 'package-lock.json');
  if (!existsSync(lock)) return existsSync(path.join(ROOT, '..', 'commander')); // a dependency
  if (!existsSync(hidden)) return false;
  const wanted = JSON.parse(readFileSync(lock, 'utf8')).packages;
  const there = JSON.parse(readFileSync(hidden, 'utf8')).packages;
  return Object.entries(wanted).every(
    ([place, { version, optional, devOptional, os, cpu, link }]) => {
      // The root, and the packages in packages/ with the links to them: nothing here imports those.
      if (!place.startsWith('node_modules/') || link) return true;
      const found = there[place];
      if (found === undefined) return Boolean(optional || devOptional || os || cpu);
      return found.version === version;
    },
  );
}
