/**
 * A/A: comparisons of the memory storage with itself, in a separate process. Short real benchmarks,
 * interleaved in mirrored order; prints the throughput of both sides per round.
 */

import { inThisProcess } from '../engine/contender-process.js';
import { systemClock } from '../measure/clock.js';
import { systemInstruments } from '../measure/usage.js';
import { playAlone } from './alone.js';
import { isMain } from './main.js';

const [comparisons, rounds, operations, seed] = process.argv.slice(2).map(Number);
const processes = inThisProcess(systemInstruments(systemClock));

/** @param {number} round */
async function throughputOf(round) {
  const made = await playAlone(
    {
      storage: 'memory',
      load: { kind: 'window', inFlight: 100, operations, durationNs: null },
      dataset: { rows: 100, valueSize: 32, seed: 1 },
      seed: seed + round,
      warmup: Math.ceil(operations / 10),
    },
    processes,
  );
  return made.throughput;
}

async function main() {
  // Warm up the compiler before comparing.
  for (let i = 0; i < 5; i += 1) await throughputOf(i);
  const pairs = [];
  for (let k = 0; k < comparisons; k += 1) {
    const [a, b] = [/** @type {number[]} */ ([]), /** @type {number[]} */ ([])];
    for (let round = 0; round < rounds; round += 1) {
      for (const side of round % 2 === 0 ? [a, b] : [b, a]) side.push(await throughputOf(round));
    }
    pairs.push({ a, b });
  }
  process.stdout.write(JSON.stringify(pairs));
  process.exit(0);
}

if (isMain(import.meta.filename)) await main();
