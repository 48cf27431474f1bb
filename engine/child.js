/**
 * The entry of a benchmark's own process: takes a BenchmarkSpec by message, runs it, sends the
 * record back. It prints nothing. It ends when its parent does: a benchmark never outlives its run.
 */

import { onParentMessage, sendToParent } from '../lib/plain-message.js';
import { systemClock } from '../measure/clock.js';
import { systemInstruments } from '../measure/usage.js';
import { runBenchmark } from './benchmark.js';
import { useDriver } from './driver-hooks.js';
import { liveOf, recordSoFar } from './record.js';

const PROGRESS_EVERY_NS = 500e6;
const ALIVE_EVERY_MS = 1000;
/** What was measured until then is lost with the parent at most. */
const RECORD_EVERY_NS = 1e9;

const stop = new AbortController();
/** The parent lets all processes of a benchmark begin together. @type {(atNs?: number) => void} */
let go = () => {};
const crash = new AbortController();

// node-handlersocket throws out of the event loop when its connection is lost; other drivers
// reject promises that nobody holds. Both are outcomes of the benchmark, not the end of the run.
process.on('uncaughtException', (error) => crash.abort(error));
process.on('unhandledRejection', (reason) => crash.abort(reason));
// A terminal or a supervisor signals the whole group; the parent decides and says so by message.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => {});
process.on('disconnect', () => process.exit(0));

onParentMessage((message) => {
  if (message.type === 'abort') {
    stop.abort();
    go();
  }
  if (message.type === 'go') go(message.atNs);
  if (message.type === 'run') {
    // The parent ends a process that gives no sign of life: its event loop is blocked.
    setInterval(() => sendToParent({ type: 'alive' }), ALIVE_EVERY_MS).unref();
    if (message.spec.driver !== undefined) useDriver(message.spec.driver);
    run(message.spec, message.records === true);
  }
});

/**
 * @returns {Promise<number | undefined>} when to begin, by the own clock; also where the run is
 *   stopped: the load then sees that
 */
function waitForGo() {
  const gone = new Promise((resolve) => {
    go = (atNs) => resolve(atNs === undefined ? undefined : atNs - (systemClock.originNs ?? 0));
  });
  if (stop.signal.aborted) go();
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
    signal: stop.signal,
    crash: crash.signal,
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
  // A driver may hold sockets or timers open; the record is all that is wanted of this process.
  sendToParent({ type: 'done', record }, () => process.exit(0));
}
