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
import { partsOf, prepareBy } from './fetches.js';
import { namespace, options, plan, shared, tests } from './plan.js';

const prepare = prepareBy((handle) => ({
  fetch: (ids, done) => handle.mget?.(ids, done),
  values: handle.values ?? ((reply) => reply),
  calls: handle.mgetCalls,
}));

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
