/**
 * What a further process does in a test of locks (engine/storage-process.js): it works its way
 * through keys, and holds each.
 */

import { createRandom, drawBelow, shuffled } from '../../lib/random.js';
import { systemClock } from '../../measure/clock.js';

/** @typedef {import('../../lib/types.js').Locks} Locks */

/**
 * @typedef {object} ContendParameters
 * @property {readonly string[]} names that it goes through
 * @property {number} tries of each
 * @property {number} [tasks] at a time in this process, each goes through all keys
 * @property {number} repeat how many times each does
 * @property {number} holdMs how long it holds each
 * @property {number} expireMs
 * @property {number} blockMs of a try
 *
 * @typedef {object} StressReport of one process
 * @property {number} sections
 * @property {number} violations another value was read back
 * @property {number} overruns sections that took longer than the lock's time: no lock can help
 * @property {number} timeouts keys that it did not get within its tries
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
 * @param {{ report: StressReport, send: (message: Record<string, unknown>) => void }} to report: is
 *   added to
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
 * @returns {Promise<number>} tries that timed out; all of them: it is not locked
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
 * @returns {Promise<'right' | 'violation' | 'overrun'>} overrun: the time of the lock was over, or
 *   nearly, before the value was read: a process that was stopped for so long is not alone by any
 *   lock that has an expiry, and disturbs others
 */
export async function section({ number }, { name, value, holdMs, expireMs }) {
  const fromNs = systemClock.now();
  await number.set(name, value);
  if (holdMs > 0) await new Promise((resolve) => setTimeout(resolve, holdMs));
  const right = (await number.get(name)) === value;
  if ((systemClock.now() - fromNs) / 1e6 > expireMs * OVERRUN_SHARE) return 'overrun';
  return right ? 'right' : 'violation';
}

/** The time of a lock begins before its section does. */
const OVERRUN_SHARE = 0.8;
