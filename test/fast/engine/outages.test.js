/** Outages of several connections and processes as one list, and the messages about them. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mergeOutages, outageWarnings } from '../../../engine/outages.js';

const outage = (
  /** @type {number} */ startNs,
  /** @type {number | null} */ ns,
  /** @type {number} */ failed,
) => ({ startNs, ns, failed, reason: 'gone' });

test('outages that overlap are one, from the first start to the last end', () => {
  const all = [outage(50, 10, 1), outage(10, 20, 2), outage(25, 15, 3)];
  assert.deepEqual(mergeOutages(all), [outage(10, 30, 5), outage(50, 10, 1)]);
  assert.deepEqual(mergeOutages([outage(10, 20, 1), outage(20, null, 1)]), [outage(10, null, 2)]);
  assert.deepEqual(mergeOutages([]), []);
});

test('the warning names the benchmark, the lengths and the failures', () => {
  const of = (/** @type {any[]} */ outages) =>
    outageWarnings(/** @type {any} */ ([{ id: 'a', rounds: [{ outages }, {}] }]));
  assert.deepEqual(of([]), []);
  const [{ benchmark, message, hint }] = of([outage(0, 1.5e9, 1200), outage(9e9, 2e9, 5)]);
  assert.equal(benchmark, 'a');
  assert.match(
    message,
    /^no connection for 1\.5\d* s, 2\.\d* s; 1,205 operations failed because of it$/,
  );
  assert.equal(hint, null);
  assert.match(of([outage(0, null, 1)])[0].message, /not reconnected until the end \(gone\)/);
});
