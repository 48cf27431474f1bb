/**
 * The bench of the HandlerSocket client in its smoke size: it runs, and its figures are whole. No
 * timings.
 */
// Needs: mariadb

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run } from '../../bench/handlersocket.js';
import { PACKAGES_HOME } from '../helpers/servers.js';

test('the bench of the HandlerSocket client reports each figure with its target', async () => {
  /** @type {Record<string, number | null>} */
  const targets = {};
  for await (const figure of run({ smoke: true, packagesHome: PACKAGES_HOME })) {
    const { name, target, low, median, high, n } = figure;
    // The best point and the best contender differ from run to run.
    targets[name.replace(/\([^)]*×[^)]*\)|\((io|hi)?redis\S*\)|(io|hi)?redis\S*$/, '*')] = target;
    assert.ok(n > 0 && low > 0 && low <= median && median <= high, name);
    assert.ok(high < Number.POSITIVE_INFINITY, name);
  }
  const window = (/** @type {number} */ size) =>
    Object.fromEntries(
      [1, 2, 3, 4].flatMap((connections) => {
        const where = `${size}-byte rows, window 1000 over ${connections}`;
        return [
          [`${where}: wire loop`, null],
          [`${where}: promises of the wire loop`, connections === 3 ? 0.85 : null],
          [`${where}: callbacks of the wire loop`, connections === 3 ? 0.95 : null],
        ];
      }),
    );
  assert.deepEqual(targets, {
    ...window(16),
    '16-byte rows, window 1000: client CPU per find, promises': 1,
    '16-byte rows, window 1000: best Redis driver *': null,
    '16-byte rows, window 1000: promises against *': 1,
    'burst of 5000: promises': null,
    'burst of 5000: callbacks': null,
    'burst of 5000: promises of the server ceiling': 0.6,
    'burst of 5000 against one of 500: promises': 0.8,
    'client CPU of node-handlersocket (burst of 500) over ours': 10,
    'burst of 5000: promises over node-handlersocket': 25,
    'one in flight: promises of a bare socket': 0.95,
    'one in flight: callbacks of a bare socket': 0.95,
    'reply of 4500 rows: time over a raw read': 3,
    'reply of 4500 rows: time of a row over that in 450': 1.5,
    ...window(1024),
  });
});
