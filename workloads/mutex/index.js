/**
 * The distributed mutex. What one operation is depends on the test:
 *
 * - `lock` (the original program's Test 1): n distinct names out of m = 2n - 1 are locked and
 * unlocked. Any two
 *   such sets have a name in common, so that only one task is inside at a time.
 * - `count` (Test 2): sleep, lock, SET a random number, INCR, GET and compare, DEL, unlock.
 * - `killed`: another process holds the lock and is killed; how long do those wait that want it?
 * - `stress`: a process that has to get through every key while others want them too.
 */

import { defineWorkload, metricRules } from '../../lib/define.js';
import { prepareKilled, prepareStress } from './contenders.js';
import { namespace } from './namespace.js';
import { options, plan, shared, tests } from './plan.js';
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
    // Stress locks one name at a time: there keys are how many names there are.
    if (keys === 1 || test === 'stress' || offered.several === true) return true;
    return { reason: `not supported: ${offered.several}`, hint: 'use --keys 1' };
  },
  prepare(context) {
    const { test = 'lock' } = /** @type {any} */ (context.options['parameters'] ?? {});
    // A warm-up of whole processes would warm nothing that is measured.
    const warm = context.phase === 'warmup';
    return (warm ? prepareSections : TESTS[test])(context);
  },
});
