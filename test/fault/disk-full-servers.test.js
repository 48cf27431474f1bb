/**
 * A full disk under the data of MariaDB, Tarantool and Cassandra: what each of them says reaches
 * the user, nothing is left running, and with free space the next run works. `servers status` and
 * `servers stop` of Cassandra.
 */
// Needs: redis, mariadb, tarantool

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import getPort from 'get-port';
import { shareCredentials } from '../../bench/login.js';
import { statusOf } from '../../cli/status.js';
import { run } from '../../index.js';
import { formatEndpoint } from '../../lib/address.js';
import { startServers, stopServers } from '../../servers/index.js';
import { isRunning, launch } from '../../servers/process.js';
import { loadServer } from '../../servers/registry.js';
import { prepareCassandra } from '../helpers/cassandra.js';
import { assertFailure, eventually, runCommand } from '../helpers/command-line.js';
import { PACKAGES_HOME } from '../helpers/servers.js';
import { makeSmallDisk, whyNoSmallDisk } from '../helpers/small-disk.js';

const skip = whyNoSmallDisk();
const NO_CASSANDRA = await prepareCassandra();
/** Rows, most of which are still to come when the disk is filled. */
const ROWS = 150_000;
const INSERT = { workload: 'insert', warmup: 0, rounds: 1, strategies: ['async'] };

/** @typedef {ReturnType<typeof makeSmallDisk>} Disk */
/** @typedef {import('../../lib/types.js').RunningServer} RunningServer */

/** @param {Disk} disk */
const makeRoom = ({ folder }) => rmSync(path.join(folder, 'filler'), { force: true });

/**
 * @param {Disk} disk it is filled as soon as something is measured
 * @param {Record<string, unknown>} options
 */
async function runUntilFull(disk, options) {
  let isFull = false;
  const result = await run(/** @type {any} */ (options), {
    onEvent(event) {
      if (isFull || event.type !== 'progress' || event.phase !== 'measure') return;
      isFull = true;
      disk.fill();
    },
  });
  assert.ok(isFull, 'the disk was filled');
  return result;
}

/**
 * @param {string} name
 * @param {Disk} disk
 * @param {{ owned: boolean }} how
 */
async function start(name, disk, { owned }) {
  const home = path.join(disk.folder, 'home');
  const how = { home, packagesHome: PACKAGES_HOME, owned };
  const { servers, failures, stop } = await startServers([name], how);
  if (failures.length > 0) throw failures[0].error;
  await shareCredentials(servers);
  return { server: servers[0], home, stop: owned ? stop : () => stopServers([name], { home }) };
}

/**
 * @template T
 * @param {number} megabytes
 * @param {(disk: Disk) => Promise<T & { stop: () => unknown }>} begin starts a server on it
 */
function withFullDisk(megabytes, begin) {
  /** @type {{ disk: Disk, started: T & { stop: () => unknown } }} */
  const context = /** @type {any} */ ({});
  before(async () => {
    context.disk = makeSmallDisk(megabytes);
    context.started = await begin(context.disk);
  });
  after(async () => {
    if (context.disk !== undefined) makeRoom(context.disk);
    await context.started?.stop();
    context.disk?.remove();
  });
  return context;
}

/** @param {import('../../lib/result.js').Result} result */
function roundOf({ benchmarks: [{ rounds }] }) {
  const [round] = rounds;
  const { outcomes } = round;
  const details = JSON.stringify({ outcomes, failure: round.failure, samples: round.samples });
  assert.ok(outcomes.error > 0 && outcomes.miss + outcomes.mismatch === 0, details);
  return { ...round, details };
}

/**
 * @param {() => Disk} disk
 * @param {() => Record<string, unknown>} options options with the server and its storage
 * @param {{ code?: string, message?: string }} sample every failed request has it
 */
function testInsert(disk, options, sample) {
  test('an insert fails with its code, acknowledged rows exist, and the server is not lost', async () => {
    const result = await runUntilFull(disk(), { ...INSERT, ...options(), rows: ROWS });
    const { samples, outcomes, failure, details } = roundOf(result);
    for (const one of samples) assert.deepEqual({ ...one, ...sample }, one, details);
    assert.match(String(failure?.message), new RegExp(` ${outcomes.ok} were acknowledged, and`));
    assert.ok(
      result.warnings.every(({ code }) => code !== 'SERVER_LOST'),
      'called lost',
    );
    assert.ok([4, 5].includes(statusOf(result)));
  });
}

/**
 * @param {() => Disk} disk
 * @param {() => Record<string, unknown>} options
 */
function testRoom(disk, options) {
  test('with free space the next run works', async () => {
    makeRoom(disk());
    const result = await run(/** @type {any} */ ({ ...INSERT, ...options(), rows: 1000 }));
    assert.equal(statusOf(result), 0, JSON.stringify(result.benchmarks));
  });
}

describe('MariaDB whose disk is full', { skip }, () => {
  const context = withFullDisk(400, (disk) => start('mariadb', disk, { owned: true }));
  const disk = () => context.disk;
  const options = () => ({ storages: ['mariadb'], home: context.started.home });
  const where = () => {
    const { sql, read, write } = context.started.server.address;
    return ['--mysql', sql, '--handlersocket', read, '--handlersocket-write', write];
  };

  testInsert(disk, options, { code: 'ER_RECORD_FILE_FULL' });

  test('further commands: status 4, one line with a hint', async () => {
    assert.ok(isRunning(context.started.server));
    for (const words of [
      ['insert', '--storages', 'mariadb', '--rows', '1000'],
      ['seed', 'mariadb', '--rows', '50000', '--quiet'],
    ]) {
      disk().fill(); // the server may have removed a table's file since
      const ended = await runCommand(disk().folder, ['bin/dragstrip.js', ...words, ...where()]);
      assertFailure(ended, 4, /(Errcode: 28|is full).*; free some space on the server's disk/);
    }
  });

  testRoom(disk, options);
});

describe('Tarantool whose disk is full', { skip }, () => {
  const context = withFullDisk(32, async (disk) => {
    const folder = path.join(disk.folder, 'box');
    mkdirSync(folder);
    const main = { host: '127.0.0.1', port: await getPort() };
    const address = formatEndpoint(main);
    // Ours writes nothing while it runs: as a user's own does it, here with a log of writes.
    const box = readFileSync(new URL('../../box.lua', import.meta.url), 'utf8');
    const script = path.join(folder, 'box.lua');
    writeFileSync(script, box.replace("wal_mode = 'none'", "wal_mode = 'write'"));
    const { find, probe } = await loadServer('tarantool');
    const binaries = await find(PACKAGES_HOME);
    if (binaries === null) throw new Error('Tarantool is not there');
    const env = {
      ...binaries.env,
      DRAGSTRIP_BOX_LISTEN: address,
      DRAGSTRIP_BOX_FOLDER: folder,
      DRAGSTRIP_BOX_MEMORY: `${2 ** 27}`,
      DRAGSTRIP_BOX_KEEP: 'no',
    };
    const { identity } = await launch({
      program: binaries.programs['tarantool'],
      args: [script],
      cwd: folder,
      env,
      logPath: path.join(folder, 'log'),
      owned: true,
    });
    const isThere = async () => (await probe({ main }, {})).settings['wal_mode'] === 'write';
    await eventually(() => isThere().catch(() => false), 'it answers', 60_000);
    return { address, stop: () => process.kill(identity.pid, 'SIGKILL') };
  });
  const disk = () => context.disk;
  const options = () => ({
    storages: ['tarantool'],
    addresses: { tarantool: context.started.address },
  });

  testInsert(disk, options, { message: 'Failed to write to disk' });

  test('its rows cannot be loaded: status 4, one line with a hint', async () => {
    const where = ['--tarantool', context.started.address];
    const words = ['seed', 'tarantool', '--rows', '5000', ...where, '--quiet'];
    const ended = await runCommand(disk().folder, ['bin/dragstrip.js', ...words]);
    assertFailure(ended, 4, /"Failed to write to disk".*; free some space on the server's disk/);
  });

  testRoom(disk, options);
});

describe('Cassandra whose disk is full', { skip: skip || NO_CASSANDRA }, () => {
  const context = withFullDisk(300, (disk) => start('cassandra', disk, { owned: false }));

  test('before an insert: status 4, one line with a hint', async () => {
    context.disk.fill();
    const words = ['insert', '--storages', 'cassandra', '--rows', '1000', '--rounds', '1'];
    const where = ['--cassandra', context.started.server.address['main']];
    const ended = await runCommand(context.disk.folder, ['bin/dragstrip.js', ...words, ...where]);
    assertFailure(ended, 4, /Cassandra at .*: .*FSWriteError.*; free some space .* start it again/);
  });

  test('status and stop recognise it', async () => {
    makeRoom(context.disk);
    const { server, home } = context.started;
    const call = (/** @type {string} */ action) =>
      runCommand(context.disk.folder, ['bin/dragstrip.js', 'servers', action, 'cassandra'], {
        env: { DRAGSTRIP_HOME: home },
      });
    const running = new RegExp(`^cassandra running: 5\\.0\\.\\d+, pid ${server.pid}, main 127`);
    assert.match((await call('status')).stdout, running);
    assert.match((await call('stop')).stdout, /cassandra stopped: ended/);
    assert.ok(!isRunning(server));
  });

  test('restarted with free space: an insert works, and one that fills the disk fails', async () => {
    context.started = await start('cassandra', context.disk, { owned: false });
    const options = { ...INSERT, storages: ['cassandra'], home: context.started.home };
    const result = await run(/** @type {any} */ ({ ...options, rows: 1000 }));
    assert.equal(statusOf(result), 0, JSON.stringify(result.benchmarks));
    // Its commit log is mapped into memory: where the disk has no page for it, Java is ended.
    const full = await runUntilFull(context.disk, { ...options, rows: ROWS });
    const { details } = roundOf(full);
    assert.ok([4, 5].includes(statusOf(full)), details);
    assert.equal(full.benchmarks[0].state, 'failed', details);
    assert.ok(full.warnings.every(({ message }) => !message.includes('\n')));
  });
});

describe('stopping a server whose disk is full', { skip }, () => {
  const context = withFullDisk(8, (disk) => start('redis', disk, { owned: false }));

  test('servers stop: even without space for its lock', async () => {
    context.disk.fill();
    const env = { DRAGSTRIP_HOME: context.started.home };
    const words = ['bin/dragstrip.js', 'servers', 'stop', 'redis'];
    const { status, stdout, stderr } = await runCommand(context.disk.folder, words, { env });
    assert.equal(status, 0, stderr);
    assert.match(stdout, /redis stopped: ended/, 'not killed, though its rows cannot be saved');
    assert.equal(isRunning(context.started.server), false);
  });
});
