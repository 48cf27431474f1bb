/**
 * Preloaded into the processes of agents (NODE_OPTIONS=--import): what is recorded as the latency
 * of an operation is a function of its index among all, so that two runs that did the same
 * operations have the same histograms. Everything else is real: processes, sockets, replies.
 *
 * With BLOCK_MS in the environment the first operation also keeps the event loop busy for so long.
 */

import { SecondsRecorder } from '../../load/seconds-recorder.js';

const BLOCK_MS = Number(process.env['BLOCK_MS'] ?? 0);
let share = { index: 0, count: 1 };
let blocked = false;

const listen = process.on.bind(process);
// Only a benchmark's process takes this message.
process.on = /** @type {any} */ (
  (/** @type {any} */ name, /** @type {(message: any) => void} */ listener) => {
    if (name !== 'message') return listen(name, listener);
    return listen('message', (/** @type {any} */ message) => {
      if (message?.type === 'run') share = message.spec.share ?? share;
      listener(message);
    });
  }
);

/** @param {number} k @returns {number} ns */
export function latencyOf(k) {
  return 20_000 + ((k * 7919) % 5003) * 137;
}

if (process.env['LATENCY_BY_OPERATION'] === '1') {
  const { ok } = SecondsRecorder.prototype;
  SecondsRecorder.prototype.ok = function record(_startNs, endNs, index) {
    const k = index * share.count + share.index;
    this.sentNs = endNs - latencyOf(k);
    ok.call(this, endNs - latencyOf(k), endNs, index);
    if (blocked || BLOCK_MS === 0) return;
    blocked = true;
    const untilMs = Date.now() + BLOCK_MS;
    while (Date.now() < untilMs);
  };
}
