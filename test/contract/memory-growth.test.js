/** Memory that a process keeps for each operation: of a planted leak, and of honest drivers. */
// Needs: redis, mariadb, tarantool

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { before, describe, it } from 'node:test';
import { getLoader } from '../../data/loaders/index.js';
import { report, run } from '../../index.js';
import { createDataset } from '../../lib/dataset.js';
import { memoryGrowthOf } from '../../stats/metrics.js';
import { withFolder } from '../helpers/folder.js';
import { withServers } from '../helpers/servers.js';

const ROWS = { rows: 1000, valueSize: 100, seed: 2 };
const SERVERS = /** @type {const} */ (['redis', 'mariadb', 'tarantool']);
const HONEST = ['redis', 'redis:tuned', 'ioredis', 'mysql2', 'manual-hs', 'tarantool'];
/** Four words of an object with one property, and one of the array, which grows by half. */
const LEAST_BYTES = 5 * 8;
const LEAK = `const kept = [];
export const storage = {
  name: 'leak', summary: 'keeps an object of each request', package: null, server: null,
  rows: ['get'],
  profiles: { default: { summary: 'for a test', options: {} } },
  open: { async rows({ dataset }) {
    return {
      async get(id) {
        kept.push({ id });
        return dataset.value(id);
      },
      value: (text) => text,
      close: async () => {},
    };
  } },
};
`;

describe('growing memory', () => {
  const servers = withServers(SERVERS);
  const folder = withFolder();
  const leak = path.join(folder, 'leak.mjs');

  before(async () => {
    writeFileSync(leak, LEAK);
    for (const name of SERVERS) {
      const [address, credentials] = [servers.address(name), servers.credentials(name)];
      const { seed } = await getLoader(name);
      await seed({ address, credentials, dataset: createDataset(ROWS) });
    }
  });

  /** @param {Record<string, unknown>} options */
  async function growth(options) {
    const all = { ...ROWS, home: servers.home(), anyway: true, warmup: 2000, ...options };
    const result = await run(/** @type {any} */ (all));
    const warnings = result.warnings.filter(({ code }) => code === 'W_MEMORY_GROWS');
    return { result, warnings };
  }

  it('is shown as bytes per operation with their interval', async () => {
    const loads = [{ kind: 'window', inFlight: 50, operations: 200_000 }];
    const { result, warnings } = await growth({ loads, rounds: 3, storages: [leak] });
    const { low = 0, value = 0, high = 0, n } = memoryGrowthOf(result.benchmarks[0]) ?? {};
    const details = JSON.stringify({ low, value, high });
    assert.ok(value >= LEAST_BYTES && value < 2 * LEAST_BYTES, details);
    assert.ok(low <= value && value <= high && n === 3, details);
    const [{ message }] = warnings;
    const expected = /^memory grows by [\d.]+ bytes per operation \(95 % [\d.]+ to [\d.]+\)$/;
    assert.match(message, expected);
    assert.equal(warnings.length, 1);
    assert.match(
      await report(result, 'csv'),
      /,memory_growth_bytes_per_op,memory_growth_bytes_per_op_low/,
    );
  });

  it('is not reported for correct drivers', async () => {
    const storages = [...HONEST, 'lmdb', 'memory'];
    const loads = [{ kind: 'window', inFlight: 100, operations: 10_000 }];
    const { result, warnings } = await growth({ loads, rounds: 3, storages });
    assert.deepEqual(warnings, []);
    // A timer of node-redis keeps each request for 5 s: nothing is known.
    for (const benchmark of result.benchmarks) {
      const isKnown = memoryGrowthOf(benchmark) !== null;
      assert.equal(isKnown, !benchmark.id.startsWith('redis:default'), benchmark.id);
    }
  });
});
