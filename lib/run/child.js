/**
 * The entry of a cell's own process: takes a CellSpec by message, runs it, sends the record back.
 * It prints nothing. It ends when its parent does: a cell never outlives its run.
 */

import { systemClock } from '../measure/clock.js';
import { systemInstruments } from '../measure/usage.js';
import { runCell } from './cell.js';

const PROGRESS_EVERY_NS = 500e6;

const stop = new AbortController();
const crash = new AbortController();

// node-handlersocket throws out of the event loop when its connection is lost; other drivers
// reject promises that nobody holds. Both are outcomes of the cell, not the end of the run.
process.on('uncaughtException', (error) => crash.abort(error));
process.on('unhandledRejection', (reason) => crash.abort(reason));
// The terminal sends Ctrl-C to the whole group; the parent decides and says so by message.
process.on('SIGINT', () => {});
process.on('disconnect', () => process.exit(0));

process.on('message', (/** @type {any} */ message) => {
  if (message.type === 'abort') stop.abort();
  if (message.type === 'run') run(message.spec);
});

/** @param {import('./cell.js').CellSpec} spec */
async function run(spec) {
  let lastNs = 0;
  const record = await runCell(spec, {
    instruments: systemInstruments(systemClock),
    signal: stop.signal,
    crash: crash.signal,
    onProgress: (progress) => {
      const nowNs = systemClock.now();
      if (nowNs - lastNs < PROGRESS_EVERY_NS) return;
      lastNs = nowNs;
      process.send?.({ type: 'progress', progress });
    },
  });
  // A driver may hold sockets or timers open; the record is all that is wanted of this process.
  process.send?.({ type: 'done', record }, () => process.exit(0));
}
