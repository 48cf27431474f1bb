/** Short segments of a load: their time per operation, and the record of many segments. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { merge } from '../../../engine/segment.js';
import { ERROR, MISMATCH, OK, TIMEOUT } from '../../../lib/outcome.js';
import { BufferedRecorder, TimedRecorder } from '../../../load/buffered-recorder.js';
import { brief, openHere, specOf, storageFile, taskOf } from '../../helpers/contenders.js';
import { withFolder } from '../../helpers/folder.js';

const folder = withFolder();

/** The rows that are read before anything is measured. */
const CHECKED = 65;

/**
 * @param {Partial<import('../../../lib/result.js').Load>} load
 * @param {string} [get] body of the storage's read
 * @param {{ clock?: import('../../../measure/clock.js').Clock, stallNs?: number }} [context]
 */
async function open(load, get, { clock, stallNs = 5e9 } = {}) {
  const task = taskOf(load, { stallNs });
  if (get === undefined) return openHere(specOf([task]), { clock });
  made += 1;
  const storage = storageFile(folder, `made-${made}`, { get });
  return openHere(specOf([task], { storage }), { clock });
}
let made = 0;

/** @param {import('../../../engine/segment.js').Segment} segment */
function requireAccounts({ outcomes, scheduled }) {
  assert.equal(
    outcomes.reduce((sum, n) => sum + n, 0),
    scheduled,
  );
}

describe('a short segment', () => {
  test('continues with the key after the last segment’s; latencies are kept', async () => {
    const seen = `globalThis.seen ??= []; globalThis.seen.push(id); return dataset.value(id);`;
    const keys = () => /** @type {any} */ (globalThis).seen.splice(0).slice(CHECKED);
    const all = async (/** @type {number[]} */ sizes) => {
      const contender = await open({}, seen);
      for (const size of sizes) {
        const { figures, scheduled } = await contender.run(brief(size));
        assert.deepEqual([figures?.valid, scheduled], [true, size]);
      }
      const { kept } = await contender.close();
      assert.equal(kept[0]?.histograms['latency']?.count, 70);
      return keys();
    };
    const uncut = await all([70]);
    assert.equal(new Set(uncut).size > 40, true);
    assert.deepEqual(await all([20, 40, 10]), uncut);
  });

  test('of a window ends with the issue of its last operation', async () => {
    const spanOf = async (/** @type {any} */ load, /** @type {number} */ size) => {
      const contender = await open(load);
      const { figures } = await contender.run(brief(size));
      await contender.close();
      return figures?.spanOperations;
    };
    assert.equal(await spanOf({}, 100), 90);
    // Too short for that: the whole.
    assert.equal(await spanOf({}, 10), 10);
    assert.equal(await spanOf({ kind: 'sync', inFlight: 1 }, 30), 30);
  });

  test('a window whose replies arrive together needs only its round trips', async () => {
    const together = {
      timeNs: 0,
      reads: 0,
      /** @type {(() => void)[]} */
      waiting: [],
      reply() {
        together.timeNs += 10e6;
        for (const resolve of together.waiting.splice(0)) resolve();
      },
    };
    Object.assign(globalThis, { together });
    const contender = await open(
      {},
      `const all = globalThis.together;
       if (reads > ${CHECKED}) await new Promise((resolve) => {
         all.waiting.push(resolve);
         if (all.waiting.length === 10) setImmediate(all.reply);
       });
       return dataset.value(id);`,
      { clock: { now: () => together.timeNs, date: () => '' } },
    );
    const { figures } = await contender.run(brief(50));
    assert.deepEqual([figures?.spanOperations, figures?.spanNs], [40, 4 * 10e6]);
  });

  test('is invalid if a reply is wrong, and its outcomes are kept', async () => {
    const wrong = `return reads === ${CHECKED} + 25 ? 'not the row' : dataset.value(id);`;
    const contender = await open({}, wrong);
    const segments = [];
    for (let i = 0; i < 3; i += 1) segments.push(await contender.run(brief(20)));
    assert.deepEqual(
      segments.map(({ figures }) => figures?.valid),
      [true, false, true],
    );
    const occupied = segments.map(({ occupation }) => occupation !== null);
    assert.deepEqual(occupied, [true, false, true]);
    const merged = merge(segments);
    assert.ok(merged !== null);
    assert.equal(merged.outcomes[MISMATCH], 1);
    assert.deepEqual(
      merged.samples.map(({ operation }) => operation),
      [24],
    );
    requireAccounts(merged);
  });

  test('with operations that never settle times out', async () => {
    const silent = `if (reads > ${CHECKED} + 15) await new Promise(() => {});
      return dataset.value(id);`;
    const contender = await open({}, silent, { stallNs: 0.2e9 });
    const segment = await contender.run(brief(40));
    assert.equal(segment.figures?.valid, false);
    assert.equal(segment.outcomes[TIMEOUT], 10);
    requireAccounts(segment);
  });

  test('with only failing operations ends, with the reason', async () => {
    const gone = `if (reads > ${CHECKED}) throw new Error('gone'); return dataset.value(id);`;
    const segment = await (await open({}, gone)).run(brief(40));
    assert.equal(segment.figures?.valid, false);
    assert.equal(segment.outcomes[ERROR], 40);
    assert.equal(segment.samples[0].message, 'gone');
    requireAccounts(segment);
  });

  test('Little’s law holds over all segments', async () => {
    const contender = await open({});
    const segments = [];
    for (let i = 0; i < 5; i += 1) segments.push(await contender.run(brief(500)));
    const { kept } = await contender.close();
    const latency = kept[0]?.histograms['latency'];
    const areaNs = segments.reduce((sum, { inFlightAreaNs }) => sum + inFlightAreaNs, 0);
    assert.ok(latency && Math.abs(areaNs / latency.sum - 1) < 0.02, `${areaNs}, ${latency?.sum}`);
  });
});

describe('a recorder of short segments', () => {
  test('the median hides one slow operation; the histogram has it', () => {
    const recorder = new BufferedRecorder();
    recorder.reset(0, 100);
    for (let i = 0; i < 100; i += 1) recorder.ok(0, i === 50 ? 1e6 : 100, i);
    assert.equal(recorder.median(), 100);
    recorder.absorb();
    assert.equal(recorder.histogram.count, 100);
    assert.equal(recorder.histogram.max, 1e6);
  });

  test('restarts with each segment, except for the total histograms', () => {
    const recorder = new BufferedRecorder({ names: ['even', 'odd'], of: (i) => i % 2 });
    for (const operations of [30, 5000]) {
      recorder.reset(0, operations);
      for (let i = 0; i < operations; i += 1) recorder.ok(0, 10 + i, i);
      recorder.close({
        endNs: 9,
        issued: operations,
        scheduled: operations,
        pendingOutcome: TIMEOUT,
        pendingError: null,
      });
      recorder.absorb();
      assert.equal(recorder.outcomes[OK], operations);
    }
    assert.equal(recorder.histogram.count, 5030);
    assert.deepEqual(
      recorder.byKind.map(({ count }) => count),
      [2515, 2515],
    );
    assert.equal(recorder.lastLatency()?.count, 5000);
  });

  test('of a timed segment: any number; operations that end in its time are counted', () => {
    const recorder = new TimedRecorder({ names: ['even', 'odd'], of: (i) => i % 2 });
    recorder.reset(0, 0);
    Object.assign(recorder, { fromNs: 100, toNs: 9000 });
    for (let i = 0; i < 10_000; i += 1) recorder.ok(i - 1, i, i);
    assert.equal(recorder.completed, 8900);
    assert.equal(recorder.okCount, 10_000);
    recorder.absorb();
    assert.deepEqual(
      recorder.byKind.map(({ count }) => count),
      [5000, 5000],
    );
  });
});
