/**
 * Child side of every measuring process: messages of its parent, heartbeats, crashes and exit. It
 * prints nothing, and ends with its parent, so that no benchmark outlives its run.
 */

import { onParentMessage, sendToParent } from '../lib/plain-message.js';
import { useDriver } from './driver-hooks.js';

const ALIVE_EVERY_MS = 1000;

/**
 * @typedef {object} ServedProcess
 * @property {AbortSignal} signal aborted when the parent stops the run
 * @property {AbortSignal} crash reason: an uncaught error
 * @property {(work: () => Promise<unknown>) => Promise<void>} busy runs it with heartbeats; the
 *   parent kills a process without them, since its event loop is blocked
 * @property {(message: unknown) => void} finish sends the last message, then exits
 */

/**
 * @param {{ exit: () => void, onMessage: (message: any) => void }} entry onMessage: called after
 *   the driver of its spec is in use, if it names one
 * @returns {ServedProcess}
 */
export function serveParent({ exit, onMessage }) {
  const stop = new AbortController();
  const crash = new AbortController();
  // node-handlersocket throws from the event loop when its connection is lost; other drivers reject
  // promises without a handler. Both are outcomes of the benchmark, and do not end the run.
  process.on('uncaughtException', (error) => crash.abort(error));
  process.on('unhandledRejection', (reason) => crash.abort(reason));
  // A terminal or a supervisor signals the whole group; the parent decides and notifies by message.
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
    // A driver may hold sockets or timers open, so exit explicitly after the message.
    finish: (message) => sendToParent(message, exit),
  };
}
