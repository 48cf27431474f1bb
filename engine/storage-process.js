/**
 * Entry of a further process of a workload: opens a storage in the same way as the contender's
 * process, and runs the actions of a module of the workload. It prints nothing, and is killed when
 * its parent ends, so that it leaves what a crashed program would leave.
 */

import { createDataset } from '../lib/dataset.js';
import { loadStorage, requireProfile } from '../storages/index.js';

/**
 * Functions that a module for such a process exports as `actions`, by message type.
 * @typedef {Record<string, (opened: any, message: any,
 *   send: (message: Record<string, unknown>) => void) => Promise<void>>} Actions
 */

/** @type {any} */
let opened;
/** @type {Actions} */
let actions = {};

process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => {});
process.on('message', (/** @type {any} */ message) => {
  act(message).catch((error) =>
    send({ type: 'failed', code: error.code ?? 'ERROR', message: String(error.message ?? error) }),
  );
});

/** @type {Promise<unknown>} messages are handled in sequence */
let last = Promise.resolve();

/** @param {any} message */
function act(message) {
  const next = last.then(() => {
    if (message.type === 'open') return open(message);
    if (opened === undefined) throw new Error('the storage is not open');
    return actions[message.type](opened, message, send);
  });
  last = next.catch(() => {});
  return next;
}

/** @param {Record<string, unknown>} message */
function send(message) {
  if (process.connected) process.send?.(message);
}

/**
 * @param {{ origin: any, kind: 'lock', module: string }} what kind: kind of handle that the storage
 *   opens
 */
async function open({ origin, kind, module }) {
  ({ actions } = await import(module));
  const definition = await loadStorage(origin.storage);
  opened = await definition.open[kind]?.({
    ...origin,
    profile: requireProfile(definition, origin.profile),
    dataset: createDataset(),
    folder: '',
  });
  send({ type: 'ready' });
}
