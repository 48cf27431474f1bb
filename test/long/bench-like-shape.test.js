/** The like-shape sweep in its smoke size: it runs, each contender in its shapes. No timings. */
// Needs: redis, mariadb

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { run } from '../../bench/like-shape.js';
import { rateOf } from '../../bench/tools/sysbench.js';
import { getLoader } from '../../data/loaders/index.js';
import { createDataset } from '../../lib/dataset.js';
import { findHome } from '../../lib/home.js';
import { callRedis } from '../../servers/cluster-call.js';
import { loadServer } from '../../servers/registry.js';
import { checkAvailable, loadStorage } from '../../storages/index.js';
import { withServers } from '../helpers/servers.js';

const ROWS = 1000;
describe('npm run bench -- like-shape', () => {
  const servers = withServers(['redis', 'mariadb']);

  before(async () => {
    const dataset = createDataset({ rows: ROWS });
    for (const [server, name] of [
      ['redis', 'redis'],
      ['mariadb', 'mysql'],
    ]) {
      const [address, credentials] = [servers.address(server), servers.credentials(server)];
      await (await getLoader(name)).seed({ address, credentials, dataset });
    }
  });

  test('the like-shape sweep gives a rate per contender and shape, and removes its keys', async () => {
    const all = { redis: servers.address('redis'), mariadb: servers.address('mariadb') };
    const figures = [];
    for await (const figure of run({ smoke: true, servers: all, rows: ROWS })) figures.push(figure);
    const names = figures.map(({ name }) => name);
    const glide = await checkAvailable(await loadStorage('valkey-glide'));
    const drivers = ['ioredis', 'redis:tuned', 'iovalkey', 'mysql2', 'mariadb'];
    for (const driver of [...drivers, ...(glide === null ? ['valkey-glide'] : [])]) {
      assert.ok(names.includes(`-c 1 -P 100: ${driver}`), names.join());
      assert.ok(names.includes(`-c 100 -P 1: ${driver}`), names.join());
    }
    const redis = await (await loadServer('redis')).find(findHome());
    const isHere = redis?.programs['redis-benchmark'] !== undefined;
    assert.equal(names.includes('-c 1 -P 100: redis-benchmark'), isHere, names.join());
    assert.ok(
      !names.includes('-c 1 -P 100: sysbench'),
      'it has one request in flight per connection',
    );
    for (const { low, median, high, unit, target } of figures) {
      assert.ok(low > 0 && low <= median && median <= high && high < Number.POSITIVE_INFINITY);
      assert.deepEqual([unit, target], ['ops/s', null]);
    }
    const { main } = servers.address('redis');
    const messages = { title: 'Redis', hint: '', password: '' };
    const words = ['KEYS', 'dragstrip:like-shape:*'];
    assert.deepEqual(await callRedis(main, servers.credentials('redis'), words, messages), []);
  });
});

test('the rate of sysbench counts its queries', () => {
  const text = [
    'SQL statistics:',
    '    queries performed:',
    '        read:                            20000',
    '    transactions:                        20000  (9876.54 per sec.)',
    '    queries:                             20000  (9876.54 per sec.)',
  ].join('\n');
  assert.equal(rateOf(text), 9876.54);
  assert.throws(() => rateOf('FATAL: unable to connect'), /printed no rate/);
});
