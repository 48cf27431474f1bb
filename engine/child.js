/**
 * The entry of a benchmark's own process: takes a BenchmarkSpec by message, runs it, sends the
 * record back.
 */

import { sendToParent } from '../lib/plain-message.js';
import { systemClock } from '../measure/clock.js';
import { systemInstruments } from '../measure/usage.js';
import { runBenchmark } from './benchmark.js';
import { liveOf, recordSoFar } from './record.js';
import { serveParent } from './served-process.js';

const PROGRESS_EVERY_NS = 500e6;
/** What was measured until then is lost with the parent at most. */
const RECORD_EVERY_NS = 1e9;

/** The parent lets all processes of a benchmark begin together. @type {(atNs?: number) => void} */
let go = () => {};

const { signal, crash, busy, finish } = serveParent({
  exit: () => process.exit(0),
  onMessage(message) {
    if (message.type === 'abort') go();
    if (message.type === 'go') go(message.atNs);
    if (message.type === 'run') busy(() => run(message.spec, message.records === true));
  },
});

/**
 * @returns {Promise<number | undefined>} when to begin, by the own clock; also where the run is
 *   stopped: the load then sees that
 */
function waitForGo() {
  const gone = new Promise((resolve) => {
    go = (atNs) => resolve(atNs === undefined ? undefined : atNs - (systemClock.originNs ?? 0));
  });
  if (signal.aborted) go();
  sendToParent({ type: 'ready' });
  return gone;
}

/**
 * @param {import('./benchmark.js').BenchmarkSpec} spec
 * @param {boolean} records also send what was measured until now, each second
 */
async function run(spec, records) {
  let lastNs = 0;
  let recordNs = systemClock.now();
  const record = await runBenchmark(spec, {
    instruments: systemInstruments(systemClock),
    ...{ signal, crash },
    atStart: spec.share === undefined ? undefined : waitForGo,
    onProgress: ({ recorder, ...progress }) => {
      const nowNs = systemClock.now();
      if (records && recorder !== undefined && nowNs - recordNs >= RECORD_EVERY_NS) {
        recordNs = nowNs;
        sendToParent({ type: 'record', record: recordSoFar(recorder, systemClock) });
      }
      if (nowNs - lastNs < PROGRESS_EVERY_NS) return;
      lastNs = nowNs;
      const live = spec.live && recorder && { live: [liveOf(recorder)] };
      sendToParent({ type: 'progress', progress: { ...progress, ...live } });
    },
  });
  finish({ type: 'done', record });
}
