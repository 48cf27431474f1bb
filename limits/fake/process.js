/**
 * A fake server in a separate process, so that it takes no CPU time from the measured driver.
 */

import { fileURLToPath } from 'node:url';
import { datasetOptions } from '../../lib/dataset.js';
import { DragstripError } from '../../lib/errors.js';
import { describeEnd, startChild } from '../../lib/node-child.js';

const CHILD = fileURLToPath(new URL('./child.js', import.meta.url));
const READY_MS = 20_000;

/**
 * @typedef {object} RunningFakeServer
 * @property {import('../../lib/types.js').Endpoint} endpoint
 * @property {number} pid
 * @property {() => Promise<void>} stop idempotent
 */

/**
 * @param {string} protocol
 * @param {import('../../lib/types.js').DatasetOptions} dataset from tableDataset
 * @returns {Promise<RunningFakeServer>} the server; it ends with this process too
 * @throws {DragstripError} E_INTERNAL: it does not start
 */
export async function startFakeServer(protocol, dataset) {
  const child = startChild(CHILD);
  const stop = async () => {
    child.kill('SIGKILL');
    await child.ended;
  };
  try {
    const port = await readyPort(child, { protocol, dataset: datasetOptions(dataset) });
    return { endpoint: { host: '127.0.0.1', port }, pid: child.pid ?? 0, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * @param {ReturnType<typeof startChild>} child
 * @param {{ protocol: string, dataset: import('../../lib/types.js').DatasetOptions }} message
 * @returns {Promise<number>}
 */
function readyPort(child, message) {
  return new Promise((resolve, reject) => {
    const fail = (/** @type {string} */ what) =>
      reject(new DragstripError('E_INTERNAL', `fake server for ${message.protocol}: ${what}`));
    const timer = setTimeout(fail, READY_MS, `not ready within ${READY_MS / 1000} s`);
    child.on('message', (/** @type {any} */ answer) => {
      clearTimeout(timer);
      if (answer.type === 'ready') resolve(answer.port);
      else fail(answer.message);
    });
    child.ended.then((ended) => {
      clearTimeout(timer);
      fail(`its process ${describeEnd(ended)}`);
    });
    if (child.connected) child.send(message, () => {});
  });
}
