/**
 * Entry point of a wire loop's process: receives a WireSpec by message, runs its depths one after
 * another, sends the points back. It prints nothing and ends when its parent does.
 */

import { readCredentials } from '../../lib/credentials.js';
import { createDataset } from '../../lib/dataset.js';
import { systemClock } from '../../measure/clock.js';
import { systemInstruments } from '../../measure/usage.js';
import { loadProtocol } from './protocol.js';
import { Pump } from './pump.js';

// The terminal sends Ctrl-C to the whole group; the parent decides.
process.on('SIGINT', () => {});
process.on('disconnect', () => process.exit(0));

process.on('message', async (/** @type {any} */ message) => {
  if (message.type !== 'run') return;
  let answer;
  try {
    answer = { type: 'done', ...(await measure(message.spec)) };
  } catch (error) {
    const { code = 'E_INTERNAL', message: text, hint } = error;
    answer = { type: 'failed', failure: { code, message: String(text), hint } };
  }
  process.send?.(answer, () => process.exit(0));
});

/**
 * @param {import('./process.js').WireSpec} spec
 * @returns {Promise<import('./process.js').WireRecord>}
 */
async function measure(spec) {
  const { endpoint, connections, stallMs, serverPids } = spec;
  const pump = await Pump.open({
    protocol: await loadProtocol(spec.protocol),
    endpoint,
    credentials: await readCredentials(spec.credentialVariables),
    dataset: createDataset(spec.dataset),
    connections,
    stallMs,
    instruments: systemInstruments(systemClock),
    serverPids,
  });
  const points = [];
  try {
    for (const depth of spec.depths) {
      points.push(await pump.run({ depth, warmNs: spec.warmNs, measureNs: spec.measureNs }));
    }
    return { points, counts: pump.counts() };
  } finally {
    pump.close();
  }
}
