/**
 * The entry of a contender's own process: opens it, then answers one request after the other by
 * messages: warm, prepare, slice, settle, end; or all slices of a round by their times: timetable.
 */

import { sendToParent } from '../../lib/plain-message.js';
import { systemClock } from '../../measure/clock.js';
import { systemInstruments } from '../../measure/usage.js';
import { serveParent } from '../served-process.js';

/** @type {import('./storage-contender.js').Contender | null} */
let contender = null;

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
    if (message.type === 'end') finish({ value });
    else sendToParent({ value });
  } catch (error) {
    const code = String(error.code ?? 'ERROR');
    sendToParent({ failure: { code, message: String(error.message ?? error) } });
  }
}

/** @param {any} message */
async function answer(message) {
  if (message.type === 'open') {
    contender = await open(message.spec);
    return null;
  }
  if (contender === null) throw new Error('it is not open');
  if (message.type === 'warm') return contender.warm();
  if (message.type === 'prepare') return contender.prepare?.(message.load, message.operations);
  if (message.type === 'settle') return contender.settle?.(message.load);
  if (message.type === 'timetable') {
    const { runTimetable } = await import('./timed-process.js');
    return runTimetable(contender, message.timetable, context());
  }
  if (message.type === 'slice') {
    return contender.slice(message.load, message.operations, message.repetitions);
  }
  return contender.end();
}

function context() {
  return { instruments: systemInstruments(systemClock), signal, crash };
}

/** @param {import('./storage-contender.js').SliceSpec} spec */
async function open(spec) {
  if (spec.kind === 'wire') {
    const { openWireContender } = await import('./wire-contender.js');
    return openWireContender(spec, context());
  }
  if (spec.kind === 'program') {
    const { openProgramContender } = await import('./program-contender.js');
    return openProgramContender(spec, context());
  }
  const { openStorageContender } = await import('./storage-contender.js');
  return openStorageContender(spec, context());
}
