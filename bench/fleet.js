/**
 * What the coordination of many load machines costs: bytes per upload, memory of the coordinator,
 * time from the end of the measurement to the merged record. The agents are simulated, ten in a
 * process; a real benchmark is recorded first and replayed by all of them.
 *
 *     node bench/fleet.js [--agents 3,20,200] [--seconds 10,60] [--repeat 5]
 */

import { fork } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { executeParts } from '../engine/executor.js';
import { openFleet } from '../fleet/controller.js';
import { truncate } from '../fleet/merge.js';
import { parseEndpoint } from '../lib/address.js';
import { readCredentials } from '../lib/credentials.js';
import { createDataset } from '../lib/dataset.js';
import { findHome } from '../lib/home.js';
import { listen } from '../limits/fake/server.js';
import { startServers } from '../servers/index.js';

const PER_PROCESS = 10;
const CHILD = fileURLToPath(new URL('./fleet-agents.js', import.meta.url));
const DATASET = { rows: 10_000, valueSize: 1024, seed: 1 };
/** Of the recorded agent. */
const RATE = 2000;

/** @param {string} name @param {string} fallback */
function numbers(name, fallback) {
  const at = process.argv.indexOf(name);
  return (at < 0 ? fallback : process.argv[at + 1]).split(',').map(Number);
}

/**
 * @param {number} port
 * @param {number} seconds
 * @returns {import('../engine/benchmark.js').BenchmarkSpec}
 */
function specOf(port, seconds) {
  return {
    ...{ storage: 'ioredis', profile: 'default', workload: 'get', workloadOptions: {} },
    ...{ address: { main: { host: '127.0.0.1', port } }, credentialVariables: null },
    load: {
      ...{ kind: 'rate', rate: RATE, arrivals: 'poisson', inFlight: null, operations: null },
      durationNs: seconds * 1e9,
    },
    ...{ serverPids: [], dataset: DATASET, folder: '', seed: 7, warmupOperations: 1000 },
    stallNs: 10e9,
    perSecond: true,
  };
}

/**
 * @param {any} coordinator
 * @param {string} record
 * @param {number} count
 * @returns {Promise<import('node:child_process').ChildProcess[]>} all of them wait
 */
async function startAgents(coordinator, record, count) {
  const children = [];
  for (let first = 0; first < count; first += PER_PROCESS) {
    const own = { coordinator, record, first, count: Math.min(PER_PROCESS, count - first) };
    // Not as an argument: it has the password of the coordinator.
    const child = fork(CHILD);
    child.send(own);
    children.push(child);
    let missing = own.count;
    await new Promise((resolve, reject) => {
      child.on('message', () => {
        missing -= 1;
        if (missing === 0) resolve(null);
      });
      child.on('exit', (status) => reject(new Error(`simulated agents ended: ${status}`)));
    });
  }
  return children;
}

/** @param {number[]} values */
function spread(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const show = (/** @type {number} */ value) => value.toFixed(value < 10 ? 1 : 0);
  return `${show(sorted[sorted.length >> 1])} (${show(sorted[0])}–${show(sorted[sorted.length - 1])})`;
}

const home = findHome();
const folder = await mkdtemp(path.join(tmpdir(), 'dragstrip-bench-'));
const started = await startServers(['coordinator'], { home, owned: true });
const fake = await listen('redis', createDataset(DATASET));
try {
  const [running] = started.servers;
  const coordinator = {
    endpoint: parseEndpoint(running.address['main']),
    credentials: await readCredentials(running.credentials ?? {}),
  };
  const client = new Redis({ ...coordinator.endpoint, ...coordinator.credentials, protocol: 2 });
  const secondsList = numbers('--seconds', '10,60');
  const longest = Math.max(...secondsList);
  console.error(`recording ${longest} s at ${RATE} operations per second`);
  const { executions } = await executeParts([specOf(fake.port, longest)], {});
  const recorded = executions[0].record;
  if (recorded === null) throw new Error(executions[0].failure?.message);
  console.log('agents  seconds  upload KiB  step ms, of it merging  coordinator MiB, peak');
  for (const seconds of secondsList) {
    const whole = { agent: '', records: [recorded], offsetNs: 0 };
    const cut = truncate([whole], { atNs: 0, aliveNs: seconds * 1e9 }) ?? [whole];
    const file = path.join(folder, `${seconds}.json`);
    await writeFile(file, JSON.stringify(cut[0].records[0]));
    for (const agents of numbers('--agents', '3,20,200')) {
      const children = await startAgents(coordinator, file, agents);
      const fleet = await openFleet({ coordinator, agents, storages: ['ioredis'] });
      /** @type {{ steps: number[], merges: number[], bytes: number }} */
      const figures = { steps: [], merges: [], bytes: 0 };
      fleet.onMerge = ({ bytes, waitedNs, mergedNs }) => {
        figures.bytes = bytes;
        figures.steps.push((waitedNs + mergedNs) / 1e6);
        figures.merges.push(mergedNs / 1e6);
      };
      for (let i = 0; i < numbers('--repeat', '5')[0]; i += 1) {
        const { record, failure } = await fleet.execute(specOf(fake.port, seconds), {});
        if (record === null) throw new Error(failure?.message);
      }
      const [, peak] = /used_memory_peak:(\d+)/.exec(await client.info('memory')) ?? [];
      const texts = [
        ...[String(agents), String(seconds), (figures.bytes / agents / 1024).toFixed(1)],
        `${spread(figures.steps)}, ${spread(figures.merges)}`,
        (Number(peak) / 2 ** 20).toFixed(1),
      ];
      console.log(texts.join('  '));
      await fleet.close();
      for (const child of children) {
        child.removeAllListeners('exit');
        child.disconnect();
      }
    }
  }
  client.disconnect();
} finally {
  await fake.close();
  await started.stop();
  await rm(folder, { recursive: true, force: true });
}
