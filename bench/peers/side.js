/**
 * The work of bench/peers.js, in a separate process: `side.js run|work|mitata|tinybench EVERY
 * AMOUNT`. Point reads over ioredis, one in flight, every n-th key read twice (0: none).
 */

import { Redis } from 'ioredis';
import { readCredentials } from '../../lib/credentials.js';
import { createRandom, drawBelow } from '../../lib/random.js';
import { systemClock } from '../../measure/clock.js';
import { variablesOf } from '../login.js';

const ROWS = 100_000;
const [tool, everyText, amountText] = process.argv.slice(2);
const every = Number(everyText);
const amount = Number(amountText);
const { password } = await readCredentials(await variablesOf('redis'));
const redis = new Redis({ ...JSON.parse(String(process.env['PEER_REDIS'])), password });

/** @param {number} twiceEvery @returns {() => Promise<unknown>} one operation */
function reader(twiceEvery) {
  const random = createRandom(1, twiceEvery);
  let count = 0;
  return async () => {
    count += 1;
    const key = `dragstrip:row:${drawBelow(random, ROWS)}`;
    if (twiceEvery > 0 && count % twiceEvery === 0) await redis.get(key);
    return redis.get(key);
  };
}

if (tool === 'run') {
  const read = reader(every);
  const endNs = systemClock.now() + amount * 1e9;
  let operations = 0;
  while (systemClock.now() < endNs) {
    await read();
    operations += 1;
  }
  console.log(operations / amount);
} else if (tool === 'work') {
  const read = reader(every);
  for (let i = 0; i < amount; i += 1) await read();
} else if (tool === 'mitata') {
  const { measure } = await import('mitata');
  const half = { min_cpu_time: (amount / 2) * 1e9 };
  const figures = [];
  for (const twiceEvery of [0, every]) {
    const { avg } = await measure(reader(twiceEvery), half);
    figures.push({ mean: avg });
  }
  console.log(JSON.stringify(figures));
} else {
  const { Bench } = await import('tinybench');
  const bench = new Bench({ time: (amount / 2) * 1000, warmupTime: 250 });
  bench.add('plain', reader(0)).add('other', reader(every));
  await bench.run();
  console.log(
    JSON.stringify(
      bench.tasks.map(({ result }) => {
        const { latency } = /** @type {any} */ (result);
        return { mean: latency.mean, margin: latency.moe };
      }),
    ),
  );
}
redis.disconnect();
