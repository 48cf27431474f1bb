/**
 * Tests with processes that contend for locks and are killed while they hold them. All execute
 * actions.js, and every critical section is verified by a number on the server.
 *
 * `stress`: an operation is a process that must lock every key, in random order, while others
 * contend for the same keys. Further processes do the same and are killed at random.
 *
 * `killed` (crash recovery): a process holds the lock while tasks of this process wait; it is
 * killed by SIGKILL and their wait is measured. A lock with an expiry is free after its TTL, a lock
 * bound to a connection when the server notices the disconnect.
 */

import { MISMATCH, OK } from '../../lib/outcome.js';
import { createRandom, drawBelow } from '../../lib/random.js';
import { section } from './actions.js';
import { LockProcess } from './lock-process.js';

/** @typedef {import('./actions.js').StressReport} StressReport */
/** @typedef {import('../../lib/types.js').Prepare<import('../../lib/types.js').Locks>} Prepare */

const KILL_STREAM = 0x6b69;
/** Minimum and maximum lifetime of a process before it is killed. */
const LIFE_MS = /** @type {const} */ ([10, 250]);
/** At a time. */
const VICTIMS_MAX = 3;

/** Time that the waiting tasks have waited when the holder is killed. */
const SETTLE_MS = 50;
/** After the expiry no task should wait much longer than this. */
const BLOCK_MS = 30_000;
/** Maximum of a timer, since a holder keeps its lock until it is killed. */
const HOLD_MS = 2 ** 31 - 1;

const sleep = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** @type {Prepare} */
export function prepareStress({ seed, options, origin }) {
  const parameters = /** @type {any} */ (options['parameters'] ?? {});
  const { kill = 0, holdMs = 0, keys } = parameters;
  const names = Array.from({ length: keys }, (_, i) => `stress-${i}`);
  /** @type {Set<LockProcess>} */
  const running = new Set();
  const total = { sections: 0, violations: 0, overruns: 0, timeouts: 0, kills: 0 };
  /** Processes that ended by themselves, in order; three parallel lists. */
  const ended = {
    processId: /** @type {number[]} */ ([]),
    processOk: /** @type {number[]} */ ([]),
    processFailures: /** @type {number[]} */ ([]),
  };
  let over = false;
  let victims = 0;
  /** @type {Promise<unknown>} */
  let killing = Promise.resolve();

  /** @param {number} index */
  const start = (index) => {
    // Reported immediately, so that observations of a killed process count too.
    const one = new LockProcess(origin, ({ type }) => {
      if (type === 'violation') total.violations += 1;
    });
    running.add(one);
    one.send({ type: 'contend', parameters: { ...parameters, names }, seed: seed + index });
    return one;
  };

  /** @param {LockProcess} one */
  const end = async (one) => {
    await one.kill();
    running.delete(one);
  };

  /** @param {() => number} random */
  const killAtRandom = async (random) => {
    const [least, most] = LIFE_MS;
    while (victims < kill && !over) {
      victims += 1;
      const victim = start(1_000_000 + victims);
      try {
        await victim.wait('started');
        await sleep(least + drawBelow(random, most + 2 * holdMs - least));
      } finally {
        await end(victim);
      }
      total.kills += 1;
    }
  };

  return () => ({
    async before() {
      const streams = Array.from({ length: VICTIMS_MAX }, (_, i) => KILL_STREAM + i);
      killing = Promise.all(streams.map((stream) => killAtRandom(createRandom(seed, stream))));
      killing.catch(() => {}); // awaited at the end
    },
    async op(index) {
      const contender = start(index);
      try {
        const { report } = await contender.wait('done');
        ended.processId.push(contender.child.pid ?? 0);
        ended.processOk.push(report.sections);
        ended.processFailures.push(report.failures);
        total.sections += report.sections;
        total.overruns += report.overruns;
        total.timeouts += report.timeouts;
        if (report.timeouts > 0 && report.violations === 0) {
          throw Object.assign(
            new Error(`process ${index}: ${report.timeouts} keys not locked within the attempts`),
            { code: 'MUTEX_TIMEOUT' },
          );
        }
        return report;
      } finally {
        await end(contender);
      }
    },
    verify: (_index, /** @type {StressReport} */ report) => (report.violations > 0 ? MISMATCH : OK),
    async after() {
      over = true;
      await killing;
      await Promise.all([...running].map(end));
      return { ...total, ...ended };
    },
  });
}

/** @type {Prepare} */
export function prepareKilled({ seed, ops, options, clock, origin }) {
  const { tasks = 10, expireMs = 1000 } = /** @type {any} */ (options['parameters'] ?? {});
  const now = clock === undefined ? () => 0 : () => clock.now();
  /** @type {{ firstNs: number, lastNs: number, leftNs: number }[]} */
  const episodes = [];
  /** @type {LockProcess[]} */
  const holders = [];
  return (locks) => ({
    async before() {
      for (let i = 0; i < ops; i += 1) holders.push(new LockProcess(origin));
      await Promise.all(holders.map((holder) => holder.wait('ready')));
    },
    async op(index) {
      const name = `killed-${index}`;
      const holder = holders[index];
      const once = { tries: 1, repeat: 1, holdMs: HOLD_MS, expireMs, blockMs: 10_000 };
      holder.send({ type: 'contend', parameters: { ...once, names: [name] }, seed: seed + index });
      await holder.wait('held');
      const heldNs = now();
      /** @type {number[]} */
      const gotNs = [];
      const waiters = Array.from({ length: tasks }, async (_, value) => {
        const mutex = locks.mutex([name], { expireMs, blockMs: BLOCK_MS });
        await mutex.lock();
        gotNs.push(now());
        const outcome = await section(locks, { name, value, holdMs: 0, expireMs });
        await mutex.unlock();
        return outcome;
      });
      const settled = Promise.all(waiters);
      settled.catch(() => {}); // awaited below
      await sleep(SETTLE_MS);
      const early = gotNs.length > 0;
      const killedNs = now();
      await holder.kill();
      const outcomes = await settled;
      episodes.push({
        firstNs: Math.min(...gotNs) - killedNs,
        lastNs: Math.max(...gotNs) - killedNs,
        leftNs: expireMs * 1e6 - (killedNs - heldNs),
      });
      return !early && !outcomes.includes('violation');
    },
    verify: (_index, right) => (right ? OK : MISMATCH),
    async after() {
      await Promise.all(holders.map((holder) => holder.kill()));
      return {
        expireMs,
        waiters: tasks,
        kills: episodes.length,
        firstWaitNs: episodes.map(({ firstNs }) => firstNs),
        lastWaitNs: episodes.map(({ lastNs }) => lastNs),
        expiryLeftNs: episodes.map(({ leftNs }) => leftNs),
      };
    },
  });
}
