/**
 * Real servers for a test file: started once before its tests on private ports, in a folder of
 * their own, stopped after them; they die with the test's process, however that ends.
 *
 * Programs come from PATH, else from the repository's `.dragstrip/packages`, where they are fetched
 * on first need.
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
import { isAlive, ownIdentity } from '../../lib/process-identity.js';
import { SERVER_NAMES, startServers, stopServers } from '../../servers/index.js';

/** @typedef {import('../../lib/types.js').Address} Address */
/** @typedef {import('../../lib/types.js').Credentials} Credentials */
/** @typedef {import('../../lib/types.js').RunningServer} RunningServer */

/**
 * State folder whose packages all test files share: that of the repository; for root elsewhere, if
 * the user of its servers cannot reach the repository.
 */
export const PACKAGES_HOME = findHome({
  env: {},
  cwd: fileURLToPath(new URL('../..', import.meta.url)),
});

/** Begins the names of temporary state folders. */
const PREFIX = 'dragstrip.';

/** A first fetch takes up to a minute on a slow line. */
const START_TIMEOUT_MS = 180_000;

/**
 * Call it at the top of a test file: `const servers = withServers(['redis']);`, then inside a test
 * `servers.address('redis')`.
 * @param {readonly ('redis' | 'mariadb' | 'tarantool' | 'cassandra' | 'nutcracker'
 *   | 'redis-cluster' | 'coordinator')[]} names
 * @param {{ tls?: boolean }} [how] tls: with encrypted connections, too
 * @returns {{ names: readonly string[], running(name: string): RunningServer,
 *   address(name: string): Address, credentials(name: string): Credentials, login(name: string):
 *   { user: string, username: string, password: string }, home(): string }} running: pid, folder,
 *   version; login: the same as drivers call it; home: the temporary state folder
 */
export function withServers(names, { tls = false } = {}) {
  /** @type {Awaited<ReturnType<typeof startServers>> | undefined} */
  let started;
  let home = '';

  before(
    async () => {
      home = await makeHome();
      started = await startServers(names, { home, packagesHome: PACKAGES_HOME, owned: true, tls });
      if (started.failures.length > 0) throw started.failures[0].error;
      // Commands that tests start are given addresses only.
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
 * @returns {{ user: string, username: string, password: string }} for drivers, of SQL, of Redis and
 *   of Tarantool
 */
export function loginOf(running) {
  const { user, password } = credentialsOf(running);
  return /** @type {any} */ ({ ...(user && { user, username: user }), password });
}

/**
 * Its name says whose it is, so that the folder of a test that was killed is cleaned by the next
 * one.
 * @returns {Promise<string>} a new private state folder; short, for the sockets' paths
 */
export async function makeHome() {
  const { pid, startTicks } = ownIdentity();
  await sweepHomes();
  return mkdtemp(join(tmpdir(), `${PREFIX}${pid}.${startTicks}.`));
}

async function sweepHomes() {
  for (const leaf of await readdir(tmpdir())) {
    const [pid, startTicks] = leaf.slice(PREFIX.length).split('.').map(Number);
    if (!leaf.startsWith(PREFIX) || isAlive({ pid, startTicks })) continue;
    const home = join(tmpdir(), leaf);
    // Another user's folder, or one that another test file is cleaning just now.
    await stopServers(SERVER_NAMES, { home }).catch(() => {});
    await rm(home, { recursive: true, force: true }).catch(() => {});
  }
}

/**
 * @param {ReturnType<typeof withServers>} servers
 * @returns {Record<string, string>} environment variables with the addresses of those that run
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
 * @returns {Record<string, string>} the same by flag, as a run takes them
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
