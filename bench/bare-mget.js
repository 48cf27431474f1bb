/**
 * The bare hand-written loop that many-key fetches are measured against: ioredis, the same keys and
 * window, nothing recorded and nothing verified. A process of its own, told by argv.
 */

import { Redis } from 'ioredis';
import { createDataset, MGET_PLACES } from '../lib/dataset.js';
import { prepareFetches } from '../workloads/mget.js';

const [port, keys, operations, inFlight, warmup, seed, rows, valueSize] = process.argv
  .slice(2)
  .map(Number);
const { redisPrefix } = MGET_PLACES;
const dataset = createDataset({ rows, valueSize });
const client = new Redis({ host: '127.0.0.1', port });
await client.ping();
const fetches = draw(seed, operations);
globalThis.gc?.();
await loop(draw(seed + 1, warmup));
globalThis.gc?.({ type: 'minor' });
const cpu = process.cpuUsage();
const startMs = performance.now();
await loop(fetches);
const durationNs = (performance.now() - startMs) * 1e6;
const { user, system } = process.cpuUsage(cpu);
process.stdout.write(JSON.stringify({ durationNs, cpuNs: (user + system) * 1000 }));
client.disconnect();
process.exit(0);

/**
 * @param {number} from
 * @param {number} cycles
 */
function draw(from, cycles) {
  const options = { mget: { counts: [keys], cycles, lead: 0 } };
  return prepareFetches({ dataset, seed: from, ops: cycles, options }).fetches;
}

/** @param {number[][]} all */
async function loop(all) {
  let next = 0;
  const lane = async () => {
    while (next < all.length) {
      const ids = all[next];
      next += 1;
      await client.mget(ids.map((id) => redisPrefix + id));
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
}
