/**
 * Many keys in one request: how long a fetch takes, by the number of its keys and the number of
 * fetches in flight. Keys are drawn before the clock starts, each once in a fetch; a fetch counts
 * only if every value belongs to its key, in its place.
 *
 * A load is a row of series, one for each number of keys. Before and behind each series run fetches
 * of the same size that are not counted, so that every counted fetch has as many beside it as the
 * load says, all of its own size.
 */

import { defineWorkload } from '../../lib/define.js';
import { createVerifier, nothingCompared } from '../get/verifier.js';
import { partsOf, prepareFetches, verifyFetch } from './fetches.js';
import { namespace } from './namespace.js';
import { options, plan, shared, tests } from './plan.js';

/** @type {import('../../lib/types.js').Prepare} */
const prepare = (context) => {
  const { dataset } = context;
  const { fetches, series } = prepareFetches(context);
  const { length } = fetches;
  return (handle) => {
    const { values = (/** @type {any} */ reply) => reply } = handle;
    const compared = nothingCompared();
    const verifyValue = createVerifier(dataset, compared);
    return {
      op: (index, done) => handle.mget?.(fetches[index < length ? index : index % length], done),
      verify(index, reply, whole) {
        const ids = fetches[index < length ? index : index % length];
        return verifyFetch(verifyValue, ids, values(reply, ids), whole);
      },
      calls: handle.mgetCalls,
      compared,
      ...(series && { series }),
    };
  };
};
export const workload = defineWorkload({
  name: 'mget',
  options,
  shared,
  tests,
  plan,
  runHooks: () => import('./run-hooks.js'),
  needs: ['mget'],
  namespace,
  slices: 'default',
  parts: partsOf,
  shares: () => 'rows',
  prepare,
});
