/**
 * Crash recovery: a process locks, others wait, the process is killed by SIGKILL. How long do
 * they wait? A lock with an expiry is free again when its time is over, one that belongs to a
 * connection when the server sees that end.
 */

import { MISMATCH, OK } from '../../lib/outcome.js';
import { LockProcess } from './holder.js';

/** How long the waiters have waited when the holder is killed. */
const SETTLE_MS = 50;
/** After the expiry no task should wait much longer than this. */
const BLOCK_MS = 30_000;

/** @type {import('../../lib/types.js').Prepare<import('../../lib/types.js').Locks>} */
export function prepareKilled({ ops, options, clock, origin }) {
  const { tasks = 10, expireMs = 1000 } = /** @type {any} */ (options['parameters'] ?? {});
  const now = clock === undefined ? () => 0 : () => clock.now();
  /** @type {{ firstNs: number, lastNs: number, leftNs: number }[]} */
  const episodes = [];
  /** @type {LockProcess[]} */
  const holders = [];
  return (locks) => {
    return {
      async before() {
        for (let i = 0; i < ops; i += 1) holders.push(new LockProcess(origin));
        await Promise.all(holders.map((holder) => holder.wait('ready')));
      },
      async op(index) {
        const names = [`killed-${index}`];
        const holder = holders[index];
        holder.send({ type: 'hold', names, expireMs });
        await holder.wait('held');
        const heldNs = now();
        /** @type {number[]} */
        const gotNs = [];
        let alone = true;
        let inside = 0;
        const waiters = Array.from({ length: tasks }, async () => {
          const mutex = locks.mutex(names, { expireMs, blockMs: BLOCK_MS });
          await mutex.lock();
          gotNs.push(now());
          inside += 1;
          if (inside > 1) alone = false;
          inside -= 1;
          await mutex.unlock();
        });
        const settled = Promise.all(waiters);
        settled.catch(() => {}); // awaited below
        await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
        const early = gotNs.length > 0;
        const killedNs = now();
        await holder.kill();
        await settled;
        episodes.push({
          firstNs: Math.min(...gotNs) - killedNs,
          lastNs: Math.max(...gotNs) - killedNs,
          leftNs: expireMs * 1e6 - (killedNs - heldNs),
        });
        return alone && !early;
      },
      verify: (_index, alone) => (alone ? OK : MISMATCH),
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
    };
  };
}
