/**
 * Installs the locked packages if they are missing, as the first step of `npm start` and `npm
 * test`, so that two commands are enough on a new machine. Uses Node's own modules only, and
 * installs nothing outside of this folder.
 */

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
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
  // Cached packages need no network; without --prefer-offline npm would retry for more than a
  // minute. package.json denies the scripts of dependencies, but npm 10 ignores this. The script of
  // hiredis would fail, and npm would then remove the package; scripts/build-hiredis.js builds it.
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

if (!process.exitCode && lacksTypes()) {
  const { status } = spawnSync(process.execPath, [path.join(ROOT, 'scripts/build-types.js')], {
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0) console.error('dragstrip: the types are not built: `npm pack` lacks them');
}

/**
 * `npm pack` runs no scripts (.npmrc), so the packed files must exist before.
 * @returns {boolean} whether they are missing, or older than the sources of the programming
 *   interface
 */
function lacksTypes() {
  if (!existsSync(path.join(ROOT, 'node_modules', 'typescript'))) return false; // a dependency
  const timeOf = (/** @type {string} */ file) =>
    statSync(path.join(ROOT, file), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const folders = ['.', 'lib', 'packages/handlersocket', 'packages/mutex'];
  const sources = folders.flatMap((folder) =>
    readdirSync(path.join(ROOT, folder))
      .filter((name) => /\.js$|\.d\.ts$/.test(name))
      .map((name) => path.join(folder, name)),
  );
  return Math.max(...sources.map(timeOf)) > timeOf('types/index.d.cts');
}

/**
 * @param {string} stderr stderr of npm
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
  const message = lines.find((line) => !/^(code|syscall|errno|path) /.test(line)) ?? lines[0];
  return `${message ?? 'npm ci failed'}${code === undefined ? '' : ` (${code})`}; run \`npm ci\` to see more`;
}

/** @returns {boolean} whether node_modules matches the lock file */
function isInstalled() {
  const hidden = path.join(ROOT, 'node_modules', '.package-lock.json');
  const lock = path.join(ROOT, 'package-lock.json');
  if (!existsSync(lock)) return existsSync(path.join(ROOT, '..', 'commander')); // a dependency
  if (!existsSync(hidden)) return false;
  const wanted = JSON.parse(readFileSync(lock, 'utf8')).packages;
  const there = JSON.parse(readFileSync(hidden, 'utf8')).packages;
  return Object.entries(wanted).every(
    ([place, { version, optional, devOptional, os, cpu, link }]) => {
      // Except the root, and the packages in packages/ with their links, which nothing imports.
      if (!place.startsWith('node_modules/') || link) return true;
      const found = there[place];
      if (found === undefined) return Boolean(optional || devOptional || os || cpu);
      return found.version === version;
    },
  );
}
