/** The bench of locks in its smoke size: it runs, and its figures are whole. No timings. */
// Needs: redis

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run } from '../../bench/mutex.js';
import { openRedis } from '../helpers/own-clients.js';
import { withServers } from '../helpers/servers.js';

const servers = withServers(['redis']);

test('The bench of locks reports each figure with its target, and removes its keys', async () => {
  const address = servers.address('redis');
  const figures = [];
  for await (const figure of run({ smoke: true, servers: { redis: address }, rows: 1000 })) {
    figures.push(figure);
  }
  const names = ['Test 1, 1000 lock/unlock by 10 tasks', 'Test 2, sections of 100 tasks'];
  assert.deepEqual(
    figures.map(({ name, target, n }) => [name, target, n]),
    names.flatMap((name) =>
      ['redlock', 'redis-semaphore'].flatMap((peer) => [
        [`script over ${peer}, keys 1/1, ${name}: rate`, 1, 1],
        [`script over ${peer}, keys 1/1, ${name}: client CPU saved`, null, 1],
      ]),
    ),
  );
  for (const { low, median, high } of figures) {
    assert.ok(low > 0 && low <= median && median <= high && high < Number.POSITIVE_INFINITY);
  }
  const redis = openRedis(servers);
  assert.equal(await redis.dbsize(), 0);
  redis.disconnect();
});
