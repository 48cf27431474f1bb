/** Mixes: drawing, writing and verification, on the race's rows and on rows of a run. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { planRun } from '../../engine/plan.js';
import { createDataset } from '../../lib/dataset.js';
import { MISMATCH, MISS, OK } from '../../lib/outcome.js';
import { loadStorage } from '../../storages/index.js';
import { loadWorkload } from '../../workloads/index.js';
import { fieldNames, joinFields, splitFields } from '../../workloads/mix/hashes.js';
import { crud, workload as mix } from '../../workloads/mix/index.js';
import { firstIdOf, OwnRows } from '../../workloads/mix/own-rows.js';
import { parseMix } from '../../workloads/mix/weights.js';

const dataset = createDataset({ rows: 300, valueSize: 60, seed: 3 });
const memory = await loadStorage('memory');

/** @param {Record<string, any>} [changes] changes of the handle: incorrect behaviour */
async function openMemory(changes = {}) {
  const profile = { name: 'sync', ...memory.profiles['sync'] };
  const context = { address: {}, credentials: {}, folder: '', names: /** @type {any} */ ({}) };
  const handle = await memory.open.rows?.({ ...context, profile, dataset });
  return /** @type {any} */ ({ ...handle, ...changes });
}

/**
 * @param {string} weights
 * @param {{ ops?: number, ttlMs?: number, clock?: { now(): number }, more?: object }} [how]
 */
function prepared(weights, { ops = 4000, ttlMs, clock, more } = {}) {
  const options = { mix: weights, ...(ttlMs && { ttlMs }) };
  const context = { dataset, seed: 1, ops, options, clock, share: 0, ...more };
  return crud.prepare(/** @type {any} */ (context));
}

/**
 * Operations one after another, each verified.
 * @param {import('../../lib/types.js').BoundWorkload} bound
 * @param {number} count
 */
function runAll(bound, count) {
  /** @type {number[]} by outcome */
  const outcomes = [0, 0, 0];
  /** @type {Record<string, number>} */
  const kinds = {};
  for (let i = 0; i < count; i += 1) {
    outcomes[bound.verify(i, bound.op(i), i % 31 === 0)] += 1;
    const name = String(bound.kinds?.names[bound.kinds.of(i)]);
    kinds[name] = (kinds[name] ?? 0) + 1;
  }
  return { outcomes, kinds };
}

/** @param {Promise<unknown> | undefined} work @param {RegExp} message */
const rejectsData = (work, message) =>
  assert.rejects(async () => work, { code: 'E_DATA', message });

test('each process of each contender in each round has separate ids', () => {
  const [rounds, places, shares] = [2, 64, 24].map((n) => Array.from({ length: n }, (_, i) => i));
  const ids = rounds.flatMap((round) =>
    places.flatMap((place) => shares.map((share) => firstIdOf({ round, place, share }))),
  );
  ids.sort((a, b) => a - b);
  assert.ok(ids.every((id, i) => i === 0 || id - ids[i - 1] >= 2 ** 19));
  assert.ok(ids[ids.length - 1] + 2 ** 19 <= 2 ** 31);
  assert.throws(() => firstIdOf({ share: 24 }), {
    code: 'E_USAGE',
    message: /at most 24 processes/,
  });
});

test('every kind is done by its weight, verified, read back, and leaves nothing', async () => {
  const handle = await openMemory();
  const bound = prepared('get:50,set:10,scan:10,insert:8,del:7,hget:10,hset:5')(handle, 'sync');
  await bound.begin?.();
  const { outcomes, kinds } = runAll(bound, 4000);
  assert.deepEqual(outcomes, [4000, 0, 0]);
  const share = (/** @type {string} */ name) => kinds[name] / 4000;
  for (const [name, weight] of Object.entries({ get: 0.5, set: 0.1, scan: 0.1, insert: 0.08 })) {
    assert.ok(Math.abs(share(name) - weight) < 0.025, `${name}: ${share(name)}`);
  }
  const metrics = await bound.end?.();
  assert.ok(Number(metrics?.['readBackSets']) > 150);
  assert.ok(Number(metrics?.['readBackHashes']) > 50);
  assert.ok(Number(metrics?.['readBackInserts']) > 5);
  assert.ok(Number(metrics?.['readBackDeletions']) > 100);
  for (const name of Object.keys(metrics ?? {})) assert.equal(crud.metricRules?.[name], 'sum');
  const again = prepared('insert:1', { more: { seed: 2 } })(handle, 'sync');
  assert.deepEqual(runAll(again, 100).outcomes, [100, 0, 0], 'its rows were removed');
});

test('if no row is left to delete one is inserted: del alone alternates', async () => {
  const { outcomes, kinds } = runAll(prepared('del:1')(await openMemory(), 'sync'), 100);
  assert.deepEqual([outcomes, kinds], [[100, 0, 0], { insert: 50, del: 50 }]);
});

test('no two operations are in flight for one row', () => {
  const rows = new OwnRows(2);
  assert.deepEqual([rows.takePresent(), rows.takeAbsent(), rows.takeAbsent()], [-1, 0, 1]);
  assert.equal(rows.takeAbsent(), -1);
  rows.inserted(1);
  assert.deepEqual([rows.takePresent(), rows.takePresent(), rows.takeAbsent()], [1, -1, -1]);
  rows.deleted(1);
  assert.equal(rows.takeAbsent(), 1);
});

test('an acknowledged but missing deletion or insert is detected', async () => {
  const kept = await openMemory({ del: () => true });
  const operations = prepared('insert:1,del:1', { ops: 200 })(kept, 'sync');
  const { outcomes } = runAll(operations, 20);
  assert.ok(outcomes[OK] > 0);
  await rejectsData(operations.end?.(), /row \d+ was deleted but still exists/);
  const lost = await openMemory({ add: () => true });
  const two = prepared('insert:1', { ops: 50 })(lost, 'sync');
  runAll(two, 50);
  await rejectsData(two.end?.(), /row \d+ was inserted and is missing/);
  const none = await openMemory({ del: () => false });
  assert.ok(runAll(prepared('insert:1,del:1')(none, 'sync'), 50).outcomes[MISS] > 0);
  const there = await openMemory({ add: () => false });
  assert.equal(runAll(prepared('insert:1')(there, 'sync'), 50).outcomes[MISMATCH], 50);
});

test('an acknowledged but lost write is detected by reading back', async () => {
  const lost = await openMemory({ set: () => undefined, stored: () => true });
  const operations = prepared('set:1', { ops: 50 })(lost, 'sync');
  runAll(operations, 50);
  await rejectsData(operations.end?.(), /row \d+ has an older version/);
  const hashes = await openMemory();
  const two = prepared('hset:1', { ops: 50 })(hashes, 'sync');
  await two.begin?.();
  hashes.hset = () => {};
  const three = prepared('hset:1', { ops: 50 })(hashes, 'sync');
  runAll(three, 50);
  await rejectsData(three.end?.(), /hash \d+ has an older version/);
});

test('each field of a hash is compared', async () => {
  const handle = await openMemory();
  const fields = (/** @type {any} */ reply) => ({ ...reply, f1: reply.f2, f2: reply.f1 });
  const right = prepared('hget:1')(handle, 'sync');
  await right.begin?.();
  assert.deepEqual(runAll(right, 310).outcomes, [310, 0, 0]);
  const wrong = prepared('hget:1')({ ...handle, fields }, 'sync');
  assert.ok(runAll(wrong, 310).outcomes[MISMATCH] > 0, 'two fields in each other’s place');
  for (const size of [8, 9, 16, 60, 1024, 1029]) {
    const text = dataset.value(1).repeat(20).slice(0, size);
    const named = Object.fromEntries(splitFields(text).map((own, i) => [`f${i}`, own]));
    assert.deepEqual(Object.keys(named), [...fieldNames(size)]);
    assert.equal(joinFields(named, size), text);
    assert.equal(joinFields({ ...named, f0: `${named['f0']}x` }, size), null);
    assert.equal(joinFields({ ...named, more: 'x' }, size), null);
    assert.equal(joinFields({}, size), undefined);
  }
});

test('a scan must have every row, in order, each with its own value', async () => {
  const wrong = {
    'without its last row': (/** @type {any[]} */ rows) => rows.slice(0, -1),
    'in another order': (/** @type {any[]} */ rows) => [...rows].reverse(),
    'with another value': (/** @type {any[]} */ rows) => rows.map(([id]) => [id, dataset.value(1)]),
  };
  for (const [title, scanned] of Object.entries(wrong)) {
    const bound = prepared('scan:1', { ops: 100 })(await openMemory({ scanned }), 'sync');
    const { outcomes } = runAll(bound, 100);
    assert.ok(outcomes[OK] < 8, `${title}: ${outcomes}`);
  }
});

test('an expiring row exists until its expiry and not after it', async () => {
  let nowNs = 0;
  const clock = { now: () => nowNs };
  /** @param {number} lifeMs the store's actual time to live */
  const expiring = async (lifeMs) => {
    const rows = new Map();
    const handle = await openMemory({
      addFor(/** @type {number} */ id, /** @type {string} */ text) {
        rows.set(id, { text, untilNs: nowNs + lifeMs * 1e6 });
        return true;
      },
      get: (/** @type {number} */ id) => {
        const row = rows.get(id);
        return row === undefined || row.untilNs <= nowNs ? undefined : row.text;
      },
    });
    const bound = prepared('insert:1', { ops: 30, ttlMs: 40, clock })(handle, 'sync');
    runAll(bound, 30);
    return bound;
  };
  const early = await expiring(1);
  nowNs = 10e6;
  await rejectsData(early.end?.(), /expired too early/);
  nowNs = 0;
  const right = await expiring(40);
  const late = await expiring(1e9);
  // Time goes on when it is waited for: the verification sleeps.
  const ticking = setInterval(() => {
    nowNs += 200e6; // one is enough, and it fires before the sleep ends
  }, 5);
  try {
    const metrics = /** @type {any} */ (await right.end?.());
    assert.ok(metrics.readBackAlive > 0, 'read before its time');
    assert.ok(metrics.readBackExpired > 0, 'and after it');
    await rejectsData(late.end?.(), /still existed after its expiry/);
  } finally {
    clearInterval(ticking);
  }
});

test('--ttl without inserts, or with deletions, and several sizes are refused in one line', async () => {
  const race = await loadWorkload('race');
  for (const [given, message] of /** @type {[Record<string, any>, RegExp][]} */ ([
    [{ ttl: 2000 }, /--ttl: no row is inserted/],
    [{ ttl: 2000, mix: 'get:1,set:1' }, /--ttl: no row is inserted/],
    [{ ttl: 2000, mix: 'insert:1,del:1' }, /rows that expire are not deleted/],
    [{ mix: 'insert:1', valueSize: [16, 1000] }, /several --value-size cannot be combined/],
    [{ mix: 'upsert:1' }, /--mix "upsert:1": not a mix of operations/],
  ])) {
    assert.throws(() => planRun({ command: 'race', ...given }, race), { code: 'E_USAGE', message });
  }
});

test('a plain mix is the workload mix; others use separate rows', async () => {
  const race = await loadWorkload('race');
  const plain = planRun({ command: 'race', mix: 'get:1,set:1' }, race);
  assert.deepEqual([plain.workload, plain.variants], ['mix', undefined]);
  const crud = planRun({ command: 'race', mix: 'get:1,insert:1', ttl: 500 }, race);
  assert.equal(crud.workload, 'crud');
  assert.deepEqual(crud.workloadOptions, { mix: 'get:1,insert:1', ttlMs: 500 });
});

test('a storage that lacks an operation is skipped with the reason', async () => {
  const target = async (/** @type {string} */ name) => ({
    definition: await loadStorage(name),
  });
  const targets = await Promise.all(['redis', 'mysql2', 'memory'].map(target));
  const reason = (/** @type {any} */ one, /** @type {any} */ parameters) =>
    /** @type {any} */ (crud.offers?.(one.definition, parameters));
  const [redis, mysql2] = targets;
  assert.match(reason(redis, { mix: 'scan:1' }).reason, /redis has no scans of adjacent rows/);
  assert.match(reason(mysql2, { mix: 'hget:1' }).reason, /mysql2 has no hashes/);
  assert.match(reason(mysql2, { mix: 'insert:1', ttlMs: 5 }).reason, /no rows that expire/);
  assert.equal(reason(redis, { mix: 'get:1,insert:1,del:1,hset:1', ttlMs: 5 }), true);
});

/**
 * On a store that writes nothing.
 * @param {string} weights
 * @param {{ ops?: number, seed?: number, keys?: string, valueSize?: number }} [options]
 */
function bind(weights, { ops = 20_000, seed = 1, keys, valueSize = 16 } = {}) {
  /** @type {[string, number, string?][]} */
  const calls = [];
  const rows = createDataset({ rows: 200, valueSize, seed: 3 });
  const handle = {
    get: (/** @type {number} */ id) => {
      calls.push(['get', id]);
      return rows.value(id);
    },
    set: (/** @type {number} */ id, /** @type {string} */ text) => {
      calls.push(['set', id, text]);
      return 'OK';
    },
    stored: (/** @type {string} */ reply) => reply === 'OK',
    close: async () => {},
  };
  const options = { mix: weights, ...(keys && { keys }) };
  return { calls, bound: mix.prepare({ dataset: rows, seed, ops, options })(handle), rows };
}

test('kinds are drawn by their weights, equal for the same seed', () => {
  const { bound, calls } = bind('get:3,set:1');
  for (let i = 0; i < 20_000; i += 1) bound.op(i);
  const sets = calls.filter(([kind]) => kind === 'set').length;
  // 5,000 of 20,000 are expected, with a standard deviation of 61.
  assert.ok(Math.abs(sets - 5000) < 245, `${sets} sets`);
  const again = bind('get:3,set:1');
  for (let i = 0; i < 20_000; i += 1) again.bound.op(i);
  assert.deepEqual(again.calls, calls);
  const other = bind('get:3,set:1', { seed: 2 });
  for (let i = 0; i < 20_000; i += 1) other.bound.op(i);
  assert.notDeepEqual(other.calls, calls);
});

test('a write changes a row of the dataset to its value', () => {
  const { bound, calls, rows } = bind('set:1', { keys: 'zipf:1' });
  for (let i = 0; i < 1000; i += 1) bound.op(i);
  for (const [kind, id, text] of calls) {
    assert.equal(kind, 'set');
    assert.ok(id >= 1 && id <= rows.rows);
    assert.equal(text, rows.value(id));
  }
  // A longer run than was drawn goes through the same again.
  bound.op(20_000);
  assert.deepEqual(calls.at(-1), calls[0]);
});

test('large values are generated up to 64 Mi characters, then reused', () => {
  const { bound, calls, rows } = bind('set:1', { ops: 20, valueSize: 2 ** 23 });
  for (let i = 0; i < 20; i += 1) bound.op(i);
  assert.equal(new Set(calls.map(([, id]) => id)).size, 8);
  for (const [, id, text] of calls) assert.ok(rows.matches(id, text ?? ''), `row ${id}`);
});

test('each kind has its own verdict, and its name', () => {
  const { bound, rows, calls } = bind('get:1,set:1', { ops: 200 });
  assert.deepEqual(bound.kinds?.names, ['get', 'set']);
  for (let i = 0; i < 200; i += 1) {
    const reply = bound.op(i);
    const [kind, id] = /** @type {[string, number]} */ (calls.at(-1));
    assert.equal(bound.kinds?.of(i), kind === 'set' ? 1 : 0);
    assert.equal(bound.verify(i, reply, true), OK);
    if (kind === 'set') {
      assert.equal(bound.verify(i, 'QUEUED', true), MISMATCH);
    } else {
      assert.equal(bound.verify(i, undefined, true), MISS);
      assert.equal(bound.verify(i, rows.value((id % 200) + 1), true), MISMATCH);
    }
  }
});

describe('before anything is measured', () => {
  test('rows are read, and none is written', () => {
    const seen = [];
    const handle = {
      get: (/** @type {number} */ id) => {
        seen.push(id);
        return dataset.value(id);
      },
      close: async () => {},
    };
    const { check } = mix;
    assert.ok(typeof check === 'function');
    const bound = check({ dataset, seed: 1, ops: 64, options: { mix: 'set:1' } })(handle);
    for (let i = 0; i < 64; i += 1) assert.equal(bound.verify(i, bound.op(i), true), OK);
    assert.equal(seen.length, 64);
  });

  test('storages without set declare it by their rows', async () => {
    assert.deepEqual(mix.needs, ['get', 'set']);
    assert.ok((await loadStorage('redis')).rows?.includes('set'));
    assert.ok(!(await loadStorage('node-handlersocket')).rows?.includes('set'));
  });
});

test('mixes are parsed, and anything else is refused in one line', () => {
  assert.deepEqual(parseMix('get:95,set:5'), [
    { kind: 'get', weight: 95 },
    { kind: 'set', weight: 5 },
  ]);
  assert.deepEqual(parseMix(' set:0.5 , get:1'), [
    { kind: 'set', weight: 0.5 },
    { kind: 'get', weight: 1 },
  ]);
  for (const text of [
    '',
    'get',
    'get:',
    'get:0,set:0',
    'upsert:1',
    'get:1,get:2',
    'get:-1',
    'get:x',
  ]) {
    assert.throws(() => parseMix(text), { code: 'E_USAGE', message: /not a mix/ }, text);
  }
});
