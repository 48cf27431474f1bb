/**
 * What the coordination of many load machines costs: bytes per upload, memory of the coordinator,
 * time from the end of the measurement to the merged record. The agents are simulated, some in a
 * process; a real benchmark is recorded first and replayed by all of them.
 *
 *     node bench/fleet.js [--agents 3,20,200] [--seconds 10,60] [--repeat 5] [--per-process 25]
 *       [--merge-only]
 */

import { fork } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { executeParts } from '../engine/executor.js';
import { openFleet } from '../fleet/controller.js';
import { mergeContributions, truncate } from '../fleet/merge.js';
import { packUpload, unpackUpload } from '../fleet/upload.js';
import { parseEndpoint } from '../lib/address.js';
import { readCredentials } from '../lib/credentials.js';
import { createDataset } from '../lib/dataset.js';
import { findHome } from '../lib/home.js';
import { listen } from '../limits/fake/server.js';
import { readEnvironment } from '../measure/environment.js';
import { startServers } from '../servers/index.js';

const [PER_PROCESS] = numbers('--per-process', '25');
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

/**
 * Unpacking and merging alone, in this process: its CPU time, which other programs hardly change.
 * @param {import('../engine/record.js').BenchmarkRecord} record
 * @param {number} agents
 * @param {number} repeat
 */
async function mergeAlone(record, agents, repeat) {
  const clock = { offsetNs: 0, roundTripNs: 1e5, exchanges: 24 };
  const executions = [{ record, failure: null, processNs: null }];
  const payload = packUpload({ executions, failure: null, clock, targets: {} });
  const times = [];
  for (let i = 0; i < repeat; i += 1) {
    const before = process.cpuUsage();
    const contributions = Array.from({ length: agents }, (_, seat) => ({
      agent: `agent-${seat}`,
      records: unpackUpload(payload).executions.flatMap((one) => one.record ?? []),
      offsetNs: 0,
    }));
    await mergeContributions(contributions, { atNs: Number(record.startedNs) });
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / 1e3);
  }
  return { bytes: payload.length, times };
}

/**
 * All of it, with a real coordinator.
 * @param {any} coordinator
 * @param {{ file: string, agents: number, repeat: number,
 *   spec: import('../engine/benchmark.js').BenchmarkSpec }} how file: of the record
 * @returns {Promise<string>} ms from the common start to the merged record
 */
async function coordinate(coordinator, { file, agents, repeat, spec }) {
  const children = await startAgents(coordinator, file, agents);
  /** @type {import('../fleet/controller.js').Fleet | null} */
  let fleet = null;
  try {
    fleet = await openFleet({ coordinator, agents, storages: ['ioredis'], waitMs: 60_000 });
    /** @type {number[]} */
    const steps = [];
    fleet.onMerge = ({ waitedNs, mergedNs }) => void steps.push((waitedNs + mergedNs) / 1e6);
    for (let i = 0; i < repeat; i += 1) {
      const { record, failure } = await fleet.execute(spec, {});
      if (record === null) throw new Error(failure?.message);
    }
    return spread(steps);
  } catch (error) {
    return `not reached: ${error.message}`;
  } finally {
    await fleet?.close();
    for (const child of children) {
      child.removeAllListeners('exit');
      child.kill('SIGKILL');
    }
  }
}

const home = findHome();
const folder = await mkdtemp(path.join(tmpdir(), 'dragstrip-bench-'));
const started = await startServers(['coordinator'], { home, owned: true });
const fake = await listen('redis', createDataset(DATASET));
const [repeat] = numbers('--repeat', '5');
try {
  const [running] = started.servers;
  const coordinator = {
    endpoint: parseEndpoint(running.address['main']),
    credentials: await readCredentials(running.credentials ?? {}),
  };
  const client = new Redis({ ...coordinator.endpoint, ...coordinator.credentials, protocol: 2 });
  const all = numbers('--seconds', '10,60');
  const longest = Math.max(...all);
  console.error(`recording ${longest} s at ${RATE} operations per second`);
  const { executions } = await executeParts([specOf(fake.port, longest)], {});
  const recorded = executions[0].record;
  if (recorded === null) throw new Error(executions[0].failure?.message);
  const load = (await readEnvironment()).loadAverage?.[0].toFixed(0);
  console.log(`median (range) of ${repeat}, load average ${load}`);
  console.log(
    'seconds  agents  upload KiB  unpack and merge CPU ms  whole step ms  coordinator MiB',
  );
  for (const seconds of all) {
    const whole = { agent: '', records: [recorded], offsetNs: 0 };
    const cut = truncate([whole], { atNs: 0, aliveNs: seconds * 1e9 }) ?? [whole];
    const [record] = cut[0].records;
    const file = path.join(folder, `${seconds}.json`);
    await writeFile(file, JSON.stringify(record));
    for (const agents of numbers('--agents', '3,20,200')) {
      const { bytes, times } = await mergeAlone(record, agents, repeat);
      const spec = specOf(fake.port, seconds);
      const isAlone = process.argv.includes('--merge-only');
      const steps = isAlone ? '–' : await coordinate(coordinator, { file, agents, repeat, spec });
      const [, peak] = /used_memory_peak:(\d+)/.exec(await client.info('memory')) ?? [];
      const texts = [seconds, agents, (bytes / 1024).toFixed(0), spread(times), steps];
      console.log([...texts, (Number(peak) / 2 ** 20).toFixed(0)].join('  '));
    }
  }
  client.disconnect();
} finally {
  await fake.close();
  await started.stop();
  await rm(folder, { recursive: true, force: true });
}
