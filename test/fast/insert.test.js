/** Inserts without a server: assignment of rows, reading back, tables, plots, options. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { requestRun } from '../../engine/request.js';
import { parseResult } from '../../lib/parse-result.js';
import { documentOf } from '../../report/document.js';
import { loadPictures } from '../../report/pictures.js';
import { rowTexts } from '../../report/text.js';
import { loadServer, SERVER_NAMES } from '../../servers/index.js';
import { DEFAULT_SERVER_NAMES } from '../../servers/registry.js';
import { numberOf as figureIn } from '../../stats/metrics.js';
import { loadStorage, STORAGE_NAMES, storageNamesFor } from '../../storages/index.js';
import { loadReports } from '../../workloads/index.js';
import { workload } from '../../workloads/insert/index.js';
import {
  numberOf,
  planSlices,
  requestsInFlight,
  rowsOfRequest,
  STRATEGIES,
  STRATEGY_NAMES,
} from '../../workloads/insert/strategies.js';
import { withCommands } from '../helpers/command-folder.js';
import { insertResult } from '../helpers/insert-results.js';

const picturesOf = await loadPictures();

describe('rows of a request', () => {
  test('every row once, in the range of one worker, whatever the sizes', () => {
    const upTo = (/** @type {number} */ max) => fc.integer({ min: 1, max });
    fc.assert(
      fc.property(upTo(500), upTo(60), upTo(10), (rows, size, workers) => {
        const { from, to, worker, length } = planSlices({ rows, size, workers });
        const seen = new Int32Array(rows + 2);
        const owners = new Int32Array(rows + 2).fill(-1);
        for (let i = 0; i < length; i += 1) {
          assert.ok(to[i] > from[i] && to[i] - from[i] <= size);
          for (let a = from[i]; a < to[i]; a += 1) {
            seen[a] += 1;
            owners[a] = worker[i];
          }
        }
        assert.deepEqual([seen[0], seen[rows + 1]], [0, 0]);
        for (let a = 1; a <= rows; a += 1) {
          assert.equal(seen[a], 1);
          assert.ok(a === 1 || owners[a] >= owners[a - 1], 'a range of its own');
        }
      }),
    );
  });

  test('fifty thousand rows by two workers: half each, alternately', () => {
    const { from, worker, length } = planSlices({ rows: 50_000, size: 166, workers: 2 });
    assert.equal(length, 302);
    assert.deepEqual([...worker.slice(0, 4)], [0, 1, 0, 1]);
    assert.deepEqual([...from.slice(0, 4)], [1, 25_001, 167, 25_167]);
  });

  test('rows and requests in flight of each strategy', () => {
    const sizes = { rows: 50_000, batch: 166 };
    const limits = { batches: 5, window: 100 };
    const all = STRATEGY_NAMES.map((name) => [
      name,
      rowsOfRequest(STRATEGIES[name], sizes),
      requestsInFlight(STRATEGIES[name], limits),
    ]);
    assert.deepEqual(all, [
      ['one', 1, 1],
      ['async', 1, 100],
      ['workers', 1, 10],
      ['pairs', 2, 50],
      ['batch_pure', 166, 5],
      ['batch_pure2', 166, 5],
      ['unlogged_batch', 166, 5],
      ['logged_batch', 166, 5],
      ['multi_row', 166, 5],
      ['bulk_load', 50_000, 1],
    ]);
  });

  test('the number of a row depends on its key and the seed, and is an int', () => {
    const numbers = Array.from({ length: 1000 }, (_, a) => numberOf(1, a));
    assert.ok(numbers.every((b) => Number.isInteger(b) && b >= 0 && b < 2 ** 31));
    assert.ok(new Set(numbers).size > 990);
    assert.equal(numberOf(1, 5), numberOf(1, 5));
    assert.notEqual(numberOf(2, 5), numberOf(1, 5));
  });
});

/**
 * An inserter on a Map, as a store that overwrites, and faults that it can inject.
 * @param {{ store?: (rows: Map<number, number>, a: number, b: number) => void, writes?: boolean,
 *   acknowledge?: number }} [fault]
 */
function mapInserter({ store = (rows, a, b) => rows.set(a, b), writes, acknowledge = 1 } = {}) {
  /** @type {Map<number, number>} */
  const rows = new Map();
  let written = 0;
  const put = (/** @type {number} */ a, /** @type {number} */ b) => {
    store(rows, a, b);
    written += a === 3 && writes ? 2 : 1;
  };
  /** @type {import('../../lib/types.js').Inserter} */
  const inserter = {
    close: async () => {},
    clear: async () => rows.clear(),
    async read(see) {
      for (const [a, b] of rows) see(a, b);
    },
    durability: async () => 'none',
    ...(writes !== undefined && { writes: async () => written }),
    ways: {
      single: {
        build: (from) => [from, numberOf(1, from)],
        send: async ([a, b]) => put(a, b),
        stored: () => acknowledge,
      },
    },
  };
  return inserter;
}

/** @param {import('../../lib/types.js').Inserter} inserter */
async function insertTen(inserter) {
  const dataset = /** @type {any} */ ({ rows: 10, seed: 1 });
  const options = { parameters: { strategy: 'async' } };
  const contender = /** @type {any} */ ({ inserts: { async: 'Map.set' } });
  const context = { dataset, seed: 1, ops: 10, options, contender };
  const prepared = workload.prepare({ ...context, phase: 'measure' });
  const bound = prepared(/** @type {any} */ (inserter));
  await bound.before?.(10);
  for (let i = 0; i < 10; i += 1) bound.verify(i, await bound.op(i), false);
  return bound.after?.();
}

describe('reading back', () => {
  test('metrics of ten correct rows', async () => {
    assert.deepEqual(await insertTen(mapInserter({ writes: false })), {
      rows: 10,
      requests: 10,
      how: 'Map.set',
      right: 10,
      lost: 0,
      twice: 0,
      wrong: 0,
      acknowledged: 10,
      refused: 0,
      written: 10,
      durability: 'none',
    });
    assert.equal((await insertTen(mapInserter()))?.['written'], null, 'not every store counts');
  });

  const lose = (/** @type {Map<number, number>} */ rows, /** @type {number} */ a, b = 0) => {
    if (a !== 4) rows.set(a, b);
  };
  /** @type {Record<string, [Parameters<typeof mapInserter>[0], RegExp]>} */
  const faults = {
    lost: [{ store: lose }, /9 are right, 1 lost, 0 inserted twice, 0 wrong/],
    'wrong number': [{ store: (rows, a, b) => rows.set(a, b + 1) }, /0 are right, .*10 wrong/],
    'unknown key': [
      { store: (rows, a, b) => rows.set(a, b).set(99, 1) },
      /10 are right, 0 lost, 0 inserted twice, 1 wrong or unknown/,
    ],
    overwritten: [{ writes: true }, /10 are right, .*1 inserted twice, .*11 written by the/],
    'not acknowledged': [{ acknowledge: 0 }, /10 are right, .*; 0 were acknowledged/],
    refused: [{ acknowledge: -1 }, /10 are right, 0 lost, 10 inserted twice/],
    'acknowledged twice': [{ acknowledge: 2 }, /10 inserted twice, .*20 were acknowledged/],
  };
  for (const [what, [fault, message]] of Object.entries(faults)) {
    test(`${what}: the round fails with E_DATA`, async () => {
      await assert.rejects(insertTen(mapInserter(fault)), { code: 'E_DATA', message });
    });
  }

  test('warm-up leaves no rows', async () => {
    const inserter = mapInserter();
    const dataset = /** @type {any} */ ({ rows: 10, seed: 1 });
    const options = { parameters: { strategy: 'async' } };
    const prepared = workload.prepare({ dataset, seed: 2, ops: 3, options, phase: 'warmup' });
    const bound = prepared(/** @type {any} */ (inserter));
    await bound.before?.(3);
    for (let i = 0; i < 3; i += 1) await bound.op(i);
    let rows = 0;
    await inserter.read(() => {
      rows += 1;
    });
    assert.equal(rows, 150, 'fifty single rows a request');
    assert.equal((await insertTen(inserter))?.['right'], 10);
  });
});

describe('registries', () => {
  test('Cassandra is available by name only', async () => {
    assert.ok(SERVER_NAMES.includes('cassandra'));
    assert.ok(!DEFAULT_SERVER_NAMES.includes('cassandra'));
    assert.deepEqual(DEFAULT_SERVER_NAMES.slice(0, 3), ['redis', 'mariadb', 'tarantool']);
    // bun-redis exists in another runtime only.
    const others = STORAGE_NAMES.filter((name) => !['cassandra', 'bun-redis'].includes(name));
    assert.ok(others.length === STORAGE_NAMES.length - 2);
    assert.ok((await storageNamesFor(['insert'])).includes('cassandra'));
    assert.deepEqual(await storageNamesFor(['get']), others);
    const { endpoints, fetch } = await loadServer('cassandra');
    assert.equal(endpoints['main'].default, '127.0.0.1:9042');
    assert.equal(typeof fetch, 'function');
  });

  test('storages with inserts name existing strategies, Cassandra the original program’s', async () => {
    for (const name of STORAGE_NAMES) {
      const { inserts, open } = await loadStorage(name);
      assert.equal(inserts !== undefined, open.insert !== undefined, name);
      for (const strategy of Object.keys(inserts ?? {}))
        assert.ok(STRATEGY_NAMES.includes(strategy));
    }
    const seeds = ['async', 'pairs', 'workers', 'batch_pure', 'batch_pure2', 'unlogged_batch'];
    const { inserts } = await loadStorage('cassandra');
    for (const name of [...seeds, 'logged_batch']) assert.ok(inserts?.[name]);
  });
});

describe('options of dragstrip insert', () => {
  /** @param {Record<string, any>} options */
  const planOf = async (options) => (await requestRun({ workload: 'insert', ...options })).plan;

  /** @param {Record<string, any>} options */
  const benchmarksOf = async (options) =>
    (await planOf(options)).variants?.flatMap(({ parameters, loads, storages }) =>
      loads.map(({ inFlight, operations }) => ({ ...parameters, inFlight, operations, storages })),
    );

  test('batches and windows are swept for strategies that have them', async () => {
    const benchmarks = await benchmarksOf({
      storages: ['ioredis', 'lmdb'],
      strategies: ['async', 'logged_batch'],
      batch: [50, 500],
      inFlight: [1, 10],
      rows: 1000,
    });
    const both = ['ioredis', 'lmdb'];
    assert.deepEqual(benchmarks, [
      { strategy: 'async', inFlight: 100, operations: 1000, storages: both },
      ...[50, 500].flatMap((batch) => {
        const own = { strategy: 'logged_batch', batch, operations: 1000 / batch };
        return [
          { ...own, inFlight: 1, storages: ['ioredis'] },
          { ...own, inFlight: 10, storages: ['ioredis'] },
          { ...own, inFlight: 1, storages: ['lmdb'] },
        ];
      }),
    ]);
  });

  test('without names: all that insert, 50,000 rows, three rounds', async () => {
    const options = await planOf({});
    assert.equal(options.storages, null);
    assert.equal(options.dataset.rows, 50_000);
    assert.equal(options.rounds, 3);
    const storages = new Set(options.variants?.flatMap((one) => one.storages ?? []));
    for (const name of ['cassandra', 'redis', 'mysql2', 'manual-hs', 'tarantool', 'sqlite']) {
      assert.ok(storages.has(name), name);
    }
    assert.ok(!storages.has('hiredis') && !storages.has('memory'));
  });

  /** @type {[Record<string, any>, RegExp][]} */
  const refused = [
    [{ storages: ['memory'] }, /storage memory does not support inserts/],
    [{ storages: ['all'] }, /list them individually/],
    [{ storages: ['mysql2:tuned'] }, /mysql2: the profile tuned does not support inserts/],
    [{ storages: ['sqlite'], strategies: ['bulk_load'] }, /none of these storages implements any/],
    [{ storages: ['no-such'] }, /unknown storage/],
  ];
  for (const [options, message] of refused) {
    test(`refuses ${JSON.stringify(options)}`, async () => {
      await assert.rejects(planOf(options), { code: 'E_USAGE', message });
    });
  }

  const { callHere } = withCommands();

  test('a strategy that a named storage does not support is skipped with the reason', async () => {
    const size = ['--rows', '200', '--rounds', '1', '--warmup', '1'];
    const { status, stdout, stderr } = await callHere(
      ...['insert', '--storages', 'lmdb', '--strategies', 'one,multi_row', ...size],
    );
    assert.equal(status, 0, stderr);
    assert.match(stdout, /lmdb has no statement of many rows\n +→ it has one, async, logged_batch/);
    assert.match(stdout, /^lmdb_one 200 inserts: /m);
  });

  for (const [words, status, message] of /** @type {[string[], number, RegExp][]} */ ([
    [
      ['--strategies', 'asinc'],
      2,
      /--strategies "asinc": unknown value "asinc"; available: one, async/,
    ],
    [['--batch', '5,x'], 2, /--batch "x": not a whole number from 1 to 10000/],
    [['--in-flight', '0'], 2, /--in-flight "0": not a whole number/],
    [['--rows', '0'], 2, /--rows "0": not a whole number/],
    [['--storages', 'cassandra'], 4, /Cassandra at 127.0.0.1:1: connection refused/],
  ])) {
    test(`${words.join(' ')}: one line and status ${status}`, async () => {
      const ended = await callHere('insert', ...words);
      assert.equal(ended.status, status, ended.stderr);
      assert.match(ended.stderr, message);
      assert.equal(ended.stderr.trimEnd().split('\n').length, 1);
      assert.equal(ended.stdout, '');
    });
  }

  test('lmdb alone needs no server, and leaves no file', async () => {
    const words = ['--storages', 'lmdb', '--rows', '500', '--rounds', '2', '--warmup', '3'];
    const ended = await callHere('insert', ...words);
    assert.equal(ended.status, 0, ended.stderr);
    assert.match(ended.stdout, /^lmdb_logged_batch 500 inserts: \d\.\d{6} seconds \(batches of/m);
    assert.match(ended.stdout, /lmdb, 500 rows \(a int primary key, b int\); durability: noSync/);
  });
});

describe('reports of inserts', () => {
  const result = insertResult();

  test('rows per second from the metrics of each round, by storage', async () => {
    const [cassandra, redis] = documentOf(result, await loadReports()).tables;
    assert.match(cassandra.title, /^cassandra, .*commitlog_sync periodic$/);
    const [async, batch, failed] = cassandra.rows.map(({ values }) => values);
    assert.equal(Math.round(figureIn(async['rows']) ?? 0), 10_000);
    assert.equal(Math.round(figureIn(batch['rows']) ?? 0), 40_000);
    assert.ok('n' in batch['rows'] && batch['rows'].n === 3);
    assert.equal(figureIn(batch['versus_plainest'])?.toFixed(2), '4.00');
    assert.equal(figureIn(batch['seconds'])?.toFixed(3), '0.025');
    // 50 µs for a request of 100 rows, of which there are ten.
    assert.equal(Math.round((figureIn(batch['client_cpu']) ?? 0) * 100), 50_000);
    assert.ok('state' in failed['rows'] && failed['rows'].state === 'failed');
    assert.equal(figureIn(redis.rows[0].values['versus_plainest']), 1);
  });

  test('one table per storage, with its settings, and no table of a race', async () => {
    const { tables, lists, legend } = documentOf(result, await loadReports());
    assert.deepEqual(
      tables.map(({ title }) => title),
      [
        'cassandra, 1,000 rows (a int primary key, b int); durability: commitlog_sync periodic',
        'ioredis, 1,000 rows (a int primary key, b int); durability: appendonly no',
      ],
    );
    const texts = tables[0].rows.map((row) => rowTexts(tables[0], row));
    assert.deepEqual(texts[1].slice(0, 6), [
      ...['batch_pure', '100', '5', '40,000 ±0.0% (n 3)', '0.03', '4.00×'],
    ]);
    assert.deepEqual(texts[2].slice(0, 4), ['! logged_batch', '100', '5', 'failed']);
    assert.ok(lists.some(({ kind, items }) => kind === 'failed' && /E_DATA/.test(items[0].text)));
    assert.ok(legend.some((line) => line.startsWith('insert: rows/s')));
  });

  test('a stored result whose rounds have `facts` reads as one with `metrics`', () => {
    const json = JSON.stringify(result);
    const early = json.replaceAll('"metrics":', '"facts":');
    assert.notEqual(early, json);
    assert.deepEqual(parseResult(early, 'early.json'), parseResult(json, 'today.json'));
  });

  test('a picture: bars of the measured strategies', () => {
    const [{ svg }] = picturesOf([result]);
    assert.match(svg, /cassandra batch_pure of 100, 5 in flight/);
    assert.doesNotMatch(svg, /logged_batch/);
    assert.deepEqual(picturesOf([{ ...result, benchmarks: [] }]), []);
  });
});
