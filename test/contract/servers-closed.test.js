/**
 * Other users of the machine cannot use the servers that Dragstrip starts. As root
 * the intruder is a process of another uid; otherwise of the same one, which knows no secret.
 */
// Needs: redis, mariadb, tarantool, nutcracker

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openAdmin } from '../../bench/login.js';
import { startServers, statusServers, stopServers } from '../../servers/index.js';
import { withFolder } from '../helpers/folder.js';
import { notChecked } from '../helpers/not-checked.js';
import { makeHome, PACKAGES_HOME, withServers } from '../helpers/servers.js';

const run = promisify(execFile);
const BIN = fileURLToPath(new URL('../../bin/dragstrip.js', import.meta.url));
const INTRUDER = fileURLToPath(new URL('../helpers/intruder.js', import.meta.url));
const STARTER = fileURLToPath(new URL('../helpers/start-servers.js', import.meta.url));
const NAMES = /** @type {const} */ (['redis', 'mariadb', 'tarantool', 'nutcracker']);
/** The user nobody. */
const OTHER = 65_534;
/** Users of servers that root starts. */
const SERVER = /^610[0-9]\d$/;
const isRoot = process.getuid?.() === 0;

describe('servers that Dragstrip starts', () => {
  const servers = withServers(NAMES);
  /** @type {string[]} */
  let secrets = [];

  before(() => {
    secrets = NAMES.flatMap((name) => Object.entries(servers.credentials(name)))
      .filter(([field]) => field !== 'user')
      .map(([, secret]) => String(secret));
  });

  test('every server has a separate secret of 192 random bits', () => {
    for (const name of NAMES) {
      assert.match(servers.login(name).password, /^[0-9a-f]{48}$/, name);
    }
    const { password, secret, writeSecret } = servers.credentials('mariadb');
    assert.equal(new Set([password, secret, writeSecret]).size, 3);
    assert.equal(
      servers.login('nutcracker').password,
      servers.login('redis').password,
      'it passes on what its clients send',
    );
  });

  test('every file with a secret, and its folder, is accessible to the owner only', () => {
    const files = [];
    for (const name of NAMES) {
      const { folder } = servers.running(name);
      assert.equal(statSync(folder).mode & 0o777, 0o700, folder);
      for (const file of filesOf(folder)) {
        const text = readFileSync(file, 'latin1');
        if (!secrets.some((secret) => text.includes(secret))) continue;
        files.push(file);
        const { mode, uid } = statSync(file);
        assert.equal(mode & 0o777, 0o600, file);
        // A server started by root owns its configuration, but not the secrets of its clients.
        const isServers = SERVER.test(String(uid)) && !file.includes('/secrets/');
        assert.ok(uid === process.getuid?.() || isServers, `${file}: ${uid}`);
      }
    }
    for (const part of ['secrets/password', 'accounts.sql', 'my.cnf', 'nutcracker.yml']) {
      assert.ok(
        files.some((file) => file.endsWith(part)),
        part,
      );
    }
  });

  test('started by root, every server runs as a user without rights and without an account', (t) => {
    if (!isRoot) return t.skip('requires root');
    const uids = NAMES.map((name) => {
      const { pid, folder } = servers.running(name);
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      const { uid } = statSync(folder);
      assert.match(String(uid), SERVER, name);
      for (const field of ['Uid', 'Gid']) {
        assert.match(status, new RegExp(`^${field}:(\\s+${uid}){4}$`, 'm'), name);
      }
      assert.match(status, /^Groups:\s*$/m, name);
      for (const set of ['Inh', 'Prm', 'Eff', 'Bnd', 'Amb']) {
        assert.match(status, new RegExp(`^Cap${set}:\\s+0+$`, 'm'), `${name}: ${set}`);
      }
      assert.match(status, /^NoNewPrivs:\s+1$/m, name);
      assert.ok(!readFileSync('/etc/passwd', 'utf8').includes(`:${uid}:`));
      return uid;
    });
    const [redis, mariadb, tarantool, nutcracker] = uids;
    assert.equal(new Set([redis, mariadb, tarantool]).size, 3, 'each has a user of its own');
    assert.equal(nutcracker, redis, 'a proxy opens the socket of its Redis');
  });

  test('root also starts them in a container, where it may not inspect other processes', async (t) => {
    const setpriv = ['/usr/bin/setpriv', '/bin/setpriv'].find(existsSync);
    if (!isRoot || setpriv === undefined) return t.skip('requires root and setpriv');
    const home = await makeHome();
    // Capabilities of a container's root by default, without CAP_SYS_PTRACE.
    const rights = [
      'chown',
      'dac_override',
      'fowner',
      'fsetid',
      'kill',
      'setgid',
      'setuid',
      'setpcap',
    ];
    const set = `--bounding-set=-all,${rights.map((name) => `+${name}`).join(',')}`;
    const words = [set, '--inh-caps=-all', process.execPath, STARTER, home, 'owned', 'redis'];
    try {
      const { stdout } = await run(setpriv, words);
      assert.deepEqual(
        JSON.parse(stdout).map((/** @type {{ name: string }} */ { name }) => name),
        ['redis'],
      );
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  });

  test('root cannot use a state folder that this user cannot reach, unless it insists', async (t) => {
    if (!isRoot) return t.skip('requires root');
    const closed = await makeHome();
    const home = join(closed, 'state');
    const lasting = { home, packagesHome: PACKAGES_HOME };
    try {
      const { failures } = await startServers(['redis'], lasting);
      assert.equal(failures[0]?.error.code, 'E_REFUSED');
      assert.match(failures[0].error.message, /not started as root, and other users may not enter/);
      const words = [BIN, 'servers', 'start', 'redis', '--as-root'];
      mkdirSync(join(home, 'packages'), { recursive: true });
      symlinkSync(join(PACKAGES_HOME, 'packages', 'redis'), join(home, 'packages', 'redis'));
      const env = { PATH: process.env['PATH'], DRAGSTRIP_HOME: home };
      const { stderr } = await run(process.execPath, words, { env });
      assert.equal(stderr, 'dragstrip: these servers run as root\n');
      const { pid } = JSON.parse(readFileSync(join(home, 'servers', 'redis.json'), 'utf8'));
      assert.match(readFileSync(`/proc/${pid}/status`, 'utf8'), /^Uid:\s+0\s/m);
    } finally {
      await stopServers(['redis'], { home });
      rmSync(closed, { recursive: true, force: true });
    }
  });

  test('no secret is in a command line, an environment, a record, a log or the status', async () => {
    /** @type {Record<string, string>} */
    const texts = { status: JSON.stringify(await statusServers({ home: servers.home() })) };
    for (const name of NAMES) {
      const { pid, folder } = servers.running(name);
      texts[`record of ${name}`] = JSON.stringify(servers.running(name));
      for (const kind of ['cmdline', 'environ']) {
        texts[`${kind} of ${name}`] = readFileSync(`/proc/${pid}/${kind}`, 'latin1');
      }
      const log = join(folder, `${name}.log`);
      if (existsSync(log)) texts[log] = readFileSync(log, 'latin1');
    }
    texts['environment of the test'] = JSON.stringify(process.env);
    for (const [what, text] of Object.entries(texts)) {
      for (const secret of secrets) assert.ok(!text.includes(secret), what);
    }
  });

  test('servers env prints the addresses and the paths of the secrets, not the secrets', async () => {
    const home = await makeHome(); // those of this process are not for others
    const lasting = { home, packagesHome: PACKAGES_HOME };
    const { failures } = await startServers(['redis'], lasting);
    assert.deepEqual(failures, []);
    try {
      const { stdout } = await run(process.execPath, [BIN, 'servers', 'env', 'redis'], {
        env: { PATH: process.env['PATH'], DRAGSTRIP_HOME: home },
      });
      const [address, file] = stdout.trim().split('\n');
      assert.match(address, /^export DRAGSTRIP_REDIS=127\.0\.0\.1:\d+$/);
      const path = /^export DRAGSTRIP_REDIS_PASSWORD_FILE=(.*)$/.exec(file)?.[1] ?? '';
      assert.match(readFileSync(path, 'utf8'), /^[0-9a-f]{48}$/);
      assert.ok(!stdout.includes(readFileSync(path, 'utf8')));
    } finally {
      await stopServers(['redis'], { home });
      rmSync(home, { recursive: true, force: true });
    }
  });

  test('another user reads none of the files, and logs in to none of the servers', async (t) => {
    const admin = await openAdmin(servers.running('mariadb'));
    await admin.query('CREATE DATABASE IF NOT EXISTS hs_test');
    await admin.query('CREATE TABLE hs_test.intruded (id INT PRIMARY KEY) ENGINE=InnoDB');
    const { sql, read, write } = servers.address('mariadb');
    const files = NAMES.flatMap((name) => filesOf(servers.running(name).folder));
    assert.ok(files.length > 20);
    if (!isRoot) notChecked(t, 'another user, which needs root: the intruder is the same one');
    const targets = {
      files: isRoot ? files : [],
      pids: isRoot ? NAMES.map((name) => servers.running(name).pid) : [],
      ports: {
        redis: servers.address('redis').main.port,
        tarantool: servers.address('tarantool').main.port,
        sql: sql.port,
        read: read.port,
        write: write.port,
      },
    };
    const { stdout } = await run(process.execPath, [INTRUDER, JSON.stringify(targets)], {
      ...(isRoot && { uid: OTHER, gid: OTHER }),
      env: { PATH: process.env['PATH'] },
      cwd: '/',
    });
    assert.deepEqual(JSON.parse(stdout), []);
    const [rows] = await admin.query('SELECT COUNT(*) AS count FROM hs_test.intruded');
    assert.deepEqual(rows, [{ count: 0 }]);
    await admin.query('DROP DATABASE hs_test');
    await admin.end();
  });

  test('the SQL user has neither SUPER nor FILE, and only Dragstrip’s database', async () => {
    const { createConnection } = await import('mysql2/promise');
    const { host, port } = servers.address('mariadb').sql;
    const login = servers.login('mariadb');
    const sql = await createConnection(/** @type {any} */ ({ host, port, ...login }));
    const denied = /** @type {const} */ ([
      'SET GLOBAL general_log_file = "/tmp/somewhere"',
      'SET GLOBAL general_log = ON',
      'SELECT 1 INTO OUTFILE "/tmp/somewhere"',
      'SELECT * FROM mysql.global_priv',
      'CREATE DATABASE elsewhere',
      'CREATE FUNCTION f RETURNS STRING SONAME "x.so"',
      'INSTALL SONAME "x"',
    ]);
    for (const text of denied) await assert.rejects(sql.query(text), /denied/, text);
    const [rows] = await sql.query("SELECT LOAD_FILE('/etc/passwd') AS text");
    assert.deepEqual(rows, [{ text: null }]);
    await sql.end();
  });

  test('no table has files outside the server’s folder', async (t) => {
    const { createConnection } = await import('mysql2/promise');
    const { host, port } = servers.address('mariadb').sql;
    const login = servers.login('mariadb');
    const sql = await createConnection(/** @type {any} */ ({ host, port, ...login }));
    const elsewhere = withFolder(t);
    chmodSync(elsewhere, 0o777);
    await sql.query('CREATE DATABASE IF NOT EXISTS hs_test');
    for (const engine of ['InnoDB', 'MyISAM', 'Aria']) {
      await sql.query(
        `CREATE TABLE hs_test.elsewhere (id int PRIMARY KEY) ENGINE = ${engine} ` +
          `DATA DIRECTORY = '${elsewhere}'` +
          // InnoDB refuses it.
          (engine === 'InnoDB' ? '' : ` INDEX DIRECTORY = '${elsewhere}'`),
      );
      await sql.query('INSERT INTO hs_test.elsewhere VALUES (1)');
      assert.deepEqual(readdirSync(elsewhere), [], engine);
      await sql.query('DROP TABLE hs_test.elsewhere');
    }
    await sql.query('DROP DATABASE hs_test');
    await sql.end();
  });
});

/**
 * @param {string} folder
 * @returns {string[]} paths
 */
function filesOf(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}
