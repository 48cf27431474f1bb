/**
 * One wrong byte in every reply is found within 31 replies, wherever it is: every 31st is compared
 * in full. Positions are tried through the loop that measures.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createDataset } from '../../lib/dataset.js';
import { MISMATCH, OK } from '../../lib/outcome.js';
import { runLoad, WHOLE_EVERY } from '../../load/load.js';
import { createFakeClock } from '../../measure/clock.js';
import { loadWorkload } from '../../workloads/index.js';

/** @param {string} text @param {number} at */
function flip(text, at) {
  const flipped = String.fromCharCode(text.charCodeAt(at) ^ 1);
  return text.slice(0, at) + flipped + text.slice(at + 1);
}

/**
 * @param {import('../../lib/types.js').Dataset} dataset
 * @param {(text: string) => string} damage
 */
function handleOf(dataset, damage) {
  return {
    get: async (/** @type {number} */ id) => damage(dataset.value(id)),
    set: async () => 'OK',
    mget: async (/** @type {number[]} */ ids) => ids.map((id) => damage(dataset.value(id))),
    close: async () => {},
  };
}

/**
 * @param {{ name: string, options: Record<string, unknown> }} what
 * @param {import('../../lib/types.js').Dataset} dataset
 * @param {(text: string) => string} damage
 * @param {number} operations
 */
async function measure({ name, options }, dataset, damage, operations) {
  const { prepare } = await loadWorkload(name);
  const context = {
    dataset,
    seed: 3,
    ops: operations,
    options,
    phase: /** @type {const} */ ('measure'),
  };
  const bound = prepare(context)(handleOf(dataset, damage), 'promise');
  const { recorder } = await runLoad({
    ...bound,
    calls: 'promise',
    kind: 'window',
    inFlight: 4,
    operations,
    durationNs: Number.POSITIVE_INFINITY,
    stallNs: 1e15,
    clock: createFakeClock(),
    series: undefined,
  });
  return { outcomes: recorder.outcomes, compared: bound.compared };
}

const WORKLOADS = [
  { name: 'get', options: {} },
  { name: 'mix', options: { mix: 'get:99,set:1' } },
  { name: 'mget', options: { mget: { counts: [1], cycles: 14, lead: 1 } } },
  { name: 'mget-single', options: { mget: { counts: [3], cycles: 30, lead: 1 } } },
  { name: 'ycsb', options: { parameters: { core: 'c' } } },
  { name: 'ycsb', options: { parameters: { core: 'e' } } },
];

describe('a flipped byte in every reply', () => {
  for (const what of WORKLOADS) {
    const label = `${what.name} ${JSON.stringify(what.options)}`;
    test(`is found within ${WHOLE_EVERY} replies at any position: ${label}`, async () => {
      for (const valueSize of [8, 9, 41, 333]) {
        const dataset = createDataset({ rows: 300, valueSize, seed: 7 });
        // Writes and warm-up fetches may be among them.
        const operations = what.name === 'mix' || what.name === 'ycsb' ? 40 : WHOLE_EVERY;
        for (let at = 0; at < valueSize; at += 1) {
          const { outcomes } = await measure(what, dataset, (text) => flip(text, at), operations);
          assert.ok(outcomes[MISMATCH] > 0, `byte ${at} of ${valueSize}`);
        }
        const right = await measure(what, dataset, (text) => text, operations);
        assert.equal(right.outcomes[OK], operations);
        assert.ok((right.compared?.replies ?? 0) >= WHOLE_EVERY);
        assert.ok((right.compared?.bytes ?? 0) >= valueSize);
      }
    });
  }

  test('is found once in each 31 replies, no oftener and no more rarely', async () => {
    const dataset = createDataset({ rows: 300, valueSize: 1024, seed: 7 });
    const what = { name: 'get', options: {} };
    for (const at of [8, 500, 1023]) {
      const { outcomes } = await measure(what, dataset, (text) => flip(text, at), 310);
      assert.equal(outcomes[MISMATCH], 10, `byte ${at}`);
    }
  });
});
