/**
 * The point read: one row by its key, keys uniform over the rows or by another law. The same keys
 * in the same order for every storage; a reply counts only if it is the row of its key.
 */

import { defineWorkload } from '../../lib/define.js';
import { MISMATCH, MISS, OK } from '../../lib/outcome.js';
import { drawKeys } from './keys.js';
import { options, planOf } from './plan.js';

export { drawKeys, KEYS_MAX } from './keys.js';

/** @typedef {import('../../lib/types.js').Dataset} Dataset */

export const workload = defineWorkload({
  name: 'get',
  summary: 'one row by its key, uniform over all rows or by --keys',
  needs: ['get'],
  options,
  plan: planOf('get'),
  prepare({ dataset, seed, ops, options }) {
    const { keys: law } = /** @type {{ keys?: string }} */ (options);
    const keys = drawKeys(dataset.rows, seed, ops, { keys: law, spread: dataset.seed });
    return (handle) => {
      const compared = { replies: 0, bytes: 0 };
      return {
        op: bindOp(handle, keys),
        verify: bindVerify(handle, dataset, keys, compared),
        replyBytes: dataset.valueSize,
        compared,
      };
    };
  },
});

/**
 * `done` is passed on whatever the style: an adapter of promises takes one argument.
 * @param {import('../../lib/types.js').RowsHandle} handle
 * @param {Uint32Array} keys
 * @returns {import('../../lib/types.js').BoundWorkload['op']}
 */
function bindOp(handle, keys) {
  const { length } = keys;
  return (index, done) => handle.get(keys[index < length ? index : index % length], done);
}

/**
 * Two closures rather than one with a test inside: it runs once for every operation.
 * @param {import('../../lib/types.js').RowsHandle} handle
 * @param {Dataset} dataset
 * @param {Uint32Array} keys
 * @param {import('../../lib/types.js').Compared} compared counted up
 * @returns {import('../../lib/types.js').BoundWorkload['verify']}
 */
export function bindVerify(handle, dataset, keys, compared) {
  const { length } = keys;
  const judge = createJudge(dataset, compared);
  const { value } = handle;
  if (value === undefined) {
    return (index, reply, whole) =>
      judge(keys[index < length ? index : index % length], reply, index, whole);
  }
  return (index, reply, whole) =>
    judge(keys[index < length ? index : index % length], value(reply), index, whole);
}

/**
 * Each reply is compared in its length, its tag and a part of the rest that changes from reply to
 * reply; every few hundred as a whole.
 * @param {Dataset} dataset
 * @param {import('../../lib/types.js').Compared} compared
 * @returns {(id: number, text: unknown, turn: number, whole: boolean) => number} OK, MISS or
 *   MISMATCH
 */
function createJudge(dataset, compared) {
  return (id, text, turn, whole) => {
    if (text === undefined) return MISS;
    if (typeof text !== 'string') return MISMATCH;
    compared.replies += 1;
    if (whole) {
      compared.bytes += text.length;
      return dataset.value(id) === text ? OK : MISMATCH;
    }
    const letters = dataset.compare(id, text, turn);
    if (letters < 0) return MISMATCH;
    compared.bytes += letters;
    return OK;
  };
}
