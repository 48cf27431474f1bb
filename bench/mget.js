/**
 * Multi-key fetches through the harness compared with a bare loop: same driver, keys and window, in
 * separate processes, alternately within one run (A B B A). The harness adds the trace of each
 * fetch and the verification of each value.
 */

import { getLoader } from '../data/loaders/index.js';
import { openNamespace } from '../data/namespaces/index.js';
import { createDataset } from '../lib/dataset.js';
import { namespace } from '../workloads/mget/plan.js';
import { againstBare } from './against-bare.js';
import { credentialsFor } from './login.js';

const TARGET = 0.95;
const IN_FLIGHT = 16;
const VALUE_SIZE = 2048;
const CONTENDERS = /** @type {const} */ ({ storage: 'ioredis', workload: 'mget' });
/** Keys per fetch, and fetches per segment of some tenths of a second. */
const CONTESTS = Object.freeze([
  { keys: 1, operations: 12_000 },
  { keys: 10, operations: 6000 },
  { keys: 100, operations: 1000 },
]);

/**
 * @param {import('./figures.js').BenchContext} context
 * @returns {AsyncGenerator<import('./figures.js').Figure>}
 */
export async function* run({ smoke, servers }) {
  const sizes = { rows: smoke ? 1000 : 50_000, valueSize: VALUE_SIZE, seed: 1 };
  const dataset = createDataset(sizes);
  const loader = await getLoader('redis');
  const context = { address: servers['redis'], credentials: await credentialsFor('redis') };
  await loader.seed({ ...context, namespace, dataset });
  try {
    for (const { keys, operations } of CONTESTS) {
      const what = `mget of ${keys} over a bare loop, ioredis, window ${IN_FLIGHT}`;
      const spec = { ...CONTENDERS, keys, address: servers['redis'], dataset: sizes };
      const size = smoke ? 100 : operations;
      const contest = { smoke, what, target: TARGET, operations: size, inFlight: IN_FLIGHT };
      yield* againstBare(spec, contest);
    }
  } finally {
    const handle = await openNamespace('redis', namespace, context);
    await handle.release().finally(() => handle.close());
  }
}
