/**
 * Runs the tests by name: a plain `node --test` would run test.js and async_test.js as tests, and
 * Node 20 does not support globs. `node scripts/test.js fast contract` runs these folders only, in
 * test/ and in packages/NAME/test/. `--times` prints the time of each file before the summary.
 *
 * Files run in the same order each time; DRAGSTRIP_TEST_SEED=random shuffles them and prints the
 * seed, and DRAGSTRIP_TEST_SEED=<number> repeats that order.
 *
 * Servers are fetched once, before the tests. A test file declares its servers by a line
 * `// Needs: redis, mariadb` (test/helpers/servers.js checks it). Without a network the files that
 * need a missing one are skipped with the reason, unless DRAGSTRIP_TEST_SERVERS=required (as in
 * CI).
 */

import { randomInt } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createRandom, shuffled } from '../lib/random.js';
import { needsOf } from './imports.js';
import { withFindings } from './test-reporter.js';

const ROOT = path.resolve(fileURLToPath(import.meta.url), '../..');
/** The last one, with repeating and statistical tests, only runs if named: test:long. */
const FOLDERS = ['fast', 'golden', 'contract', 'fault', 'long'];
/** Folders whose tests start real servers. */
const WITH_SERVERS = ['contract', 'fault', 'long'];
/** @type {Readonly<Record<string, string>>} servers based on Redis */
const OF_REDIS = Object.freeze({ 'redis-cluster': 'redis', coordinator: 'redis' });
const SERVERS = ['redis', 'mariadb', 'tarantool', 'nutcracker', 'haproxy'];

/** The longest files (`--times`); started last, they would run alone. */
const LONGEST = [
  ...['contract/cassandra', 'contract/server-counts', 'contract/loads', 'fault/outage'],
  ...['contract/commands', 'fault/network', 'fault/lost-server', 'contract/frozen'],
  ...['fault/disk-full-servers', 'contract/frozen-alone', 'contract/mget', 'fault/servers'],
  'contract/memory-growth',
].map((name) => `test/${name}.test.js`);

/**
 * Concurrent files, because tests spend about half of their time waiting for processes, leases and
 * time limits.
 */
const CONCURRENCY = 3;
/** A file that hangs fails, and the others still run. */
const TIMEOUT_MS = 900_000;

const { values, positionals: folderNames } = parseArgs({
  allowPositionals: true,
  options: { times: { type: 'boolean', default: false } },
});
const folders = folderNames.length === 0 ? FOLDERS.slice(0, -1) : folderNames;
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
const status = await runFiles(inOrder(all.filter((file) => !skipped.includes(file))));
if (skipped.length > 0) {
  console.log(`\nskipped: ${skipped.length} of ${all.length} files, since servers are missing`);
  for (const { error } of missing) console.log(`  ${error.message.split('\n')[0]}`);
}
process.exitCode = status;

/**
 * @param {readonly string[]} files
 * @returns {string[]} interleaved, since files of `contract` use the processors and those of
 *   `fault` mostly wait, longest first; or shuffled by DRAGSTRIP_TEST_SEED
 */
function inOrder(files) {
  const text = process.env['DRAGSTRIP_TEST_SEED'];
  if (text === undefined) {
    const mixed = shuffled(files, createRandom(0));
    const others = mixed.filter((file) => !LONGEST.includes(file));
    return [...LONGEST.filter((file) => mixed.includes(file)), ...others];
  }
  const seed = text === 'random' ? randomInt(2 ** 32) : Number(text);
  if (!(Number.isInteger(seed) && seed >= 0 && seed < 2 ** 32)) {
    console.error(`DRAGSTRIP_TEST_SEED=${text}: not a whole number below 2^32, nor random`);
    process.exit(2);
  }
  console.log(`order of files: DRAGSTRIP_TEST_SEED=${seed}`);
  return shuffled(files, createRandom(seed));
}

/**
 * @param {readonly string[]} files
 * @returns {Promise<number>} exit status: 1 if a test failed
 */
async function runFiles(files) {
  process.chdir(ROOT);
  const folder = mkdtempSync(path.join(tmpdir(), 'dragstrip-test-'));
  const timesFile = values.times ? path.join(folder, 'times') : undefined;
  if (timesFile !== undefined) {
    writeFileSync(timesFile, '');
    process.env['DRAGSTRIP_TEST_TIMES'] = timesFile;
    // The runner starts test files with the options of this process.
    process.execArgv.push('--import', new URL('test-times.js', import.meta.url).href);
  }
  // Node 22.1 and later compile each file once for all processes: the CPU time of a contender's
  // process falls from 380 to 230 ms.
  process.env['NODE_COMPILE_CACHE'] ??= path.join(folder, 'code');
  // Statistical tests must not disturb each other; benches contain no timings here.
  const isAlone = (/** @type {string} */ file) => /\/long\/(?!.*bench)/.test(file);
  const [alone, others] = [files.filter(isAlone), files.filter((file) => !isAlone(file))];
  let status = 0;
  if (others.length > 0) status |= await runSome(others, { concurrency: CONCURRENCY, timesFile });
  if (alone.length > 0) status |= await runSome(alone, { concurrency: 1, timesFile });
  rmSync(folder, { recursive: true, maxRetries: 5 });
  return status;
}

/**
 * @param {readonly string[]} files
 * @param {{ concurrency: number, timesFile: string | undefined }} how
 * @returns {Promise<number>} exit status
 */
async function runSome(files, { concurrency, timesFile }) {
  let status = 0;
  const events = run({
    files: files.map((file) => path.join(ROOT, file)),
    concurrency,
    timeout: TIMEOUT_MS,
  });
  events.on('test:fail', ({ todo }) => {
    if (todo === undefined || todo === false) status = 1;
  });
  const report = Readable.from(withFindings(events, { timesFile })).pipe(new spec());
  report.pipe(process.stdout);
  await finished(report);
  return status;
}

/** @param {string} folder @returns {string[]} test files; empty without such a folder */
function testsIn(folder) {
  const place = path.join(ROOT, folder);
  if (!existsSync(place)) return [];
  return readdirSync(place, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.js'))
    .sort()
    .map((name) => path.join(folder, name));
}

/** @returns {Promise<import('../servers/lifecycle.js').Failure[]>} missing servers */
async function fetchAll() {
  const { fetchServers } = await import('../servers/index.js');
  const { findHome } = await import('../lib/home.js');
  const { failures } = await fetchServers(SERVERS, { home: findHome({ env: {}, cwd: ROOT }) });
  return failures;
}

/** @param {string} file file of a test @returns {string[]} required servers */
function serversOf(file) {
  return needsOf(readFileSync(path.join(ROOT, file), 'utf8'));
}

/** @param {string} file file of a test @returns {boolean} */
function lacksServer(file) {
  const programs = serversOf(file).map((name) => OF_REDIS[name] ?? name);
  return missing.some(({ name }) => programs.includes(name));
}
