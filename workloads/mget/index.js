/**
 * Many keys in one request: the duration of a fetch by its number of keys and the number in flight.
 * Keys are drawn before the clock starts, without duplicates in a fetch; a fetch counts only if
 * every value belongs to its key, in order.
 *
 * A load is a sequence of series, one per number of keys. Uncounted fetches of the same size run
 * before and after each series, so that every counted fetch runs among as many fetches of its size
 * as the load specifies.
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
  serverOperations: 1,
  parts: partsOf,
  shares: () => 'rows',
  prepare,
});
