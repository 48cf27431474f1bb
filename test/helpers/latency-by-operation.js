/**
 * Preloaded into the processes of agents (NODE_OPTIONS=--import): the recorded latency of an
 * operation is a function of its global index, so that runs with equal operations have equal
 * histograms. Everything else is real: processes, sockets, replies.
 *
 * With BLOCK_MS in the environment the first operation also blocks the event loop for this time.
 *
 * With BURN in the environment each operation takes this many turns of a loop, like a slow driver.
 */

import { SecondsRecorder } from '../../load/seconds-recorder.js';

const BLOCK_MS = Number(process.env['BLOCK_MS'] ?? 0);
let share = { index: 0, count: 1 };
let storage = '';
let blocked = false;

const listen = process.on.bind(process);
// Only contender processes handle this message.
process.on = /** @type {any} */ (
  (/** @type {any} */ name, /** @type {(message: any) => void} */ listener) => {
    if (name !== 'message') return listen(name, listener);
    return listen('message', (/** @type {any} */ message) => {
      if (message?.type === 'open') {
        const own = message.spec.storage;
        share = own.share ?? share;
        storage = own.storage;
      }
      listener(message);
    });
  }
);

/** @param {number} k @returns {number} ns */
export function latencyOf(k) {
  return 20_000 + ((k * 7919) % 5003) * 137;
}

const BURN = Number(process.env['BURN'] ?? 0);
if (BURN > 0) {
  const { ok } = SecondsRecorder.prototype;
  let state = 1;
  SecondsRecorder.prototype.ok = function record(startNs, endNs, index) {
    // Except for the storage that measures the harness itself.
    for (let i = storage === 'memory' ? BURN : 0; i < BURN; i += 1) {
      state = (Math.imul(state, 48_271) + 11) | 0;
    }
    ok.call(this, startNs, endNs, index);
  };
}

if (process.env['LATENCY_BY_OPERATION'] === '1') {
  const { ok } = SecondsRecorder.prototype;
  SecondsRecorder.prototype.ok = function record(_startNs, endNs, index) {
    const k = index * share.count + share.index;
    this.sentNs = endNs - latencyOf(k);
    ok.call(this, endNs - latencyOf(k), endNs, index);
    if (blocked || BLOCK_MS === 0) return;
    blocked = true;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BLOCK_MS);
  };
}
