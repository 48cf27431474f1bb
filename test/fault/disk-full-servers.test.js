/**
 * A full disk under the data of MariaDB, Tarantool and Cassandra: what each of them says reaches
 * the user, nothing is left running, and with room again the next run works.
 */

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import getPort from 'get-port';
import { shareCredentials } from '../../bench/login.js';
import { statusOf } from '../../cli/status.js';
import { run } from '../../index.js';
import { startServers, stopServers } from '../../servers/index.js';
import { isRunning, launch } from '../../servers/process.js';
import { loadServer } from '../../servers/registry.js';
import { whyNoCassandra } from '../helpers/cassandra.js';
import { assertFailure, eventually, runCommand } from '../helpers/command-line.js';
import { PACKAGES_HOME } from '../helpers/servers.js';
import { makeSmallDisk, whyNoSmallDisk } from '../helpers/small-disk.js';

const skip = whyNoSmallDisk();
const NO_CASSANDRA = await whyNoCassandra();
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
 */
async function start(name, disk) {
  const home = path.join(disk.folder, 'home');
  const how = { home, packagesHome: PACKAGES_HOME, owned: true };
  const { servers, failures, stop } = await startServers([name], how);
  if (failures.length > 0) throw failures[0].error;
  await shareCredentials(servers);
  return { server: servers[0], home, stop };
}

/** @param {import('../../lib/result.js').Result} result */
function roundOf({ benchmarks: [{ rounds }] }) {
  const [round] = rounds;
  const { outcomes } = round;
  const said = JSON.stringify({ outcomes, failure: round.failure, samples: round.samples });
  assert.ok(outcomes.error > 0 && outcomes.miss + outcomes.mismatch === 0, said);
  return { ...round, said };
}

describe('MariaDB whose disk is full', { skip }, () => {
  /** @type {Disk} */
  let disk;
  /** @type {Awaited<ReturnType<typeof start>>} */
  let started;
  before(async () => {
    disk = makeSmallDisk(400);
    started = await start('mariadb', disk);
  });
  after(async () => {
    await started?.stop();
    disk?.remove();
  });
  const where = () => {
    const { sql, read, write } = started.server.address;
    return ['--mysql', sql, '--handlersocket', read, '--handlersocket-write', write];
  };

  test('an insert fails by its code, what was acknowledged is there, and it is not lost', async () => {
    const options = { ...INSERT, storages: ['mariadb'], rows: 400_000, home: started.home };
    const result = await runUntilFull(disk, options);
    const { samples, outcomes, failure, said } = roundOf(result);
    assert.ok(
      samples.every(({ code }) => code === 'ER_RECORD_FILE_FULL'),
      said,
    );
    assert.match(String(failure?.message), new RegExp(` ${outcomes.ok} were acknowledged, and`));
    assert.ok(
      result.warnings.every(({ code }) => code !== 'SERVER_LOST'),
      'called lost',
    );
    assert.ok([4, 5].includes(statusOf(result)));
    assert.ok(isRunning(started.server));
  });

  test('further commands: status 4, one line with what helps', async () => {
    for (const words of [
      ['insert', '--storages', 'mariadb', '--rows', '1000'],
      ['seed', 'mariadb', '--rows', '50000', '--quiet'],
    ]) {
      disk.fill(); // the server may have removed a table's file since
      const ended = await runCommand(disk.folder, ['bin/dragstrip.js', ...words, ...where()]);
      assertFailure(ended, 4, /(Errcode: 28|is full).*; free some space on the server's disk/);
    }
  });

  test('with room again the next run works', async () => {
    makeRoom(disk);
    const options = { ...INSERT, storages: ['mariadb'], rows: 1000, home: started.home };
    const result = await run(/** @type {any} */ (options));
    assert.equal(statusOf(result), 0, JSON.stringify(result.benchmarks));
  });
});

describe('Tarantool whose disk is full', { skip }, () => {
  /** @type {Disk} */
  let disk;
  let pid = 0;
  let address = '';
  before(async () => {
    disk = makeSmallDisk(32);
    const folder = path.join(disk.folder, 'box');
    mkdirSync(folder);
    address = `127.0.0.1:${await getPort()}`;
    // Ours writes nothing while it runs: as a user's own does it, here with a log of writes.
    const own = readFileSync(new URL('../../box.lua', import.meta.url), 'utf8');
    const script = path.join(folder, 'box.lua');
    writeFileSync(script, own.replace("wal_mode = 'none'", "wal_mode = 'write'"));
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
    pid = identity.pid;
    const [host, port] = address.split(':');
    const main = { host, port: Number(port) };
    const isThere = async () => (await probe({ main }, {})).settings['wal_mode'] === 'write';
    await eventually(() => isThere().catch(() => false), 'it answers', 60_000);
  });
  after(() => {
    if (pid > 0) process.kill(pid, 'SIGKILL');
    disk?.remove();
  });

  test('an insert fails with its words, and what was acknowledged is there', async () => {
    const own = { storages: ['tarantool'], addresses: { tarantool: address } };
    const result = await runUntilFull(disk, { ...INSERT, ...own, rows: 400_000 });
    const { samples, outcomes, failure, said } = roundOf(result);
    assert.ok(
      samples.every(({ message }) => message === 'Failed to write to disk'),
      said,
    );
    assert.match(String(failure?.message), new RegExp(` ${outcomes.ok} were acknowledged, and`));
    assert.ok(
      result.warnings.every(({ code }) => code !== 'SERVER_LOST'),
      'called lost',
    );
  });

  test('its rows cannot be loaded: status 4, one line with what helps', async () => {
    const words = ['seed', 'tarantool', '--rows', '5000', '--tarantool', address, '--quiet'];
    const ended = await runCommand(disk.folder, ['bin/dragstrip.js', ...words]);
    assertFailure(ended, 4, /"Failed to write to disk".*; free some space on the server's disk/);
  });

  test('with room again the next run works', async () => {
    makeRoom(disk);
    const own = { storages: ['tarantool'], addresses: { tarantool: address } };
    const result = await run(/** @type {any} */ ({ ...INSERT, ...own, rows: 1000 }));
    assert.equal(statusOf(result), 0, JSON.stringify(result.benchmarks));
  });
});

describe('Cassandra whose disk is full', { skip: skip || NO_CASSANDRA }, () => {
  /** @type {Disk} */
  let disk;
  /** @type {Awaited<ReturnType<typeof start>>} */
  let started;
  before(async () => {
    disk = makeSmallDisk(300);
    started = await start('cassandra', disk);
  });
  after(async () => {
    await started?.stop();
    disk?.remove();
  });

  test('before an insert: status 4, one line with what helps', async () => {
    disk.fill();
    const words = ['insert', '--storages', 'cassandra', '--rows', '1000', '--rounds', '1'];
    const where = ['--cassandra', started.server.address['main']];
    const ended = await runCommand(disk.folder, ['bin/dragstrip.js', ...words, ...where]);
    assertFailure(ended, 4, /Cassandra at .*: .*FSWriteError.*; free some space .* start it again/);
  });

  test('started again with room: an insert works, and one that fills the disk fails', async () => {
    await started.stop();
    makeRoom(disk);
    started = await start('cassandra', disk);
    const own = { ...INSERT, storages: ['cassandra'], home: started.home };
    const result = await run(/** @type {any} */ ({ ...own, rows: 1000 }));
    assert.equal(statusOf(result), 0, JSON.stringify(result.benchmarks));
    // Its commit log is mapped into memory: where the disk has no page for it, Java is ended.
    const full = await runUntilFull(disk, { ...own, rows: 400_000 });
    const { said } = roundOf(full);
    assert.ok([4, 5].includes(statusOf(full)), said);
    assert.equal(full.benchmarks[0].state, 'failed', said);
    assert.ok(full.warnings.every(({ message }) => !message.includes('\n')));
  });
});

test('servers stop: also with no room for its lock', { skip }, async () => {
  const disk = makeSmallDisk(8);
  const home = path.join(disk.folder, 'home');
  try {
    const { servers, failures } = await startServers(['redis'], {
      home,
      packagesHome: PACKAGES_HOME,
    });
    if (failures.length > 0) throw failures[0].error;
    disk.fill();
    const env = { DRAGSTRIP_HOME: home };
    const words = ['bin/dragstrip.js', 'servers', 'stop', 'redis'];
    const { status, stderr } = await runCommand(disk.folder, words, { env });
    assert.equal(status, 0, stderr);
    assert.equal(isRunning(servers[0]), false);
  } finally {
    makeRoom(disk);
    await stopServers(['redis'], { home });
    disk.remove();
  }
});
