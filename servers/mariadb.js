/**
 * MariaDB with the HandlerSocket plugin: how to find, start and probe it. Its settings are in
 * my.cnf, which also serves for manual starts.
 */

import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { rename, rm, symlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { formatEndpoint } from '../lib/address.js';
import { ROW_NAMES } from '../lib/dataset.js';
import { defineServer } from '../lib/define.js';
import { targetError } from '../lib/errors.js';
import { findListener } from '../measure/listener.js';
import { readProgramName } from '../measure/program-name.js';
import { certificatesIn } from './certificates.js';
import { readProgramVersion, runCommand } from './command.js';
import { ask, nameKind, notThere } from './conversation.js';
import { startDaemon } from './daemon.js';
import { readSettings } from './mariadb-settings.js';
import { findBinaries } from './programs.js';
import { OWN_USER, randomSecret, writePrivate } from './secrets.js';

/** @typedef {import('../lib/types.js').Binaries} Binaries */
/** @typedef {import('../lib/types.js').Credentials} Credentials */
/** @typedef {import('../lib/types.js').Endpoint} Endpoint */
/** @typedef {import('../lib/types.js').StartContext} StartContext */

const CONFIGURATION = fileURLToPath(new URL('../my.cnf', import.meta.url));
const PLUGIN = 'handlersocket.so';
/**
 * The data folder, which is mariadbd's working folder: when it starts it removes all files `#sql…`
 * of its temporary folder (mysql_rm_tmp_tables in sql/sql_base.cc), and in /tmp these may be the
 * temporary tables of other servers of this user.
 */
const OWN_TEMPORARY_FOLDER = '--tmpdir=.';
const PROGRAM = /^(mariadbd|mysqld|tidb)/;
const READY_TIMEOUT_MS = 60_000;
/** Errors of the script, of mariadbd, and of the shell and its programs. */
const ERROR_LINE =
  /^(fatal )?error\b|\[ERROR\]|: error while loading |: not found$|: No such file or directory$/i;
const HINT =
  'start one with `npx dragstrip servers start mariadb`, or give its addresses with --mysql, ' +
  '--handlersocket and --handlersocket-write';

export default defineServer({
  name: 'mariadb',
  summary: 'MariaDB with HandlerSocket: rows on disk and in a buffer pool, SQL and HandlerSocket',
  endpoints: {
    sql: {
      default: '127.0.0.1:3306',
      env: 'DRAGSTRIP_MYSQL',
      flag: 'mysql',
      summary: 'MariaDB or MySQL, SQL',
      schemes: ['mysql', 'mariadb'],
    },
    read: {
      default: '127.0.0.1:9998',
      env: 'DRAGSTRIP_HANDLERSOCKET',
      flag: 'handlersocket',
      summary: 'HandlerSocket of the same server, port for reading',
    },
    write: {
      default: '127.0.0.1:9999',
      env: 'DRAGSTRIP_HANDLERSOCKET_WRITE',
      flag: 'handlersocket-write',
      summary: 'HandlerSocket of the same server, port for writing',
    },
  },
  credentials: {
    user: 'DRAGSTRIP_MYSQL_USER',
    password: 'DRAGSTRIP_MYSQL_PASSWORD',
    secret: 'DRAGSTRIP_HANDLERSOCKET_SECRET',
    writeSecret: 'DRAGSTRIP_HANDLERSOCKET_WRITE_SECRET',
  },
  packages: ['mariadb-server', 'mariadb-server-core', 'mariadb-client-core'],
  programs: ['mariadbd', 'mariadb-install-db'],
  tls: true,

  find(home) {
    return findBinaries({
      required: ['mariadbd', 'mariadb-install-db'],
      optional: ['mariadb', 'mariadb-admin'],
      home,
      servers: ['mariadb'],
      accept: hasPlugin,
    });
  },

  async start(context) {
    const { binaries } = context;
    const base = baseFolder(binaries);
    const secrets = {
      user: OWN_USER,
      password: randomSecret(),
      secret: randomSecret(),
      writeSecret: randomSecret(),
    };
    return startDaemon(
      {
        name: 'mariadb',
        version: await readProgramVersion(
          binaries.programs['mariadbd'],
          ['--no-defaults', '--version'],
          /Ver (\d[^-\s]*)/,
          binaries.env,
        ),
        endpoints: ['sql', 'read', 'write'],
        readyTimeoutMs: READY_TIMEOUT_MS,
        secrets,
        prepare: (folder) => installData(context, base, folder),
        socket: 'mysql.sock',
        plan(folder, ports, socket) {
          const files = writeConfiguration(folder, secrets);
          return planStart(context, base, { folder, socket, ...files }, ports);
        },
        answers: (address) => isReady(address, secrets),
      },
      context,
    );
  },

  byHand(binaries, folder) {
    const { programs } = binaries;
    const base = baseFolder(binaries);
    const data = './mariadb';
    return [
      {
        program: programs['mariadb-install-db'],
        // Relative to the folder, to avoid its blanks and backslashes, see installArguments.
        args: installArguments(base && relative(folder, base), data, {}),
      },
      {
        program: programs['mariadbd'],
        args: [
          `--defaults-file=${CONFIGURATION}`,
          ...baseArguments(base),
          `--datadir=${data}`,
          OWN_TEMPORARY_FOLDER,
          ...userArguments({}),
        ],
      },
    ];
  },

  /** Probes the endpoints of the address: a MySQL without HandlerSocket has only `sql`. */
  async probe(address, credentials) {
    /** @type {import('../lib/types.js').ProbeReport} */
    const report = { version: 'unknown', settings: {}, pid: null };
    if (address['sql'] !== undefined) {
      const greeting = await greet(address['sql']);
      if (nameKind(greeting.bytes) !== 'MySQL or MariaDB') {
        throw notThere('MariaDB', address['sql'], greeting, HINT);
      }
      const { version, settings } = await readSettings(address['sql'], credentials);
      Object.assign(report, { version, settings });
      report.pid = await findProcess(address['sql']);
    }
    for (const { endpoint, secret } of handlerSocketPorts(address, credentials)) {
      const answer = await knock(endpoint, secret);
      if (nameKind(answer.bytes) !== 'HandlerSocket') {
        throw notThere('HandlerSocket', endpoint, answer, HINT);
      }
      if (/^3\t1\t/.test(answer.bytes.toString('latin1'))) {
        throw targetError(
          `HandlerSocket at ${formatEndpoint(endpoint)}: its secret is missing or wrong`,
          'set DRAGSTRIP_HANDLERSOCKET_SECRET and DRAGSTRIP_HANDLERSOCKET_WRITE_SECRET, or the ' +
            'same with _FILE',
        );
      }
      report.pid ??= await findProcess(endpoint);
    }
    return report;
  },
});

/**
 * @param {Endpoint} endpoint
 * @returns {Promise<number | null>} null also for a tunnel to a remote server
 */
async function findProcess(endpoint) {
  const pid = await findListener(endpoint);
  return pid !== null && PROGRAM.test(readProgramName(pid) ?? '') ? pid : null;
}

/**
 * Fetched programs expect their files in /usr unless configured otherwise.
 * @param {Binaries} binaries
 * @returns {string | null} /usr of the programs; null for system programs
 */
export function baseFolder({ programs, source }) {
  return source === 'fetched' ? dirname(dirname(programs['mariadbd'])) : null;
}

/** @param {string | null} base @returns {string[]} arguments of mariadbd */
function baseArguments(base) {
  if (base === null) return [];
  const plugins = join(base, 'lib', 'mysql', 'plugin');
  const messages = join(base, 'share', 'mysql');
  return [`--basedir=${base}`, `--plugin-dir=${plugins}`, `--lc-messages-dir=${messages}`];
}

/**
 * @param {Binaries} binaries binaries of the system
 * @returns {Promise<boolean>} whether HandlerSocket is in their plugin folder; MySQL and some
 *   distributions leave it out
 */
async function hasPlugin({ programs }) {
  const help = ['--no-defaults', '--verbose', '--help'];
  const { output } = await runCommand(programs['mariadbd'], help, { timeoutMs: 10_000 });
  const folder = /^plugin-dir\s+(\S.*)$/m.exec(output)?.[1];
  return folder !== undefined && existsSync(join(folder.trim(), PLUGIN));
}

/** mariadbd refuses to run as root without it. @param {Pick<StartContext, 'user'>} context */
function userArguments({ user }) {
  return process.getuid?.() === 0 && user === undefined ? ['--user=root'] : [];
}

/**
 * Creates the system tables once, in a temporary folder that is renamed when complete.
 * @param {Pick<StartContext, 'binaries' | 'signal' | 'user'>} context
 * @param {string | null} base
 * @param {string} folder folder of the server, for the subfolder `data`
 */
export async function installData(context, base, folder) {
  const { binaries, signal, user } = context;
  const data = join(folder, 'data');
  if (existsSync(data)) return;
  const partial = join(folder, 'data.partial');
  const link = join(folder, 'base');
  for (const left of [partial, link]) await rm(left, { recursive: true, force: true });
  if (base !== null) await symlink(base, link);
  const result = await runCommand(
    binaries.programs['mariadb-install-db'],
    installArguments(base && './base', './data.partial', context),
    { env: binaries.env, cwd: folder, signal, user },
  );
  await rm(link, { force: true });
  if (!result.ok) {
    throw targetError(`mariadb: creating its system tables failed:\n${errorIn(result.output)}`);
  }
  await rename(partial, data);
}

/**
 * The script ends with guesses about causes. Pure.
 * @param {string} output output of mariadb-install-db
 * @returns {string} lines with an error; otherwise the last ones
 */
export function errorIn(output) {
  const lines = output.trim().split('\n');
  const errors = lines.filter((line) => ERROR_LINE.test(line) && !line.endsWith('Aborting'));
  return (errors.length > 0 ? errors.slice(0, 3) : lines.slice(-5)).join('\n');
}

/**
 * The script splits a path at blanks, and treats a backslash as an escape.
 * @param {string | null} base relative to the working folder
 * @param {string} data the same
 * @param {Pick<StartContext, 'user'>} context
 */
function installArguments(base, data, context) {
  return [
    '--no-defaults',
    ...(base === null ? [] : [`--basedir=${base}`]),
    `--datadir=${data}`,
    OWN_TEMPORARY_FOLDER,
    '--auth-root-authentication-method=normal',
    '--skip-test-db',
    '--skip-name-resolve',
    '--innodb-log-file-size=8M',
    ...userArguments(context),
  ];
}

/**
 * Rewritten at every start. The accounts are recreated by statements that mariadbd executes before
 * it accepts connections, because its initial tables have a root without a password.
 * @param {string} folder
 * @param {Credentials} secrets
 * @returns {{ configuration: string, statements: string, files: string }} paths of private files;
 *   files: the only folder for file access by SQL, empty
 */
function writeConfiguration(folder, { user, password, secret, writeSecret }) {
  const configuration = join(folder, 'my.cnf');
  const statements = join(folder, 'accounts.sql');
  const files = join(folder, 'files');
  mkdirSync(files, { recursive: true, mode: 0o700 });
  // The last value of a setting counts.
  const secretLines = [
    '[mysqld]',
    `handlersocket_plain_secret = ${secret}`,
    `handlersocket_plain_secret_wr = ${writeSecret}`,
    // At 10, the default, it writes its settings and the secrets to the log.
    'handlersocket_verbose = 9',
  ];
  writePrivate(
    configuration,
    `${readFileSync(CONFIGURATION, 'utf8')}\n${secretLines.join('\n')}\n`,
  );
  const hosts = ['localhost', '127.0.0.1'];
  writePrivate(
    statements,
    [
      "DELETE FROM mysql.global_priv WHERE user <> 'mariadb.sys'",
      "DELETE FROM mysql.db WHERE user <> 'mariadb.sys'",
      'FLUSH PRIVILEGES',
      `CREATE USER root@localhost IDENTIFIED BY '${randomSecret()}'`,
      'GRANT ALL PRIVILEGES ON *.* TO root@localhost WITH GRANT OPTION',
      ...hosts.flatMap((host) => [
        `CREATE USER ${user}@'${host}' IDENTIFIED BY '${password}'`,
        ...[ROW_NAMES.database, '`dragstrip\\_%`'].map(
          (database) => `GRANT ALL PRIVILEGES ON ${database}.* TO ${user}@'${host}'`,
        ),
      ]),
      '',
    ].join(';\n'),
  );
  return { configuration, statements, files };
}

/**
 * @param {StartContext} context
 * @param {string | null} base
 * @param {{ folder: string, socket: string, configuration: string, statements: string,
 *   files: string }} paths
 * @param {Record<string, number>} ports
 */
function planStart(context, base, { folder, socket, configuration, statements, files }, ports) {
  const { programs } = context.binaries;
  const args = [
    `--defaults-file=${configuration}`,
    `--init-file=${statements}`,
    ...baseArguments(base),
    `--datadir=${join(folder, 'data')}`,
    `--socket=${socket}`,
    `--pid-file=${join(folder, 'mysqld.pid')}`,
    // SQL must not access other files; its logs are off, and otherwise in the private folder.
    `--secure-file-priv=${files}`,
    `--general-log-file=${join(folder, 'general.log')}`,
    `--slow-query-log-file=${join(folder, 'slow.log')}`,
    OWN_TEMPORARY_FOLDER,
    `--port=${ports['sql']}`,
    `--handlersocket-port=${ports['read']}`,
    `--handlersocket-port-wr=${ports['write']}`,
    ...(context.tls ? tlsArguments(folder) : []),
    ...userArguments(context),
  ];
  // Encryption begins after the greeting: so both kinds of connections use one port.
  const tlsPort = context.tls ? ports['sql'] : undefined;
  return { program: programs['mariadbd'], args, tlsPort };
}

/** @param {string} folder */
function tlsArguments(folder) {
  const { ca, server } = certificatesIn(folder);
  return [`--ssl-ca=${ca}`, `--ssl-cert=${server.cert}`, `--ssl-key=${server.key}`];
}

/**
 * @param {import('../lib/types.js').Address} address
 * @param {Credentials} secrets
 * @returns {Promise<boolean>} whether SQL replies, the plugin is active and both its ports reply to
 *   a request
 */
async function isReady(address, secrets) {
  const greeting = await greet(address['sql']);
  if (nameKind(greeting.bytes) !== 'MySQL or MariaDB') return false;
  const { plugin } = await readSettings(address['sql'], secrets);
  if (plugin !== 'ACTIVE') {
    throw targetError(`mariadb: plugin HandlerSocket is ${plugin ?? 'not loaded'}`, 'see my.cnf');
  }
  for (const { endpoint, secret } of handlerSocketPorts(address, secrets)) {
    if (nameKind((await knock(endpoint, secret)).bytes) !== 'HandlerSocket') return false;
  }
  return true;
}

/** @param {Endpoint} endpoint */
function greet(endpoint) {
  // Length (3), number (1), then protocol 10 or an error 255 (MySQL "Initial Handshake Packet").
  // Encryption begins after it.
  return ask({ ...endpoint, tls: undefined }, { send: null, enough: (bytes) => bytes.length >= 5 });
}

/**
 * @param {import('../lib/types.js').Address} address
 * @param {Credentials} credentials
 */
function handlerSocketPorts(address, { secret, writeSecret }) {
  return [
    { endpoint: address['read'], secret },
    { endpoint: address['write'], secret: writeSecret },
  ].filter(({ endpoint }) => endpoint !== undefined);
}

/**
 * A find on an index that is not open. The reply, error 2 stmtnum or 3 unauth, shows that a worker
 * serves the port.
 * @param {Endpoint} endpoint
 * @param {string | undefined} secret
 */
function knock(endpoint, secret) {
  const login = secret === undefined ? '' : `A\t1\t${secret}\n`;
  return ask(endpoint, { send: `${login}0\t=\t1\t1\n`, enough: (bytes) => bytes.includes('\n') });
}
