/** The bench of the loaders in its smoke size: it runs, and its figures are whole. No timings. */
// Needs: redis, mariadb, tarantool

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run } from '../../bench/loaders.js';
import { PACKAGES_HOME } from '../helpers/servers.js';

test('The bench of the loaders reports each figure with its target and number of pairs', async () => {
  const figures = [];
  for await (const figure of run({ smoke: true, packagesHome: PACKAGES_HOME }))
    figures.push(figure);
  const shapes = figures.map(({ name, target, n }) => ({ name, target, n }));
  assert.deepEqual(shapes, [
    { name: 'seed redis against redis-cli --pipe: time', target: 2, n: 2 },
    { name: 'seed redis: rows', target: null, n: 2 },
    { name: 'seed mysql against LOAD DATA in the server: time', target: 2, n: 2 },
    { name: 'seed mysql against LOAD DATA LOCAL by its client: time', target: 2, n: 2 },
    { name: 'seed mysql: rows', target: null, n: 4 },
    { name: 'seed tarantool against pre-encoded calls: time', target: 2, n: 2 },
    { name: 'seed tarantool: rows', target: null, n: 2 },
  ]);
  for (const { name, low, median, high } of figures) {
    assert.ok(low > 0 && low <= median && median <= high && high < Number.POSITIVE_INFINITY, name);
  }
});
