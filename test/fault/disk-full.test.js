/** A full disk (ENOSPC of a small file system) under results, embedded stores and Redis. */
// Needs: redis

import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import getPort from 'get-port';
import { shareCredentials } from '../../bench/login.js';
import { seedServers } from '../../engine/seed.js';
import { run } from '../../index.js';
import { formatEndpoint } from '../../lib/address.js';
import { parseResult } from '../../lib/parse-result.js';
import { callRedis } from '../../servers/cluster-call.js';
import { fetchServers, startServers } from '../../servers/index.js';
import { assertFailure, runCommand } from '../helpers/command-line.js';
import { redisAnswers, startRedis } from '../helpers/own-redis.js';
import { addressOf, credentialsOf, PACKAGES_HOME } from '../helpers/servers.js';
import { makeSmallDisk, whyNoSmallDisk } from '../helpers/small-disk.js';

const skip = whyNoSmallDisk();
const AMOUNT = ['--ops', '200', '--rows', '100', '--in-flight', '1', '--warmup', '50'];
const MEMORY = ['bin/dragstrip.js', 'run', ...AMOUNT, '--rounds', '1', '--storages', 'memory'];

describe('a full disk', { skip }, () => {
  /** @type {ReturnType<typeof makeSmallDisk>} */
  let disk;
  before(() => {
    disk = makeSmallDisk(8);
  });
  after(() => disk?.remove());

  test('under results: status 7, and the last complete result is unchanged', async () => {
    const { folder } = disk;
    const file = path.join(folder, 'kept.json');
    const first = await runCommand(folder, [...MEMORY, '--json', file]);
    assert.equal(first.status, 0, first.stderr);
    const text = readFileSync(file, 'utf8');
    disk.fill();
    const files = readdirSync(folder).sort();
    const second = await runCommand(folder, [...MEMORY, '--json', file, '--force']);
    assert.equal(second.status, 7, second.stderr);
    assert.match(second.stderr, /could not be stored \(ENOSPC\); free some space/);
    assert.equal(readFileSync(file, 'utf8'), text);
    assert.equal(parseResult(text, file).state, 'complete');
    const left = readdirSync(folder).filter((name) => name.endsWith('.tmp'));
    assert.deepEqual(left, [], `only ${files} were there`);
    rmSync(path.join(folder, 'filler'));
  });

  test('under an embedded store: skipped with the reason, or status 4 if it was named', async () => {
    const { folder } = disk;
    const home = path.join(folder, 'home');
    const env = { DRAGSTRIP_HOME: home };
    const many = ['bin/dragstrip.js', 'run', '--ops', '100', '--rows', '20000'];
    const named = await runCommand(folder, [...many, '--storages', 'lmdb'], { env });
    assertFailure(named, 4, /lmdb: its rows could not be written: no space: .*; free some space/);
    assert.deepEqual(
      readdirSync(path.join(home, 'embedded')).filter((name) => !name.endsWith('-lock')),
      [],
      'no half of a file',
    );
    rmSync(home, { recursive: true, force: true });
  });
});

/**
 * @typedef {object} Full a server on a disk of its own
 * @property {Record<string, unknown>} options options of a run that reach it
 * @property {string[]} words the same options as words of a command
 * @property {() => unknown} stop
 */

/** @param {string} folder @returns {Promise<Full>} without a password */
async function beginRedis(folder) {
  const inside = path.join(folder, 'redis');
  mkdirSync(inside);
  const port = await getPort();
  const address = `127.0.0.1:${port}`;
  // Not `always`: with it Redis ends itself.
  const words = ['--appendonly', 'yes', '--appendfsync', 'everysec'];
  const pid = await startRedis(inside, port, words);
  await redisAnswers(address);
  return {
    options: { addresses: { redis: address } },
    words: ['--redis', address],
    stop: () => process.kill(pid, 'SIGKILL'),
  };
}

/** @param {string} name @returns {(folder: string) => Promise<Full>} starts a server of Dragstrip */
function begin(name) {
  return async (folder) => {
    const how = { home: path.join(folder, 'home'), packagesHome: PACKAGES_HOME, owned: true };
    const { servers, failures, stop } = await startServers([name], how);
    if (failures.length > 0) throw failures[0].error;
    await shareCredentials(servers);
    const { tls: _none, ...nodes } = addressOf(servers[0]);
    const flag = name === 'valkey' ? 'redis' : name;
    for (const node of Object.values(nodes)) {
      const messages = { title: name, hint: '', password: '' };
      const call = (/** @type {string[]} */ ...words) =>
        callRedis(node, credentialsOf(servers[0]), words, messages);
      await call('CONFIG', 'SET', 'appendonly', 'yes', 'appendfsync', 'everysec');
    }
    const address = formatEndpoint(nodes['main']);
    return { options: { addresses: { [flag]: address } }, words: [`--${flag}`, address], stop };
  };
}

const { failures: noValkey } = await fetchServers(['valkey'], { home: PACKAGES_HOME });

for (const { name, storage, megabytes, missing = false, start } of [
  { name: 'redis', storage: 'ioredis', megabytes: 4, start: beginRedis },
  {
    name: 'valkey',
    storage: 'iovalkey',
    megabytes: 16,
    missing: noValkey.length > 0 && noValkey[0].error.message,
    start: begin('valkey'),
  },
  {
    name: 'redis-cluster',
    storage: 'ioredis-cluster',
    megabytes: 32,
    start: begin('redis-cluster'),
  },
]) {
  describe(`${name} whose disk is full`, { skip: skip || missing }, () => {
    /** @type {ReturnType<typeof makeSmallDisk>} */
    let disk;
    /** @type {Full} */
    let server;
    before(async () => {
      disk = makeSmallDisk(megabytes);
      server = await start(disk.folder);
    });
    after(async () => {
      rmSync(path.join(disk.folder, 'filler'), { force: true });
      await server?.stop();
      disk?.remove();
    });

    test('its writes fail with their code while reads continue, and it is not called lost', async () => {
      const dataset = { rows: 200, valueSize: 64, seed: 1 };
      const loader = name === 'valkey' ? 'redis' : name;
      await seedServers({ ...dataset, ...server.options, servers: [loader] });
      let isFull = false;
      const result = await run(
        /** @type {any} */ ({
          ...dataset,
          ...server.options,
          workload: 'mix',
          mix: 'get:50,set:50',
          storages: [storage],
          rate: 50,
          duration: 8000,
          warmup: 0,
        }),
        {
          onEvent(event) {
            if (isFull || event.type !== 'progress' || event.phase !== 'measure') return;
            isFull = true;
            disk.fill();
          },
        },
      );
      const [{ state, rounds }] = result.benchmarks;
      const [{ outcomes, samples, kinds }] = rounds;
      const details = JSON.stringify({ outcomes, samples });
      assert.equal(state, 'measured', details);
      assert.ok(outcomes.error > 100, details);
      assert.ok(
        samples.every(({ code }) => code === 'MISCONF'),
        details,
      );
      const [get, set] = kinds ?? [];
      assert.ok(get.ok > 2 * set.ok, JSON.stringify([get.ok, set.ok]));
      assert.deepEqual([outcomes.miss, outcomes.mismatch, outcomes.unsent], [0, 0, 0], details);
      assert.ok(result.warnings.every(({ code }) => code !== 'SERVER_LOST'));
    });

    test('its rows cannot be loaded: status 4, one line with a hint', async () => {
      const loader = name === 'valkey' ? 'redis' : name;
      const words = ['seed', loader, '--rows', '20000', ...server.words, '--quiet'];
      const ended = await runCommand(disk.folder, ['bin/dragstrip.js', ...words]);
      assertFailure(ended, 4, /MISCONF .*(disk|space)/i);
    });
  });
}
