/**
 * The entry of a contender's own process: opens it, then answers one request after the other by
 * messages: warm, slice, end. It prints nothing and ends when its parent does.
 */

import { onParentMessage, sendToParent } from '../../lib/plain-message.js';
import { systemClock } from '../../measure/clock.js';
import { systemInstruments } from '../../measure/usage.js';
import { useDriver } from '../driver-hooks.js';

const stop = new AbortController();
const crash = new AbortController();
/** @type {import('./storage-contender.js').Contender | null} */
let contender = null;

process.on('uncaughtException', (error) => crash.abort(error));
process.on('unhandledRejection', (reason) => crash.abort(reason));
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => {});
process.on('disconnect', () => process.exit(0));

onParentMessage(async (message) => {
  if (message.type === 'abort') {
    stop.abort();
    return;
  }
  try {
    const value = await answer(message);
    sendToParent({ value }, () => message.type === 'end' && process.exit(0));
  } catch (error) {
    const failure = {
      code: String(error.code ?? 'ERROR'),
      message: String(error.message ?? error),
    };
    sendToParent({ failure });
  }
});

/** @param {any} message */
async function answer(message) {
  if (message.type === 'open') {
    if (message.spec.benchmark.driver !== undefined) useDriver(message.spec.benchmark.driver);
    contender = await open(message.spec);
    return null;
  }
  if (contender === null) throw new Error('it is not open');
  if (message.type === 'warm') return contender.warm();
  if (message.type === 'prepare') return contender.prepare?.(message.load, message.operations);
  if (message.type === 'settle') return contender.settle?.(message.load);
  if (message.type === 'slice') {
    return contender.slice(message.load, message.operations, message.repetitions);
  }
  return contender.end();
}

/** @param {import('./storage-contender.js').SliceSpec} spec */
async function open(spec) {
  const context = {
    instruments: systemInstruments(systemClock),
    signal: stop.signal,
    crash: crash.signal,
  };
  if (spec.kind === 'wire') {
    const { openWireContender } = await import('./wire-contender.js');
    return openWireContender(spec, context);
  }
  const { openStorageContender } = await import('./storage-contender.js');
  return openStorageContender(spec, context);
}
