/** Waiting for free processors, on made-up readings. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitForCalm } from '../../../measure/calm.js';

/** @param {readonly (number | null)[]} shares utilisation of the processors, by reading */
function readings(shares) {
  let at = -1;
  let idleTicks = 0;
  return () => {
    const share = at < 0 ? 0 : shares[Math.min(at, shares.length - 1)];
    at += 1;
    if (share === null) return /** @type {any} */ ({ totalTicks: null, idleTicks: null });
    idleTicks += 100 * (1 - share);
    return /** @type {any} */ ({ totalTicks: 100 * (at + 1), idleTicks, stealTicks: 0 });
  };
}

/** @param {readonly (number | null)[]} shares @param {number} mostNs */
async function waited(shares, mostNs, signal = new AbortController().signal) {
  /** @type {string[]} */
  const seen = [];
  const onBusy = (/** @type {number} */ share) => seen.push(share.toFixed(2));
  const isCalm = await waitForCalm({ mostNs, signal, onBusy, read: readings(shares), lookMs: 1 });
  return { isCalm, seen };
}

test('it waits while the processors are in use, and reports the share', async () => {
  const found = await waited([0.9, 0.5, 0.1, 0.9], 60e9);
  assert.deepEqual(found, { isCalm: true, seen: ['0.90', '0.50'] });
});

test('it ends after its time, when aborted, and if the use is unknown', async () => {
  assert.deepEqual(await waited([0.9], 0), { isCalm: false, seen: [] });
  assert.deepEqual(await waited([0.9], 60e9, AbortSignal.abort()), { isCalm: false, seen: [] });
  assert.deepEqual(await waited([null], 60e9), { isCalm: true, seen: [] });
});
