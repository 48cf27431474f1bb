/** Versions of rows, and which reads are older than the last acknowledged write. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createDataset } from '../../lib/dataset.js';
import { formatVersion, parseVersion, VERSION_LETTERS } from '../../lib/row-version.js';
import { Freshness } from '../../workloads/mix/freshness.js';

const dataset = createDataset({ rows: 10, valueSize: 32, seed: 7 });

describe('a version', () => {
  const version = { writer: 0xabcdef, slot: 77 };
  const text = dataset.value(3).slice(0, -VERSION_LETTERS) + formatVersion(3, version);

  test('is read back, of its own row only', () => {
    assert.deepEqual(parseVersion(3, text), version);
    assert.equal(parseVersion(4, text), null);
    assert.equal(parseVersion(3, dataset.value(3)), null);
  });

  test('does not hide another value of the row: every changed letter is detected', () => {
    assert.ok(dataset.matches(3, text));
    assert.ok(dataset.matches(3, dataset.value(3)));
    assert.ok(!dataset.matches(4, text));
    for (const whole of [text, dataset.value(3)]) {
      for (let at = 0; at < whole.length; at += 1) {
        const other = whole[at] === 'A' ? 'B' : 'A';
        const changed = whole.slice(0, at) + other + whole.slice(at + 1);
        assert.ok(!dataset.matches(3, changed), `letter ${at}`);
      }
      assert.ok(!dataset.matches(3, whole.slice(1)));
    }
  });
});

describe('a read', () => {
  // Two writes of row 5, reads of it, and a read of row 6, which is not written.
  const keys = Uint32Array.of(5, 5, 5, 5, 6);
  const slots = Int32Array.of(0, 1, -1, -1, -1);
  const [first, second, read, late, other] = [0, 1, 2, 3, 4];
  const make = () => new Freshness(dataset, { keys, slots });

  test('is stale if it returns a value from before an acknowledged write', () => {
    const fresh = make();
    fresh.beforeWrite(first);
    fresh.afterWrite(first);
    fresh.beforeWrite(second);
    fresh.beforeRead(read);
    fresh.afterWrite(second);
    fresh.beforeRead(late);
    const [olderValue, newerValue] = fresh.values;
    assert.equal(fresh.isStale(read, dataset.value(5)), true);
    assert.equal(fresh.isStale(read, olderValue), false, 'the second was not acknowledged yet');
    assert.equal(fresh.isStale(read, newerValue), false);
    assert.equal(fresh.isStale(late, olderValue), true);
    assert.equal(fresh.isStale(late, newerValue), false);
    assert.equal(fresh.isStale(late, make().values[0]), false, 'of another writer');
    fresh.beforeRead(other);
    assert.equal(fresh.isStale(other, dataset.value(6)), false);
  });

  test('may return either of two concurrent writes', () => {
    const fresh = make();
    fresh.beforeWrite(first);
    fresh.beforeWrite(second);
    fresh.afterWrite(second);
    fresh.afterWrite(first);
    fresh.beforeRead(read);
    for (const value of fresh.values) assert.equal(fresh.isStale(read, value), false);
    assert.equal(fresh.isStale(read, dataset.value(5)), true);
  });

  test('is never stale after a failed write, which may still be executed', () => {
    const fresh = make();
    fresh.beforeWrite(first); // and no reply
    fresh.beforeWrite(second);
    fresh.afterWrite(second);
    fresh.beforeRead(read);
    for (const value of fresh.values) assert.equal(fresh.isStale(read, value), false);
  });
});
