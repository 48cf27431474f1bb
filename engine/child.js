/**
 * Entry of a contender's process: opens the contender, then answers one request after another (see
 * contender.js), with notifications of progress and of partial measurements.
 */

import { sendToParent } from '../lib/plain-message.js';
import { systemClock } from '../measure/clock.js';
import { systemInstruments } from '../measure/usage.js';
import { openContender } from './contender.js';
import { liveOf, segmentSoFar } from './recorded.js';
import { serveParent } from './served-process.js';

const PROGRESS_EVERY_NS = 500e6;
/** Measurements at risk if this process dies. */
const PARTIAL_EVERY_NS = 1e9;

/** @type {import('./contender.js').Contender | null} */
let contender = null;
/** @type {import('./contender.js').ContenderSpec | null} */
let spec = null;
let wantsPartials = false;
let [progressNs, partialNs] = [0, 0];

const { signal, crash, busy, finish } = serveParent({
  exit: () => process.exit(0),
  onMessage(message) {
    if (message.type !== 'abort') busy(() => reply(message));
  },
});

/** @param {any} message */
async function reply(message) {
  try {
    const value = await answer(message);
    if (message.type === 'close') finish({ value });
    else sendToParent({ value });
  } catch (error) {
    const code = String(error.code ?? 'ERROR');
    sendToParent({ failure: { code, message: String(error.message ?? error) } });
  }
}

/** @param {any} message */
async function answer(message) {
  const { type, load, amount, start } = message;
  if (type === 'open') {
    spec = message.spec;
    wantsPartials = message.partials === true;
    const instruments = systemInstruments(systemClock);
    contender = await openContender(message.spec, { instruments, signal, crash, onProgress });
    return null;
  }
  if (contender === null) throw new Error('it is not open');
  if (type === 'warm') return contender.warm(load);
  if (type === 'close') return contender.close();
  if (amount !== undefined) await contender.prepare(load, amount);
  if (type === 'prepare') return null;
  partialNs = systemClock.now();
  return contender.run(load, start);
}

/** @type {NonNullable<import('./contender.js').ContenderContext['onProgress']>} */
function onProgress({ recorder, ...progress }) {
  const nowNs = systemClock.now();
  if (wantsPartials && recorder !== undefined && nowNs - partialNs >= PARTIAL_EVERY_NS) {
    partialNs = nowNs;
    sendToParent({ type: 'partial', segment: segmentSoFar(recorder, systemClock) });
  }
  if (nowNs - progressNs < PROGRESS_EVERY_NS) return;
  progressNs = nowNs;
  const live = spec?.live && recorder && { live: liveOf(recorder) };
  sendToParent({ type: 'progress', progress: { ...progress, ...live } });
}
