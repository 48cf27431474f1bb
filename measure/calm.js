/**
 * Waits until other programs leave the processors free: concurrent load widens the intervals of a
 * measurement more than a minute of rounds narrows them.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from './clock.js';
import { conditionsBetween, readConditions } from './conditions.js';

const LOOK_MS = 1000;
/** Share of all processors that other programs may use: on a calm machine with two, 1 to 5 %. */
const BUSY_MAX = 0.15;

/**
 * @param {object} how
 * @param {number} how.mostNs
 * @param {AbortSignal} [how.signal]
 * @param {(busyShare: number) => void} [how.onBusy] called if it has to wait
 * @param {() => import('./conditions.js').Conditions} [how.read] replacement in tests
 * @param {number} [how.lookMs] replacement in tests
 * @returns {Promise<boolean>} whether they are free, or their load is unknown
 */
export async function waitForCalm({ mostNs, signal, onBusy, read = readConditions, ...how }) {
  const { lookMs = LOOK_MS } = how;
  const endNs = systemClock.now() + mostNs;
  let before = read();
  while (!signal?.aborted) {
    await sleep(lookMs, undefined, { signal }).catch(() => {});
    const after = read();
    const { busyShare } = conditionsBetween(before, after);
    if (busyShare === null || busyShare <= BUSY_MAX) return true;
    if (systemClock.now() >= endNs) return false;
    onBusy?.(busyShare);
    before = after;
  }
  return false;
}
