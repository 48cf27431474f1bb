/** Individual garbage collections: their position in the measured interval. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { run } from '../../../index.js';
import { systemClock } from '../../../measure/clock.js';
import { systemInstruments } from '../../../measure/usage.js';
import { documentOf } from '../../../report/document.js';
import { plotsOf } from '../../../report/plots/index.js';
import { loadReports } from '../../../workloads/index.js';

describe('collections of garbage', () => {
  test('each with its start and duration, the longest dozen in the order of time', async () => {
    const { observeGarbage } = systemInstruments(systemClock);
    const beforeNs = systemClock.now();
    const garbage = observeGarbage();
    let kept = [];
    for (let i = 0; i < 3e6; i += 1) {
      kept.push({ i });
      if (kept.length > 1000) kept = [];
    }
    const afterNs = systemClock.now();
    const { collections = [], ...all } = await garbage.stop(afterNs); // no turn of the loop yet
    const [count, ns] = [Number(all.count), Number(all.ns)];
    assert.ok(count >= 2, `${count} collections`);
    assert.ok(collections.length > 0 && collections.length <= 12);
    let lastNs = beforeNs;
    for (const one of collections) {
      assert.ok(one.startNs >= lastNs && one.startNs + one.ns <= afterNs + 1e6);
      lastNs = one.startNs;
    }
    assert.ok(collections.reduce((sum, one) => sum + one.ns, 0) <= ns + 1);
  });

  test('are in the result, from the start of measurement, and in its plot', async () => {
    const result = await run({
      storages: ['memory'],
      loads: [{ kind: 'window', inFlight: 100, operations: 300_000 }],
      rows: 1000,
      valueSize: 64,
      warmupOperations: 1000,
    });
    const [{ rounds }] = result.benchmarks;
    const { client, durationNs } = rounds[0];
    const collections = client?.collections ?? [];
    assert.ok(collections.length > 0);
    for (const { startNs } of collections) assert.ok(startNs >= 0 && startNs <= durationNs);
    const document = documentOf(result, await loadReports());
    const timeline = plotsOf(document).find(({ id }) => id.startsWith('timeline'));
    assert.match(timeline?.note ?? '', /garbage collections/);
  });
});
