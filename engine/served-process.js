/**
 * The child's side of every process that measures: what its parent says, signs of life, crashes
 * and the end. It prints nothing, and ends when its parent does: no benchmark outlives its run.
 */

import { onParentMessage, sendToParent } from '../lib/plain-message.js';
import { useDriver } from './driver-hooks.js';

const ALIVE_EVERY_MS = 1000;

/**
 * @typedef {object} ServedProcess
 * @property {AbortSignal} signal the parent stops the run
 * @property {AbortSignal} crash reason: an error that nobody has caught
 * @property {(work: () => Promise<unknown>) => Promise<void>} busy does it with signs of life: the
 *   parent ends a process without them, whose event loop is blocked
 * @property {(message: unknown) => void} finish the last message, then the end
 */

/**
 * @param {{ exit: () => void, onMessage: (message: any) => void }} entry onMessage: with the driver
 *   of its spec in use, where it names one
 * @returns {ServedProcess}
 */
export function serveParent({ exit, onMessage }) {
  const stop = new AbortController();
  const crash = new AbortController();
  // node-handlersocket throws out of the event loop when its connection is lost; other drivers
  // reject promises that nobody holds. Both are outcomes of the benchmark, not the end of the run.
  process.on('uncaughtException', (error) => crash.abort(error));
  process.on('unhandledRejection', (reason) => crash.abort(reason));
  // A terminal or a supervisor signals the whole group; the parent decides and says so by message.
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => {});
  process.on('disconnect', exit);
  onParentMessage((message) => {
    if (message.type === 'abort') stop.abort();
    const driver = message.spec?.driver;
    if (driver !== undefined) useDriver(driver);
    onMessage(message);
  });
  return {
    signal: stop.signal,
    crash: crash.signal,
    async busy(work) {
      const timer = setInterval(() => sendToParent({ type: 'alive' }), ALIVE_EVERY_MS).unref();
      await work().finally(() => clearInterval(timer));
    },
    // A driver may hold sockets or timers open; the message is all that is wanted of this process.
    finish: (message) => sendToParent(message, exit),
  };
}
