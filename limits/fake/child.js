/** Entry point of a fake server's process: receives a protocol and a dataset, sends its port. */

import { createDataset } from '../../lib/dataset.js';
import { listen } from './server.js';

// The terminal sends Ctrl-C to the whole group; the parent decides.
process.on('SIGINT', () => {});
process.on('disconnect', () => process.exit(0));

process.on('message', async (/** @type {any} */ message) => {
  try {
    const { port } = await listen(message.protocol, createDataset(message.dataset));
    process.send?.({ type: 'ready', port });
  } catch (error) {
    process.send?.({ type: 'failed', message: String(error.message) });
  }
});
