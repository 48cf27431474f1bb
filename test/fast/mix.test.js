/** The mix of reads and writes: what is drawn, what is written, and its verdicts. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createDataset } from '../../lib/dataset.js';
import { MISMATCH, MISS, OK } from '../../lib/outcome.js';
import { loadStorage } from '../../storages/index.js';
import { workload } from '../../workloads/mix/index.js';
import { parseMix } from '../../workloads/mix/weights.js';

const dataset = createDataset({ rows: 200, valueSize: 16, seed: 3 });

/**
 * @param {string} mix
 * @param {{ ops?: number, seed?: number, keys?: string, valueSize?: number }} [options]
 */
function bind(mix, { ops = 20_000, seed = 1, keys, valueSize = 16 } = {}) {
  /** @type {[string, number, string?][]} */
  const calls = [];
  const rows = createDataset({ ...dataset, valueSize });
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
  const options = { mix, ...(keys && { keys }) };
  return { calls, bound: workload.prepare({ dataset: rows, seed, ops, options })(handle), rows };
}

test('kinds are drawn by their weights, the same of the same seed', () => {
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

test('a write is of one of our rows and of its own value', () => {
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

test('large values are made for as many writes as 64 Mi characters hold, then come again', () => {
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
    const { check } = workload;
    assert.ok(typeof check === 'function');
    const bound = check({ dataset, seed: 1, ops: 64, options: { mix: 'set:1' } })(handle);
    for (let i = 0; i < 64; i += 1) assert.equal(bound.verify(i, bound.op(i), true), OK);
    assert.equal(seen.length, 64);
  });

  test('storages that have no set say so by their rows', async () => {
    assert.deepEqual(workload.needs, ['get', 'set']);
    assert.ok((await loadStorage('redis')).rows?.includes('set'));
    assert.ok(!(await loadStorage('node-handlersocket')).rows?.includes('set'));
  });
});

test('mixes are read, and what is none is refused in one line', () => {
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
