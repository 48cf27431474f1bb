/**
 * Cassandra as a single node: how to find, fetch, start and probe it. It requires Java 17; Maven
 * downloads its jars.
 */

import { existsSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { formatEndpoint } from '../lib/address.js';
import { connectCassandra, explainCassandra } from '../lib/cassandra.js';
import { defineServer } from '../lib/define.js';
import { targetError } from '../lib/errors.js';
import { findListener } from '../measure/listener.js';
import { javaArguments, writeSettings } from './cassandra-settings.js';
import { ask, nameKind, notThere, PROBE_TIMEOUT_MS } from './conversation.js';
import { startDaemon } from './daemon.js';
import { describeJava, findJava } from './java.js';
import { copyDependencies, requireDigests } from './maven.js';
import { packagesFolder } from './programs.js';
import { serversFolder } from './record.js';
import { OWN_USER, randomSecret } from './secrets.js';

/** @typedef {import('../lib/types.js').Credentials} Credentials */
/** @typedef {import('../lib/types.js').Endpoint} Endpoint */

const LIBRARY = { group: 'org.apache.cassandra', artifact: 'cassandra-all', version: '5.0.9' };
/** Digests of its jar and its dependencies, in the format of sha256sum. */
const DIGESTS = new URL('cassandra-jars.sha256', import.meta.url);
const JAR = /^cassandra-all-(\d[\d.]*)\.jar$/;
/** Starting takes five seconds on an idle machine. */
const READY_TIMEOUT_MS = 120_000;
const POLL_MS = 200;
/** CQL frame of an OPTIONS request, version 4, stream 0; every server replies SUPPORTED. */
const OPTIONS_FRAME = Buffer.from([4, 0, 0, 0, 5, 0, 0, 0, 0]);
const REPLY_HEADER = 9;
const GIVE_ADDRESS = 'give the address of a running one with --cassandra';
const HINT = `start one with \`npx dragstrip servers start cassandra\`, or ${GIVE_ADDRESS}`;
/** The superuser of a new Cassandra, and its password. */
const FIRST_ROLE = 'cassandra';
const BOUNDED = { connectTimeout: PROBE_TIMEOUT_MS, readTimeout: PROBE_TIMEOUT_MS };
const SETTINGS = ['commitlog_sync', 'commitlog_sync_period', 'memtable_heap_space'];

export default defineServer({
  name: 'cassandra',
  summary: 'Cassandra, one node: commit log and in-memory tables, CQL (requires Java 17)',
  endpoints: {
    main: {
      default: '127.0.0.1:9042',
      env: 'DRAGSTRIP_CASSANDRA',
      flag: 'cassandra',
      summary: 'Cassandra, CQL',
    },
  },
  credentials: { user: 'DRAGSTRIP_CASSANDRA_USER', password: 'DRAGSTRIP_CASSANDRA_PASSWORD' },
  packages: [],
  programs: ['java'],

  async find(home) {
    const root = packagesFolder(home, 'cassandra');
    const libraries = join(root, 'lib');
    if ((await readVersion(libraries)) === null) return null;
    const java = await findJava();
    if (java === null) return null;
    return {
      programs: { java },
      env: { CLASSPATH: join(libraries, '*') },
      source: 'fetched',
      root,
    };
  },

  async fetch({ root, onEvent, signal }) {
    await requireJava();
    const { group, artifact, version } = LIBRARY;
    onEvent?.(`${group}:${artifact}:${version} and its dependencies, with Maven`);
    const libraries = join(root, 'lib');
    const scratch = join(root, 'maven');
    const names = { name: 'cassandra', hint: GIVE_ADDRESS };
    await copyDependencies(LIBRARY, libraries, { scratch, signal, ...names });
    if ((await readVersion(libraries)) === null) {
      throw targetError('cassandra: its jar is missing from the Maven download', GIVE_ADDRESS);
    }
    return `${await requireDigests(libraries, readFileSync(DIGESTS, 'utf8'), 'cassandra')} jars`;
  },

  async start(context) {
    const { programs, env } = context.binaries;
    const libraries = env['CLASSPATH'].slice(0, -'/*'.length);
    const agent = (await readdir(libraries)).find((name) => /^jamm-.*\.jar$/.test(name));
    if (agent === undefined) throw targetError(`cassandra: no jamm jar in ${libraries}`);
    const secrets = { user: OWN_USER, password: lastPassword(context) ?? randomSecret() };
    return startDaemon(
      {
        name: 'cassandra',
        version: (await readVersion(libraries)) ?? 'unknown',
        endpoints: ['main'],
        secrets,
        inner: ['storage'],
        readyTimeoutMs: READY_TIMEOUT_MS,
        pollMs: POLL_MS,
        plan(folder, ports) {
          writeSettings(folder, ports);
          return { program: programs['java'], args: javaArguments(folder, join(libraries, agent)) };
        },
        answers: ({ main }) => isReady(main, secrets),
      },
      context,
    );
  },

  async probe({ main }, credentials) {
    const answer = await ask(main, { send: OPTIONS_FRAME, enough: isReply });
    if (nameKind(answer.bytes) !== 'Cassandra') throw notThere('Cassandra', main, answer, HINT);
    const { version, settings } = await readSettings(main, credentials);
    return { version, settings, pid: await findListener(main) };
  },
});

async function requireJava() {
  if ((await findJava()) !== null) return;
  throw targetError(
    `cassandra requires Java 17, ${await describeJava()}`,
    `put it on PATH or set JAVA_HOME (Debian package openjdk-17-jre-headless), or ${GIVE_ADDRESS}`,
  );
}

/**
 * @param {string} libraries
 * @returns {Promise<string | null>} version of the installed Cassandra
 */
async function readVersion(libraries) {
  for (const name of await readdir(libraries).catch(() => [])) {
    const match = JAR.exec(name);
    if (match !== null) return match[1];
  }
  return null;
}

/** @param {Buffer} bytes */
function isReply(bytes) {
  return bytes.length >= REPLY_HEADER;
}

/**
 * Cassandra stores the hashes of its roles' passwords, so a second start has the same password.
 * @param {import('../lib/types.js').StartContext} context
 * @returns {string | null}
 */
function lastPassword({ home, owned }) {
  const path = join(serversFolder(home), 'cassandra', 'secrets', 'password');
  return owned || !existsSync(path) ? null : readFileSync(path, 'utf8');
}

/**
 * @param {Endpoint} endpoint
 * @param {{ user: string, password: string }} secrets
 */
async function isReady(endpoint, secrets) {
  const answer = await ask(endpoint, { send: OPTIONS_FRAME, enough: isReply });
  if (nameKind(answer.bytes) !== 'Cassandra') return false;
  return takeOver(endpoint, secrets).then(
    () => true,
    (error) => {
      if (error.code === 'E_TARGET') throw error;
      return false;
    },
  );
}

/**
 * Cassandra starts with a superuser with a well-known password: it creates the role of Dragstrip
 * and is then disabled, in open sessions too. Another user of the machine has some milliseconds in
 * between; a role created then is detected.
 * @param {Endpoint} endpoint
 * @param {{ user: string, password: string }} secrets
 */
async function takeOver(endpoint, { user, password }) {
  const known = { user: FIRST_ROLE, password: FIRST_ROLE };
  const asOurs = () => connectCassandra(endpoint, { user, password }, BOUNDED);
  const client = await asOurs().catch(async () => {
    const first = await connectCassandra(endpoint, known, BOUNDED);
    const rights = `password = '${password}' and login = true and superuser = true`;
    await first
      .execute(`create role if not exists ${user} with ${rights}`)
      .finally(() => first.shutdown());
    return asOurs();
  });
  try {
    const closed = `password = '${randomSecret()}' and login = false and superuser = false`;
    await client.execute(`alter role ${FIRST_ROLE} with ${closed}`);
    // Else its open sessions keep their rights until their entry in the cache ends.
    await client.execute('truncate system_views.roles_cache_keys');
    const { rows } = await client.execute('select role from system_auth.roles');
    const others = rows
      .map(({ role }) => role)
      .filter((role) => ![FIRST_ROLE, user].includes(role));
    if (others.length > 0) {
      throw targetError(`cassandra: another user has created the role ${others[0]} meanwhile`);
    }
  } finally {
    await client.shutdown();
  }
}

/**
 * @param {Endpoint} endpoint
 * @param {Credentials} credentials
 */
async function readSettings(endpoint, credentials) {
  if (endpoint.host === undefined) {
    throw targetError(
      `Cassandra at ${formatEndpoint(endpoint)}: unix sockets are not supported`,
      HINT,
    );
  }
  let client;
  try {
    client = await connectCassandra(endpoint, credentials, BOUNDED);
    const local = await client.execute('select release_version from system.local');
    return {
      version: String(local.first()?.['release_version'] ?? 'unknown'),
      settings: await querySettings(client),
    };
  } catch (error) {
    const { text, hint } = explainCassandra(error);
    throw targetError(
      `Cassandra at ${formatEndpoint(endpoint)}: ${text}`,
      hint ?? 'set DRAGSTRIP_CASSANDRA_USER and DRAGSTRIP_CASSANDRA_PASSWORD',
      error,
    );
  } finally {
    await client?.shutdown();
  }
}

/**
 * @param {import('cassandra-driver').Client} client
 * @returns {Promise<Record<string, string>>} empty before Cassandra 4, which lacks this table
 */
async function querySettings(client) {
  const sql = 'select name, value from system_views.settings';
  const rows = await client.execute(sql).then(
    (reply) => reply.rows,
    () => [],
  );
  const wanted = rows.filter(({ name, value }) => SETTINGS.includes(name) && value !== null);
  return Object.fromEntries(wanted.map(({ name, value }) => [name, String(value)]));
}
