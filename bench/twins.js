/**
 * A/A: comparisons of the memory storage with itself, in a separate process. Short real benchmarks,
 * interleaved in mirrored order; reports the throughput of both sides per round.
 */

import { inThisProcess } from '../engine/executor.js';
import { OK } from '../lib/outcome.js';
import { systemClock } from '../measure/clock.js';
import { systemInstruments } from '../measure/usage.js';

const [comparisons, rounds, operations, seed] = process.argv.slice(2).map(Number);
// The canary would take longer than the benchmarks.
const execute = inThisProcess({ ...systemInstruments(systemClock), canaryNs: () => 0 });

/** @type {import('../engine/benchmark.js').BenchmarkSpec} */
const spec = {
  storage: 'memory',
  profile: 'default',
  workload: 'get',
  workloadOptions: {},
  load: { kind: 'window', inFlight: 100, operations, durationNs: null },
  address: {},
  credentialVariables: null,
  serverPids: [],
  dataset: { rows: 100, valueSize: 32, seed: 1 },
  folder: '',
  seed,
  warmupOperations: Math.ceil(operations / 10),
  stallNs: 10e9,
};

/** @param {number} round */
async function throughput(round) {
  const { record } = await execute({ ...spec, seed: seed + round }, {});
  if (record === null || record.outcomes[OK] !== operations) throw new Error('a benchmark failed');
  return record.outcomes[OK] / record.durationNs;
}

// Warm up the compiler before comparing.
for (let i = 0; i < 5; i += 1) await throughput(i);
const found = [];
for (let k = 0; k < comparisons; k += 1) {
  const [a, b] = [/** @type {number[]} */ ([]), /** @type {number[]} */ ([])];
  for (let round = 0; round < rounds; round += 1) {
    for (const side of round % 2 === 0 ? [a, b] : [b, a]) side.push(await throughput(round));
  }
  found.push({ a, b });
}
process.stdout.write(JSON.stringify(found));
process.exit(0);
