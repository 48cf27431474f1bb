/**
 * The point read: one row by its key, keys uniform over the rows or by another distribution. The
 * same keys in the same order for every storage; a reply counts only if it is the row of its key.
 */

import { TAG_LENGTH } from '../../lib/dataset.js';
import { defineWorkload } from '../../lib/define.js';
import { MISMATCH, MISS, OK } from '../../lib/outcome.js';
import { drawKeys } from './keys.js';
import { options, planOf } from './plan.js';

export { drawKeys, KEYS_MAX } from './keys.js';

/** @typedef {import('../../lib/types.js').Dataset} Dataset */

export const workload = defineWorkload({
  name: 'get',
  needs: ['get'],
  slices: true,
  options,
  plan: planOf('get'),
  prepare({ dataset, seed, ops, options }) {
    const { keys: distribution } = /** @type {{ keys?: string }} */ (options);
    const keys = drawKeys(dataset.rows, seed, ops, { keys: distribution, spread: dataset.seed });
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
  const verifyReply = createVerifier(dataset, compared);
  const { value } = handle;
  if (value === undefined) {
    return (index, reply, whole) =>
      verifyReply(keys[index < length ? index : index % length], reply, whole);
  }
  return (index, reply, whole) =>
    verifyReply(keys[index < length ? index : index % length], value(reply), whole);
}

/**
 * Each reply is compared in its length and tag, one of 32 as a whole: a whole value costs 1.3 ns
 * per byte, 42 ns per reply of 1 KB; a moving window of all replies measured 0.4 µs.
 * @param {Dataset} dataset
 * @param {import('../../lib/types.js').Compared} compared
 * @returns {(id: number, text: unknown, whole: boolean) => number} OK, MISS or MISMATCH
 */
function createVerifier(dataset, compared) {
  return (id, text, whole) => {
    if (text === undefined) return MISS;
    if (typeof text !== 'string') return MISMATCH;
    compared.replies += 1;
    if (whole) {
      compared.bytes += text.length;
      return dataset.value(id) === text ? OK : MISMATCH;
    }
    compared.bytes += TAG_LENGTH;
    return dataset.belongs(id, text) ? OK : MISMATCH;
  };
}
