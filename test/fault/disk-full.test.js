/** A full disk (ENOSPC of a small file system) under results, embedded stores and servers. */

import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import getPort from 'get-port';
import { getLoader } from '../../data/loaders/index.js';
import { run } from '../../index.js';
import { parseEndpoint } from '../../lib/address.js';
import { createDataset } from '../../lib/dataset.js';
import { parseResult } from '../../lib/parse-result.js';
import { assertFailure, runCommand } from '../helpers/command-line.js';
import { redisAnswers, startRedis } from '../helpers/own-redis.js';
import { makeSmallDisk, whyNoSmallDisk } from '../helpers/small-disk.js';

const skip = whyNoSmallDisk();
const RUN = ['bin/dragstrip.js', 'run', '--ops', '200', '--rows', '100', '--in-flight', '1'];
const MEMORY = [...RUN, '--storages', 'memory'];

describe('a disk that is full', { skip }, () => {
  /** @type {ReturnType<typeof makeSmallDisk>} */
  let disk;
  before(() => {
    disk = makeSmallDisk(8);
  });
  after(() => disk?.remove());

  test('under results: status 7, and the last whole result stays as it is', async () => {
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

describe('a server whose disk is full', { skip }, () => {
  /** @type {ReturnType<typeof makeSmallDisk>} */
  let disk;
  let pid = 0;
  let address = '';
  before(async () => {
    disk = makeSmallDisk(4);
    const folder = path.join(disk.folder, 'redis');
    mkdirSync(folder);
    const port = await getPort();
    address = `127.0.0.1:${port}`;
    // Not `always`: with it Redis ends itself.
    pid = await startRedis(folder, port, ['--appendonly', 'yes', '--appendfsync', 'everysec']);
    await redisAnswers(address);
  });
  after(() => {
    process.kill(pid, 'SIGKILL');
    disk?.remove();
  });

  test('its writes fail by name while reads go on, and it is not called lost', async () => {
    const dataset = { rows: 200, valueSize: 64, seed: 1 };
    const { seed } = await getLoader('redis');
    const main = parseEndpoint(address, '--redis');
    await seed({ address: { main }, credentials: {}, dataset: createDataset(dataset) });
    let isFull = false;
    const result = await run(
      /** @type {any} */ ({
        ...dataset,
        workload: 'mix',
        mix: 'get:50,set:50',
        storages: ['ioredis'],
        rate: 200,
        duration: 8000,
        warmup: 0,
        addresses: { redis: address },
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
    const said = JSON.stringify({ outcomes, samples });
    assert.equal(state, 'measured', said);
    assert.ok(outcomes.error > 100, said);
    assert.ok(
      samples.every(({ code }) => code === 'MISCONF'),
      said,
    );
    const [get, set] = kinds ?? [];
    assert.ok(get.ok > 2 * set.ok, JSON.stringify([get.ok, set.ok]));
    assert.deepEqual([outcomes.miss, outcomes.mismatch, outcomes.unsent], [0, 0, 0], said);
    assert.ok(result.warnings.every(({ code }) => code !== 'SERVER_LOST'));
  });

  test('its rows cannot be loaded: status 4, one line with what helps', async () => {
    const words = ['seed', 'redis', '--rows', '20000', '--redis', address, '--quiet'];
    const ended = await runCommand(disk.folder, ['bin/dragstrip.js', ...words]);
    assertFailure(ended, 4, /MISCONF .*(disk|space)/i);
  });
});
