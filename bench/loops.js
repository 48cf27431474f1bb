/**
 * One contender of the self-check, in a separate process selected by argv: the harness's window
 * loop, or that of tinybench or mitata, running the same asynchronous operation on the memory
 * storage. Time is measured inside the operation, from one call to another a given number of calls
 * later, so that set-up and evaluation are excluded.
 */

import { createDataset } from '../lib/dataset.js';
import { OK } from '../lib/outcome.js';
import { runLoad } from '../load/load.js';
import { systemClock } from '../measure/clock.js';
import { storage } from '../storages/memory.js';
import { workload } from '../workloads/get/index.js';

/** Without verification, which the other loops lack. */
const UNVERIFIED = () => OK;

const [name, calls] = process.argv.slice(2);
const operations = Number(calls);
const warmup = Math.max(2000, operations / 5);
const IN_FLIGHT = 100;

// Few short rows, which fit into caches, to compare loops instead of memory.
const dataset = createDataset({ rows: 100, valueSize: 32, seed: 1 });
const profile = { name: 'default', ...storage.profiles.default };
const context = { address: {}, credentials: {}, profile, dataset, folder: '' };
const handle = await /** @type {any} */ (storage.open).rows(context);
const { op, verify } = workload.prepare({ dataset, seed: 1, ops: 4096, options: {} })(handle);

let count = 0;
let fromNs = 0;
let toNs = 0;
let cpuFrom = { user: 0, system: 0 };
let cpuTo = cpuFrom;
/** The operation of all contenders: the same keys in the same order. */
const operation = () => {
  const index = count;
  count = index + 1;
  if (index === warmup) {
    cpuFrom = process.cpuUsage();
    fromNs = systemClock.now();
  } else if (index === warmup + operations) {
    toNs = systemClock.now();
    cpuTo = process.cpuUsage();
  }
  return op(index);
};

/** @param {typeof verify} check */
async function runOurs(check) {
  const { recorder } = await runLoad({
    op: operation,
    verify: check,
    calls: 'promise',
    kind: 'window',
    inFlight: IN_FLIGHT,
    operations: warmup + operations + 1,
    durationNs: Number.POSITIVE_INFINITY,
    stallNs: 10e9,
    clock: systemClock,
  });
  if (recorder.histogram.count !== warmup + operations + 1) throw new Error('a latency is missing');
}

/** @type {Record<string, () => Promise<void>>} */
const CONTENDERS = {
  ours: () => runOurs(UNVERIFIED),
  'ours-verified': () => runOurs(verify),
  async tinybench() {
    const { Bench } = await import('tinybench');
    const bench = new Bench({ iterations: warmup + operations + 1, time: 0, warmup: false });
    bench.add('get', operation, { async: true });
    await bench.run();
  },
  async mitata() {
    const { measure } = await import('mitata');
    const samples = warmup + operations + 1;
    // One sample per call, as in the others; a batch would have one latency for many calls.
    await measure(operation, {
      min_samples: samples,
      max_samples: samples,
      min_cpu_time: 0,
      batch_threshold: 0,
    });
  },
};

globalThis.gc?.();
await CONTENDERS[name]();
if (!(fromNs > 0 && toNs > fromNs)) throw new Error(`${name}: only ${count} calls`);
const cpuNs = (cpuTo.user + cpuTo.system - cpuFrom.user - cpuFrom.system) * 1000;
const report = { nsPerOperation: (toNs - fromNs) / operations, cpuNs: cpuNs / operations };
process.stdout.write(JSON.stringify(report));
