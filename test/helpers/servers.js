/**
 * Real servers for a test file: started once before its tests on private ports, in a separate
 * folder, and stopped after them; they end with the test's process in any way.
 *
 * Programs come from PATH, else from the repository's `.dragstrip/packages`, which is filled at
 * first use.
 */

import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';
import { shareCredentials } from '../../bench/login.js';
import { formatEndpoint, parseEndpoint } from '../../lib/address.js';
import { findHome } from '../../lib/home.js';
import { ownerMayLive, ownerName } from '../../lib/process-identity.js';
import { needsOf } from '../../scripts/imports.js';
import { SERVER_NAMES, startServers, stopServers } from '../../servers/index.js';

/** @typedef {import('../../lib/types.js').Address} Address */
/** @typedef {import('../../lib/types.js').Credentials} Credentials */
/** @typedef {import('../../lib/types.js').RunningServer} RunningServer */

/**
 * State folder whose packages all test files share: that of the repository; for root elsewhere, if
 * the user of its servers cannot access the repository.
 */
export const PACKAGES_HOME = findHome({
  env: {},
  cwd: fileURLToPath(new URL('../..', import.meta.url)),
});

/** Prefix of temporary state folders. */
const PREFIX = 'ds.';

/** Fetching takes up to a minute on a slow network. */
const START_TIMEOUT_MS = 180_000;

/**
 * Call it at the top of a test file: `const servers = withServers(['redis']);`, then inside a test
 * `servers.address('redis')`.
 * @param {readonly ('redis' | 'mariadb' | 'tarantool' | 'cassandra' | 'nutcracker'
 *   | 'redis-cluster' | 'coordinator')[]} names
 * @param {{ tls?: boolean }} [how] tls: also with encrypted connections
 * @returns {{ names: readonly string[], running(name: string): RunningServer, address(name:
 *   string): Address, credentials(name: string): Credentials, login(name: string): { user: string,
 *   username: string, password: string }, home(): string }} running: pid, folder, version; login:
 *   credentials with the names of drivers; home: the temporary state folder
 */
export function withServers(names, { tls = false } = {}) {
  requireDeclared(names);
  /** @type {Awaited<ReturnType<typeof startServers>> | undefined} */
  let started;
  let home = '';

  before(
    async () => {
      home = await makeHome();
      started = await startServers(names, { home, packagesHome: PACKAGES_HOME, owned: true, tls });
      if (started.failures.length > 0) throw started.failures[0].error;
      // Commands started by tests receive addresses only.
      await shareCredentials(started.servers);
    },
    { timeout: START_TIMEOUT_MS },
  );

  after(async () => {
    await started?.stop();
    await rm(home, { recursive: true, force: true });
  });

  /** @param {string} name */
  function running(name) {
    const found = started?.servers.find((server) => server.name === name);
    if (found === undefined) throw new Error(`withServers: ${name} is not among ${names}`);
    return found;
  }

  return {
    names,
    running,
    home: () => home,
    address: (name) => addressOf(running(name)),
    credentials: (name) => credentialsOf(running(name)),
    login: (name) => loginOf(running(name)),
  };
}

/**
 * @param {readonly string[]} names
 * @throws if the test file has no line `// Needs: …` with them, which scripts/test.js reads
 */
function requireDeclared(names) {
  const needs = needsOf(readFileSync(process.argv[1], 'utf8'));
  const lost = names.filter((name) => !needs.includes(name));
  if (lost.length > 0) throw new Error(`${process.argv[1]}: add // Needs: ${lost.join(', ')}`);
}

/**
 * @param {RunningServer} running
 * @returns {Credentials}
 */
export function credentialsOf({ credentials = {} }) {
  return Object.fromEntries(
    Object.entries(credentials).map(([field, path]) => [field, readFileSync(path, 'utf8')]),
  );
}

/**
 * @param {RunningServer} running
 * @returns {{ user: string, username: string, password: string }} for drivers of SQL, of Redis and
 *   of Tarantool
 */
export function loginOf(running) {
  const { user, password } = credentialsOf(running);
  return /** @type {any} */ ({ ...(user && { user, username: user }), password });
}

/**
 * Its name contains the owner, so that the folder of a killed test is removed by the next one.
 * @returns {Promise<string>} a new private state folder
 */
export async function makeHome() {
  await sweepHomes();
  return mkdtemp(join(tmpdir(), `${PREFIX}${ownerName()}.`));
}

async function sweepHomes() {
  for (const leaf of await readdir(tmpdir())) {
    if (!leaf.startsWith(PREFIX) || ownerMayLive(leaf.slice(PREFIX.length))) continue;
    const home = join(tmpdir(), leaf);
    // A folder of a different user, or one that another test file is removing.
    await stopServers(SERVER_NAMES, { home }).catch(() => {});
    await rm(home, { recursive: true, force: true }).catch(() => {});
  }
}

/**
 * @param {ReturnType<typeof withServers>} servers
 * @returns {Record<string, string>} environment variables with the addresses of running servers
 */
export function addressVariables({ names, address }) {
  /** @type {Record<string, string>} */
  const variables = {};
  for (const name of names) {
    if (name === 'mariadb') {
      const { sql, read, write } = address(name);
      variables['DRAGSTRIP_MYSQL'] = formatEndpoint(sql);
      variables['DRAGSTRIP_HANDLERSOCKET'] = formatEndpoint(read);
      variables['DRAGSTRIP_HANDLERSOCKET_WRITE'] = formatEndpoint(write);
    } else
      variables[`DRAGSTRIP_${name.toUpperCase().replace('-', '_')}`] = formatEndpoint(
        address(name)['main'],
      );
  }
  return variables;
}

/**
 * @param {ReturnType<typeof withServers>} servers
 * @returns {Record<string, string>} the addresses by flag, as options of a run
 */
export function addressFlags(servers) {
  const all = Object.entries(addressVariables(servers));
  const flagOf = (/** @type {string} */ name) => name.replace('DRAGSTRIP_', '').toLowerCase();
  return Object.fromEntries(all.map(([name, text]) => [flagOf(name).replaceAll('_', '-'), text]));
}

/**
 * @param {RunningServer} running
 * @returns {Address}
 */
export function addressOf({ address }) {
  return Object.fromEntries(
    Object.entries(address).map(([name, text]) => [name, parseEndpoint(text)]),
  );
}
