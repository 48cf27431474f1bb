/** One load shared by several processes: which operations, keys and arrivals are whose. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { loadLabel } from '../../../engine/loads.js';
import { planRun } from '../../../engine/plan.js';
import { shareLoad, shareWorkload } from '../../../engine/share.js';
import { Arrivals, countArrivals } from '../../../load/arrivals.js';

/** @typedef {import('../../../lib/result.js').Load} Load */

/** @type {Load} */
const WINDOW = { kind: 'window', inFlight: 10, operations: 1000, durationNs: null };

describe('assignment of operations to processes', () => {
  for (const count of [1, 2, 3, 7]) {
    test(`${count} processes issue every operation once, and share the whole window`, () => {
      /** @type {number[]} */
      const issued = [];
      let inFlight = 0;
      for (let index = 0; index < count; index += 1) {
        const share = { index, count };
        const load = shareLoad(WINDOW, share);
        const { op } = shareWorkload({ op: (i) => issued.push(i), verify: () => 0 }, share);
        for (let i = 0; i < (load.operations ?? 0); i += 1) op(i);
        inFlight += load.inFlight ?? 0;
      }
      assert.deepEqual(
        issued.sort((a, b) => a - b),
        Array.from({ length: 1000 }, (_, i) => i),
      );
      assert.equal(inFlight, 10);
    });
  }

  test('verify and kinds receive the index among all operations', () => {
    const { verify, kinds } = shareWorkload(
      { op() {}, verify: (i) => i, kinds: { names: ['a', 'b'], of: (i) => i % 2 } },
      { index: 1, count: 3 },
    );
    assert.equal(verify(4, null, false), 13);
    assert.equal(kinds?.of(4), 1);
  });

  test('one in flight is one per process; a burst and a duration stay unchanged', () => {
    const share = { index: 0, count: 2 };
    assert.equal(shareLoad({ ...WINDOW, kind: 'sync', inFlight: 1 }, share).inFlight, 1);
    const timed = { ...WINDOW, operations: null, durationNs: 5e9 };
    assert.deepEqual([shareLoad(timed, share).operations, timed.durationNs], [null, 5e9]);
    assert.equal(shareLoad({ ...WINDOW, kind: 'burst', inFlight: null }, share).inFlight, null);
  });

  for (const arrivals of /** @type {const} */ (['constant', 'poisson'])) {
    test(`${arrivals} arrivals of all processes equal those of one, to the bit`, () => {
      for (const [perSecond, count] of [
        [1000, 3],
        [999.7, 7],
        [100, 3],
      ]) {
        const rate = { perSecond, arrivals, seed: 5 };
        const bounds = { durationNs: 1e9, operations: Number.POSITIVE_INFINITY };
        const draw = (
          /** @type {import('../../../load/arrivals.js').ArrivalOptions} */ options,
        ) => {
          const own = new Arrivals(options);
          return Array.from({ length: countArrivals(options, bounds) }, () => own.next());
        };
        const expected = draw(rate);
        const parts = Array.from({ length: count }, (_, index) =>
          draw({ ...rate, share: { index, count } }),
        );
        for (const [k, at] of expected.entries()) {
          assert.equal(parts[k % count][Math.floor(k / count)], at, `operation ${k}`);
        }
        assert.equal(parts.flat().length, expected.length);
      }
    });
  }

  test('a load that cannot be shared is refused', () => {
    const plan = (/** @type {any} */ load) => () => planRun({ loads: [load] });
    assert.throws(
      plan({ kind: 'window', inFlight: 2, processes: 3 }),
      /fewer requests in flight than processes/,
    );
    assert.throws(plan({ kind: 'burst', operations: 2, processes: 3 }), /fewer operations/);
    assert.throws(plan({ kind: 'sync', processes: 0 }), { code: 'E_USAGE' });
    const [load] = planRun({ loads: [{ kind: 'window', processes: 1 }] }).loads;
    assert.equal('processes' in load, false, 'one process is the load that it always was');
    const [two] = planRun({ loads: [{ kind: 'window', processes: 2 }] }).loads;
    assert.equal(loadLabel(two), 'window-100-by-2');
  });
});
