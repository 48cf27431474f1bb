/**
 * The point read: one row by its key, keys uniform over the rows or by another distribution. The
 * same keys in the same order for every storage; a reply counts only if it is the row of its key.
 */

import { defineWorkload } from '../../lib/define.js';
import { drawKeys } from './keys.js';
import { prepareOwn } from './own.js';
import { options, planOf } from './plan.js';
import { presets } from './presets.js';
import { createVerifier, nothingCompared } from './verifier.js';

export { drawKeys, KEYS_MAX } from './keys.js';

/** @typedef {import('../../lib/types.js').Dataset} Dataset */

export const workload = defineWorkload({
  name: 'get',
  needs: ['get'],
  slices: true,
  serverOperations: 1,
  loads: true,
  presets,
  options,
  plan: planOf('get'),
  // With --read-only every process reads the same keys.
  metricRules: { keys: 'one', changed: 'sum', changedKeys: 'max', gone: 'max' },
  prepare(context) {
    if (context.ownData !== undefined) return prepareOwn(context);
    const { dataset, seed, ops, options } = context;
    const { keys: distribution } = /** @type {{ keys?: string }} */ (options);
    const keys = drawKeys(dataset.rows, seed, ops, { keys: distribution, spread: dataset.seed });
    return (handle) => {
      const compared = nothingCompared();
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
 * `done` is passed for every style; adapters with promises ignore it.
 * @param {import('../../lib/types.js').RowsHandle} handle
 * @param {Uint32Array} keys
 * @returns {import('../../lib/types.js').BoundWorkload['op']}
 */
function bindOp(handle, keys) {
  const { length } = keys;
  return (index, done) => handle.get(keys[index < length ? index : index % length], done);
}

/**
 * Two closures instead of a branch, because they run once per operation.
 * @param {import('../../lib/types.js').RowsHandle} handle
 * @param {Dataset} dataset
 * @param {Uint32Array} keys
 * @param {import('./verifier.js').Compared} compared counter to increment
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
