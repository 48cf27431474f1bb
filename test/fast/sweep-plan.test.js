/** From --connections and --value-size as lists to loads, rows and namespaces; refusals. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadLabel } from '../../engine/loads.js';
import { planRun } from '../../engine/plan.js';
import { namespacesOf, rowsForSizes, rowsOf } from '../../engine/value-sizes.js';
import { ROWS_NAMESPACE } from '../../lib/dataset.js';
import { loadName } from '../../lib/load-name.js';
import { loadWorkload } from '../../workloads/index.js';

const race = await loadWorkload('race');
const get = await loadWorkload('get');
const ycsb = await loadWorkload('ycsb-a');

/** @param {Record<string, any>} given */
const plan = (given, workload = race) => planRun({ command: 'race', ...given }, workload);
/** @param {Record<string, any>} given */
const labels = (given, workload = race) => plan(given, workload).loads.map(loadLabel);

test('one in flight in a race is sync, and is not measured twice', () => {
  assert.deepEqual(labels({ inFlight: [1, 10, 100] }), ['sync', 'window-10', 'window-100']);
  assert.deepEqual(labels({ inFlight: [1, 10], rounds: 1 }), ['sync', 'window-10']);
  assert.deepEqual(labels({ inFlight: [1, 10] }, get), ['window-1', 'window-10']);
});

test('each window is spread over each number of connections; one is the usual load', () => {
  const { loads, slices, skipped } = plan({ connections: [1, 4], inFlight: [16, 64] });
  assert.deepEqual(loads.map(loadLabel), [
    ...['sync', 'window-16', 'window-16-over-4', 'window-64', 'window-64-over-4'],
  ]);
  assert.deepEqual(
    skipped?.map(({ load }) => load),
    ['sync on 4 connections'],
  );
  assert.ok(slices, 'by slices, like every race');
  assert.deepEqual(Object.keys(loads[1]), Object.keys(plan({ inFlight: [16] }).loads[1]));
  assert.equal(loadName(loads[2]), 'window of 16 on 4 connections');
  assert.deepEqual(labels({ connections: [4], rate: 2000 }), ['rate-2000-over-4']);
});

test('idle connections are refused', () => {
  for (const [given, says] of /** @type {[Record<string, any>, RegExp][]} */ ([
    [
      { connections: [16], inFlight: [8] },
      /--connections 16 needs as many requests in flight, not 8/,
    ],
    [{ connections: [4], load: 'sync' }, /--connections 4 needs as many requests in flight, not 1/],
    [{ connections: [4], processes: [2] }, /--connections and --processes/],
    [{ connections: [4], search: true, p99: 5 }, /--find-max and --connections/],
  ])) {
    assert.throws(() => plan(given), { code: 'E_USAGE', message: says });
  }
  assert.deepEqual(labels({ connections: [4] }, ycsb), ['window-64-over-4']);
});

test('lists combine: impossible combinations are skipped with the reason, the others run', () => {
  const { loads, skipped } = plan({ inFlight: [1, 8, 64], connections: [1, 4] });
  assert.deepEqual(loads.map(loadLabel), [
    ...['sync', 'window-8', 'window-8-over-4', 'window-64', 'window-64-over-4'],
  ]);
  assert.deepEqual(skipped, [
    {
      load: 'sync on 4 connections',
      reason: '--connections 4 needs as many requests in flight, not 1',
    },
  ]);
  const shared = plan({ inFlight: [2, 64], processes: [1, 4] });
  assert.deepEqual(
    shared.skipped?.map(({ load }) => load),
    ['window of 2 by 4 processes'],
  );
});

test('several value sizes: each load on rows of each size, equally many per size', () => {
  const { loads, dataset, sizes } = plan({ valueSize: [16, 1000], inFlight: [8] });
  assert.deepEqual(loads.map(loadLabel), [
    ...['sync-value-16', 'sync-value-1000', 'window-8-value-16', 'window-8-value-1000'],
  ]);
  assert.deepEqual([dataset.rows, dataset.valueSize, sizes], [100_000, 16, [16, 1000]]);
  assert.equal(plan({ valueSize: [16, 65_536] }).dataset.rows, 2048, 'rows of 128 MiB');
  assert.equal(plan({ valueSize: [16, 65_536], rows: 50 }).dataset.rows, 50);
  const one = plan({ valueSize: [64] });
  assert.deepEqual([one.dataset.valueSize, one.sizes], [64, undefined]);
  assert.equal(one.loads[0].valueSize, undefined, 'one size is that of the dataset');
});

test('rows of one size are in a separate namespace on every server', () => {
  const dataset = { rows: 10, valueSize: 16, seed: 1 };
  assert.equal(rowsOf({ load: {}, dataset }).namespace, ROWS_NAMESPACE);
  const all = namespacesOf({ sizes: [16, 64], dataset }, {});
  assert.deepEqual(
    all.map((one) => [one.dataset.valueSize, one.namespace.redis?.prefix]),
    [
      [16, 'dragstrip:value-16:row:'],
      [64, 'dragstrip:value-64:row:'],
    ],
  );
  const names = [ROWS_NAMESPACE, ...all.map(({ namespace }) => namespace)];
  for (const of of /** @type {((one: any) => string)[]} */ ([
    ({ redis }) => redis.marker,
    ({ mariadb }) => mariadb.table,
    ({ tarantool }) => tarantool.space,
    ({ tarantool }) => tarantool.key,
  ])) {
    assert.equal(new Set(names.map(of)).size, 3);
  }
  assert.deepEqual(namespacesOf({ dataset }, {}), []);
});

test('invalid value sizes are refused in one line', () => {
  assert.throws(() => rowsForSizes([16, 65_536], 100_000), /6\.1 GiB; the maximum is 1 GiB/);
  assert.equal(rowsForSizes([16, 65_536], 1000), 1000);
  assert.throws(() => plan({ valueSize: [16, 64], search: true, p99: 5 }), /--find-max/);
  assert.throws(() => plan({ valueSize: [16, 64], agents: 2, rounds: 1 }), /--agents/);
  assert.throws(() => plan({ valueSize: [4] }), /--value-size.*from 8/);
});
