/** The bench of mget in its smoke size: it runs, and its figures are whole. No timings. */
// Needs: redis

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run } from '../../bench/mget.js';
import { getLoader } from '../../data/loaders/index.js';
import { namespace } from '../../workloads/mget/plan.js';
import { withServers } from '../helpers/servers.js';

const servers = withServers(['redis']);

test('The bench of mget reports each figure with its target, and removes its keys', async () => {
  const address = servers.address('redis');
  const figures = [];
  for await (const figure of run({ smoke: true, servers: { redis: address }, rows: 1000 })) {
    figures.push(figure);
  }
  const name = (/** @type {number} */ keys) =>
    `mget of ${keys} over a bare loop, ioredis, window 16`;
  assert.deepEqual(
    figures.map(({ name: text, target, n }) => [text, target, n]),
    [1, 10, 100].flatMap((keys) => [
      [`${name(keys)}: throughput`, 0.95, 2],
      [`${name(keys)}: client CPU saved`, null, 2],
    ]),
  );
  for (const { low, median, high } of figures) {
    assert.ok(low > 0 && low <= median && median <= high && high < Number.POSITIVE_INFINITY);
  }
  const loader = await getLoader('redis');
  const left = await loader.inspect({
    address,
    credentials: servers.credentials('redis'),
    namespace,
  });
  assert.deepEqual(left, { dataset: null, notOurs: null });
});
