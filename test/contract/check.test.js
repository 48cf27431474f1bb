/** `dragstrip check` against a real server: built-in storages, the example, broken adapters. */
// Needs: redis

import assert from 'node:assert/strict';
import { symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { getLoader } from '../../data/loaders/index.js';
import { runChecks } from '../../engine/check/index.js';
import { createDataset } from '../../lib/dataset.js';
import { ROOT } from '../helpers/command-line.js';
import { withFolder } from '../helpers/folder.js';
import { withServers } from '../helpers/servers.js';

const folder = withFolder();

const DATASET = { rows: 2500, valueSize: 100, seed: 3 };

describe('checks against a real server', () => {
  const servers = withServers(['redis']);
  before(async () => {
    const [address, credentials] = [servers.address('redis'), servers.credentials('redis')];
    const loader = await getLoader('redis');
    await loader.seed({ address, credentials, dataset: createDataset(DATASET) });
    symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
  });

  /** @param {string} storage */
  function check(storage) {
    const { host, port } = servers.address('redis').main;
    return runChecks({ storages: [storage], addresses: { redis: `${host}:${port}` }, ...DATASET });
  }

  /** @param {string} name @param {string} options @param {string} [more] */
  function writeAdapter(name, options, more = '') {
    const file = path.join(folder, `${name}.mjs`);
    writeFileSync(
      file,
      `import { Redis } from 'ioredis';
    export default {
      name: '${name}', summary: 'of a test', package: 'ioredis', server: 'redis',
      profiles: { default: { summary: '', options: {} } },
      open: { async rows({ address, credentials, names }) {
        const { user: username, password } = credentials;
        const redis = new Redis({ ...address.main, username, password, lazyConnect: true,
          ${options} });
        ${more}
        await redis.connect();
        return {
          get: (id) => redis.get(names.redisPrefix + id),
          value: (reply) => reply ?? undefined,
          close: async () => redis.disconnect(),
        };
      } },
    };`,
    );
    return file;
  }

  for (const storage of [
    'ioredis',
    'redis',
    'iovalkey',
    path.join(ROOT, 'examples/my-driver.js'),
  ]) {
    test(`${path.basename(storage)} keeps every promise`, async () => {
      const outcomes = await check(storage);
      assert.deepEqual(
        outcomes.filter(({ outcome }) => outcome === 'failed'),
        [],
      );
      assert.ok(outcomes.filter(({ outcome }) => outcome === 'ok').length >= 7);
    });
  }

  test('a reconnecting adapter is detected', async () => {
    const silent = "redis.on('error', () => {});";
    const file = writeAdapter(
      'reconnects',
      'maxRetriesPerRequest: 0, retryStrategy: () => 1,',
      silent,
    );
    const outcomes = await check(file);
    const failed = outcomes.filter(({ outcome }) => outcome === 'failed');
    assert.ok(failed.length >= 1, JSON.stringify(outcomes));
    assert.match(failed[0].name, /lost connection|silent server|closing/);
  });
});
