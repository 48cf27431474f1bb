/**
 * The distributed mutex. An operation depends on the test:
 *
 * - `lock` (the original program's Test 1): n distinct names out of m = 2n - 1 are locked and
 * unlocked. Any two such sets have a common name, so only one task is in its critical section at a
 * time.
 * - `count` (Test 2): sleep, lock, SET a random number, INCR, GET and compare, DEL, unlock.
 * - `killed`: another process holds the lock and is killed; measures the wait of the other tasks.
 * - `stress`: a process that must lock every key while others contend for them.
 */

import { defineWorkload, metricRules } from '../../lib/define.js';
import { prepareKilled, prepareStress } from './contenders.js';
import { namespace } from './namespace.js';
import { filesIn, options, plan, shared, tests } from './plan.js';
import { prepareSections } from './sections.js';

/** @typedef {import('../../lib/types.js').Prepare<import('../../lib/types.js').Locks>} Prepare */

/** @type {Record<string, Prepare>} */
const TESTS = {
  lock: prepareSections,
  count: prepareSections,
  killed: prepareKilled,
  stress: prepareStress,
};

export const workload = defineWorkload({
  name: 'mutex',
  options,
  shared,
  tests,
  filesIn,
  plan,
  runHooks: () => import('./run-hooks.js'),
  needs: ['lock'],
  namespace,
  metricRules: metricRules({
    sum: ['sections', 'violations', 'overruns', 'timeouts', 'kills', 'waiters', 'tasks'],
    min: ['fairness', 'sectionsMin'],
    max: ['sectionsMax', 'waitMaxNs'],
    one: ['expireMs', 'packageVersion'],
    list: [
      'processId',
      'processOk',
      'processFailures',
      'firstWaitNs',
      'lastWaitNs',
      'expiryLeftNs',
    ],
  }),
  check: false,
  offers({ locks = {} }, { test, handler = 'script', keys = 1 }) {
    const offered = Object.hasOwn(locks, String(handler)) ? locks[String(handler)] : undefined;
    if (offered === undefined) return false;
    // Stress locks one name at a time; `keys` is its number of names.
    if (keys === 1 || test === 'stress' || offered.several === true) return true;
    return { reason: `not supported: ${offered.several}`, hint: 'use --lock-keys 1' };
  },
  prepare(context) {
    const { test = 'lock' } = /** @type {any} */ (context.options['parameters'] ?? {});
    // A warm-up of separate processes would not warm the measured ones.
    const warm = context.phase === 'warmup';
    return (warm ? prepareSections : TESTS[test])(context);
  },
});
