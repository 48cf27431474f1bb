/**
 * A weighted mix of reads and writes of single rows, `get:95,set:5`, each operation's kind drawn
 * from the seed. A write writes the row's own value of the dataset with a version at its end, so
 * that every read stays verifiable, and one that is older than the last write is found.
 */

import { defineWorkload } from '../../lib/define.js';
import { MISMATCH, OK } from '../../lib/outcome.js';
import { createRandom } from '../../lib/random.js';
import { bindVerify, workload as get } from '../get/index.js';
import { drawKeys } from '../get/keys.js';
import { options, planOf } from '../get/plan.js';
import { nothingCompared } from '../get/verifier.js';
import { Freshness, holdsVersions } from './freshness.js';
import { placeWrites } from './slots.js';
import { KINDS, MIX_DEFAULT, parseMix } from './weights.js';

const MIX_STREAM = 0x6d69; // apart from the streams of keys and orders

export const workload = defineWorkload({
  name: 'mix',
  needs: ['get', 'set'],
  loads: true,
  options,
  plan: planOf('mix'),
  slices: true,
  check: get.prepare,
  prepare({ dataset, seed, ops, options }) {
    const { mix, keys: distribution } = /** @type {{ mix?: string, keys?: string }} */ (options);
    const keys = drawKeys(dataset.rows, seed, ops, { keys: distribution, spread: dataset.seed });
    const slots = drawSlots(parseMix(mix ?? MIX_DEFAULT), keys, seed, dataset.meanSize);
    const freshness = new Freshness(dataset, { keys, slots });
    return (handle) => bindMix(handle, { dataset, keys, slots, freshness });
  },
});

/**
 * Draws the kind of each operation.
 * @param {ReturnType<typeof parseMix>} mix
 * @param {Uint32Array} keys
 * @param {number} seed
 * @param {number} valueSize on average
 * @returns {Int32Array} -1 for a read, else the place of the value to write
 */
function drawSlots(mix, keys, seed, valueSize) {
  const random = createRandom(seed, MIX_STREAM);
  const sum = mix.reduce((all, { weight }) => all + weight, 0);
  const sets = mix.find(({ kind }) => kind === 'set')?.weight ?? 0;
  return placeWrites(keys, valueSize, () => (random() / 2 ** 32) * sum < sets);
}

/**
 * @param {import('../../lib/types.js').RowsHandle} handle
 * @param {{ dataset: import('../../lib/types.js').Dataset, keys: Uint32Array, slots: Int32Array,
 *   freshness: Freshness }} drawn
 * @returns {import('../../lib/types.js').BoundWorkload}
 */
function bindMix(handle, { dataset, keys, slots, freshness }) {
  const { length } = keys;
  const { stored, value = (/** @type {any} */ reply) => reply } = handle;
  const { values } = freshness;
  const hasVersions = holdsVersions(dataset);
  const compared = { ...nothingCompared(), ...(hasVersions && { stale: 0 }) };
  const verifyGet = bindVerify(handle, dataset, keys, compared);
  return {
    op(index, done) {
      const i = index < length ? index : index % length;
      const slot = slots[i];
      if (slot < 0) {
        freshness.beforeRead(i);
        return handle.get(keys[i], done);
      }
      freshness.beforeWrite(i);
      return handle.set?.(keys[i], values[slot], done);
    },
    verify(index, reply, whole) {
      const i = index < length ? index : index % length;
      if (slots[i] < 0) {
        const outcome = verifyGet(index, reply, whole);
        if (outcome !== OK || !hasVersions || !freshness.isStale(i, value(reply))) return outcome;
        compared.stale = (compared.stale ?? 0) + 1;
        return MISMATCH;
      }
      if (stored !== undefined && !stored(reply)) return MISMATCH;
      freshness.afterWrite(i);
      return OK;
    },
    replyBytes: dataset.valueSize,
    compared,
    kinds: {
      names: KINDS,
      of: (index) => (slots[index < length ? index : index % length] < 0 ? 0 : 1),
    },
  };
}
