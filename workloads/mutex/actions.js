/**
 * A further process in a test of locks (engine/storage-process.js): locks a sequence of keys and
 * holds each.
 */

import { createRandom, drawBelow, shuffled } from '../../lib/random.js';
import { systemClock } from '../../measure/clock.js';

/** @typedef {import('../../lib/types.js').Locks} Locks */

/**
 * @typedef {object} ContendParameters
 * @property {readonly string[]} names keys to lock, in order
 * @property {number} tries tries of each
 * @property {number} [tasks] concurrent tasks of this process, each over all keys
 * @property {number} repeat repetitions per task
 * @property {number} holdMs duration of holding a lock
 * @property {number} expireMs
 * @property {number} blockMs time limit of a try
 *
 * @typedef {object} StressReport report of one process
 * @property {number} sections
 * @property {number} violations sections that read back a different value
 * @property {number} overruns sections longer than the lock's expiry, which no lock can protect
 * @property {number} timeouts keys not locked within the tries
 * @property {number} failures tries that timed out
 */

const VALUE_MAX = 1_000_000_000;
const STRESS_STREAM = 0x7374;

/** @type {import('../../engine/storage-process.js').Actions} */
export const actions = {
  async contend(locks, { parameters, seed }, send) {
    send({ type: 'started' });
    const { tasks = 1 } = parameters;
    const report = { sections: 0, violations: 0, overruns: 0, timeouts: 0, failures: 0 };
    const all = Array.from({ length: tasks }, (_, task) =>
      passThrough(locks, parameters, createRandom(seed, STRESS_STREAM + task), { report, send }),
    );
    await Promise.all(all);
    send({ type: 'done', report });
  },
};

/**
 * @param {Locks} locks
 * @param {ContendParameters} parameters
 * @param {() => number} random
 * @param {{ report: StressReport, send: (message: Record<string, unknown>) => void }} to report:
 *   changed in place
 */
async function passThrough(locks, parameters, random, { report, send }) {
  const { names, repeat, expireMs, blockMs } = parameters;
  for (let pass = 0; pass < repeat; pass += 1) {
    for (const name of shuffled(names, random)) {
      const mutex = locks.mutex([name], { expireMs, blockMs });
      const failures = await failuresUntilLocked(mutex, parameters.tries);
      report.failures += failures;
      if (failures === parameters.tries) {
        report.timeouts += 1;
        continue;
      }
      send({ type: 'held' });
      const value = drawBelow(random, VALUE_MAX);
      const outcome = await section(locks, { name, value, ...parameters });
      await mutex.unlock();
      report.sections += 1;
      if (outcome === 'overrun') report.overruns += 1;
      if (outcome === 'violation') {
        report.violations += 1;
        send({ type: 'violation', name });
      }
    }
  }
}

/**
 * @param {import('../../lib/types.js').DistributedLock} mutex
 * @param {number} tries
 * @returns {Promise<number>} number of tries that timed out; if all, the key is not locked
 */
async function failuresUntilLocked(mutex, tries) {
  for (let failures = 0; failures < tries; failures += 1) {
    try {
      await mutex.lock();
      return failures;
    } catch (error) {
      if (error.code !== 'MUTEX_TIMEOUT') throw error;
    }
  }
  return tries;
}

/**
 * A critical section: writes a value under the lock, holds it, and reads the value back.
 * @param {Locks} locks
 * @param {{ name: string, value: number, holdMs: number, expireMs: number }} what
 * @returns {Promise<'right' | 'violation' | 'overrun'>} overrun: the lock expired, or nearly,
 *   before the value was read: no lock with an expiry protects a process suspended for that time,
 *   which also disturbs others
 */
export async function section({ number }, { name, value, holdMs, expireMs }) {
  const fromNs = systemClock.now();
  await number.set(name, value);
  if (holdMs > 0) await new Promise((resolve) => setTimeout(resolve, holdMs));
  const right = (await number.get(name)) === value;
  if ((systemClock.now() - fromNs) / 1e6 > expireMs * OVERRUN_SHARE) return 'overrun';
  return right ? 'right' : 'violation';
}

/** The expiry of a lock starts before its section. */
const OVERRUN_SHARE = 0.8;
