/**
 * Runs the tests by name: a bare `node --test` would take test.js and async_test.js for tests, and
 * Node 20 knows no globs. `node scripts/test.js fast contract` runs these folders only, in test/
 * and in packages/NAME/test/.
 *
 * Servers are fetched once, before the tests. Without a network the files that need a missing one
 * are skipped with the reason, unless DRAGSTRIP_TEST_SERVERS=required (as in CI).
 */

import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { isTest } from './imports.js';

const ROOT = path.resolve(fileURLToPath(import.meta.url), '../..');
/** The last, of tests that decide by statistics, only where it is named: npm run test:long. */
const FOLDERS = ['fast', 'golden', 'contract', 'fault', 'long'];
/** Folders whose tests start real servers. */
const WITH_SERVERS = ['contract', 'fault', 'long'];
/** What starts servers in tests, by the path in an import. */
const STARTS =
  /from '\.[^']*\/(servers|own-redis|loader-stores|handlersocket-server)\.js'|servers\/index\.js'/;
const SERVERS = ['redis', 'mariadb', 'tarantool', 'nutcracker', 'haproxy'];

/** Files at a time: tests wait for about half of their time, on processes, leases and time limits. */
const CONCURRENCY = 3;
/** A file that hangs fails, and the others still run. */
const TIMEOUT_MS = 900_000;

const given = process.argv.slice(2);
const folders = given.length === 0 ? FOLDERS.slice(0, -1) : given;
const unknown = folders.find((folder) => !FOLDERS.includes(folder));
if (unknown !== undefined) {
  console.error(`no test folder ${unknown}; there are ${FOLDERS.join(', ')}`);
  process.exit(2);
}

const missing = folders.some((folder) => WITH_SERVERS.includes(folder)) ? await fetchAll() : [];
if (missing.length > 0 && process.env['DRAGSTRIP_TEST_SERVERS'] === 'required') {
  for (const { error } of missing) console.error(`dragstrip: ${error.message}`);
  process.exit(4);
}
const packages = readdirSync(path.join(ROOT, 'packages'));
const roots = ['test', ...packages.map((name) => path.join('packages', name, 'test'))];
const all = folders.flatMap((folder) => roots.flatMap((root) => testsIn(path.join(root, folder))));
const skipped = missing.length === 0 ? [] : all.filter(lacksServer);
const child = spawn(
  process.execPath,
  [
    '--test',
    `--test-concurrency=${CONCURRENCY}`,
    `--test-timeout=${TIMEOUT_MS}`,
    '--test-reporter=spec',
    ...all.filter((file) => !skipped.includes(file)),
  ],
  { cwd: ROOT, stdio: 'inherit' },
);
child.on('exit', (status, signal) => {
  process.exitCode = signal === null ? (status ?? 70) : 70;
  if (skipped.length === 0) return;
  console.log(`\nskipped: ${skipped.length} of ${all.length} files, since servers are missing`);
  for (const { error } of missing) console.log(`  ${error.message.split('\n')[0]}`);
});

/** @param {string} folder @returns {string[]} files of tests; none if there is no such folder */
function testsIn(folder) {
  const place = path.join(ROOT, folder);
  if (!existsSync(place)) return [];
  return readdirSync(place, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.js'))
    .sort()
    .map((name) => path.join(folder, name));
}

/** @returns {Promise<import('../servers/lifecycle.js').Failure[]>} servers that are not there */
async function fetchAll() {
  const { fetchServers } = await import('../servers/index.js');
  const { findHome } = await import('../lib/home.js');
  const { failures } = await fetchServers(SERVERS, { home: findHome({ env: {}, cwd: ROOT }) });
  return failures;
}

/**
 * @param {string} file of a test
 * @returns {boolean} it starts servers, and names one that is missing, or none in particular
 */
function lacksServer(file) {
  const starting = [...sourcesOf(file)].filter(([, text]) => STARTS.test(text));
  if (starting.length === 0) return false;
  // That one names every server, whichever a test asks it for.
  const own = starting.filter(([name]) => name !== path.join('test', 'helpers', 'servers.js'));
  const text = own.map(([, one]) => one).join('\n') + readFileSync(path.join(ROOT, file), 'utf8');
  const named = SERVERS.filter((name) => text.includes(`'${name}'`));
  return named.length === 0 || missing.some(({ name }) => named.includes(name));
}

/**
 * @param {string} file
 * @param {Map<string, string>} [found] texts by path
 * @returns {Map<string, string>} `found`, with it and the helpers that it imports, and so on
 */
function sourcesOf(file, found = new Map()) {
  if (found.has(file)) return found;
  const text = readFileSync(path.join(ROOT, file), 'utf8');
  found.set(file, text);
  for (const [, to] of text.matchAll(/from '(\.[^']*\.js)'/g)) {
    const imported = path.join(path.dirname(file), to);
    if (isTest(imported)) sourcesOf(imported, found);
  }
  return found;
}
