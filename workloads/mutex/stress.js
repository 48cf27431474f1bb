/**
 * The stress test: an operation is a process that has to succeed on every key, in random order,
 * while the others want the same keys: it writes a random value under the lock, holds it, and reads
 * the value back. Another value is a violation. Further processes do the same and are killed at
 * random, also while they hold a lock.
 */

import { MISMATCH, OK } from '../../lib/outcome.js';
import { createRandom, drawBelow } from '../../lib/random.js';
import { LockProcess } from './holder.js';

const KILL_STREAM = 0x6b69;
/** A victim works for so long at least and at most before it is killed. */
const LIFE_MS = /** @type {const} */ ([10, 250]);

/** At a time. */
const VICTIMS_MAX = 3;

/**
 * @typedef {object} StressReport of one process
 * @property {number} sections
 * @property {number} violations another value was read back
 * @property {number} overruns sections that took longer than the lock's time: no lock can help
 * @property {number} timeouts keys that it did not get within its tries
 * @property {number} failures tries that timed out
 */

/** Processes that ended by themselves, in that order: three lists in step. */
function endedProcesses() {
  const metrics = {
    processId: /** @type {number[]} */ ([]),
    processOk: /** @type {number[]} */ ([]),
    processFailures: /** @type {number[]} */ ([]),
  };
  return {
    metrics,
    /** @param {number} pid @param {StressReport} report */
    add(pid, { sections, failures }) {
      metrics.processId.push(pid);
      metrics.processOk.push(sections);
      metrics.processFailures.push(failures);
    },
  };
}

/** @type {import('../../lib/types.js').Prepare<import('../../lib/types.js').Locks>} */
export function prepareStress({ seed, options, origin }) {
  const parameters = /** @type {any} */ (options['parameters'] ?? {});
  const { kill = 0, holdMs = 0 } = parameters;
  /** @type {Set<LockProcess>} */
  const running = new Set();
  const total = { sections: 0, violations: 0, overruns: 0, timeouts: 0, kills: 0 };
  const ended = endedProcesses();
  let over = false;
  /** @type {Promise<unknown>} */
  let killing = Promise.resolve();

  return () => {
    /** @param {number} index */
    const start = (index) => {
      // Told at once: what a process that is killed has seen counts too.
      const one = new LockProcess(origin, ({ type }) => {
        if (type === 'violation') total.violations += 1;
      });
      running.add(one);
      one.send({ type: 'stress', parameters, seed: seed + index });
      return one;
    };

    let victims = 0;
    /** @param {() => number} random */
    const killAtRandom = async (random) => {
      const [least, most] = LIFE_MS;
      while (victims < kill && !over) {
        victims += 1;
        const victim = start(1_000_000 + victims);
        try {
          await victim.wait('started');
          const lifeMs = least + drawBelow(random, most + 2 * holdMs - least);
          await new Promise((resolve) => setTimeout(resolve, lifeMs));
        } finally {
          await victim.kill();
          running.delete(victim);
        }
        total.kills += 1;
      }
    };

    return {
      async before() {
        killing = Promise.all(
          Array.from({ length: VICTIMS_MAX }, (_, i) =>
            killAtRandom(createRandom(seed, KILL_STREAM + i)),
          ),
        );
        killing.catch(() => {}); // awaited in the end
      },
      async op(index) {
        const one = start(index);
        try {
          const { report } = await one.wait('done');
          ended.add(one.child.pid ?? 0, report);
          total.sections += report.sections;
          total.overruns += report.overruns;
          total.timeouts += report.timeouts;
          if (report.timeouts > 0 && report.violations === 0) {
            throw Object.assign(
              new Error(`process ${index}: ${report.timeouts} keys not locked within the tries`),
              { code: 'MUTEX_TIMEOUT' },
            );
          }
          return report;
        } finally {
          await one.kill();
          running.delete(one);
        }
      },
      verify: (_index, /** @type {StressReport} */ report) =>
        report.violations > 0 ? MISMATCH : OK,
      async after() {
        over = true;
        await killing;
        await Promise.all([...running].map((one) => one.kill()));
        return { ...total, ...ended.metrics };
      },
    };
  };
}
