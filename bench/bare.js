/**
 * The bare hand-written loops that the harness is measured against: the same driver with the same
 * options, the same keys and window, nothing recorded and nothing verified. A process of its own,
 * told by argv.
 */

import { createDataset, PLACES } from '../lib/dataset.js';
import { drawKeys } from '../workloads/get.js';

/** @type {Record<string, (port: number) => Promise<{ get: (id: number) => any, close: any }>>} */
const DRIVERS = {
  async ioredis(port) {
    const { Redis } = await import('ioredis');
    const { storage } = await import('../storages/ioredis.js');
    const { options } = storage.profiles['default'];
    const client = new Redis({ ...options, host: '127.0.0.1', port });
    await client.ping();
    return {
      get: (id) => client.get(PLACES.redisPrefix + id),
      close: () => client.disconnect(),
    };
  },
  async 'manual-hs'(port) {
    const { connect } = await import('../storages/handlersocket/index.js');
    const { storage } = await import('../storages/manual-hs.js');
    const { options } = storage.profiles['default'];
    const client = await connect({ ...options, host: '127.0.0.1', port });
    const { database, table } = PLACES;
    const index = await client.openIndex({ database, table, columns: ['str'] });
    return { get: (id) => index.value(id), close: () => client.close() };
  },
};

const [name, port, operations, inFlight, warmup, seed, rows] = process.argv.slice(2);
const { get, close } = await DRIVERS[name](Number(port));
const dataset = createDataset({ rows: Number(rows) });
const keys = drawKeys(dataset.rows, Number(seed), Number(operations));
globalThis.gc?.();
await loop(drawKeys(dataset.rows, Number(seed) + 1, Number(warmup)));
globalThis.gc?.({ type: 'minor' });
const cpu = process.cpuUsage();
const startMs = performance.now();
await loop(keys);
const durationNs = (performance.now() - startMs) * 1e6;
const { user, system } = process.cpuUsage(cpu);
process.stdout.write(JSON.stringify({ durationNs, cpuNs: (user + system) * 1000 }));
await close();
process.exit(0);

/** @param {Uint32Array} ids */
async function loop(ids) {
  let next = 0;
  const lane = async () => {
    while (next < ids.length) {
      const id = ids[next];
      next += 1;
      await get(id);
    }
  };
  await Promise.all(Array.from({ length: Number(inFlight) }, lane));
}
