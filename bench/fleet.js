/**
 * Cost of coordinating many load machines: bytes per upload, memory of the coordinator, time from
 * the end of the measurement to the merged seat. The agents are simulated, several per process; all
 * replay a recorded real benchmark.
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
import { parseEndpoint } from '../lib/address.js';
import { readCredentials } from '../lib/credentials.js';
import { createDataset } from '../lib/dataset.js';
import { findHome } from '../lib/home.js';
import { listen } from '../limits/fake/server.js';
import { readEnvironment } from '../measure/environment.js';
import { openFleet } from '../packages/fleet/controller.js';
import { monotonicNs } from '../packages/fleet/coordinator-clock.js';
import { playShare, runnerOf } from '../packages/fleet/fleet-rounds.js';
import { mergeWhole, truncate } from '../packages/fleet/merge-agents.js';
import { portable } from '../packages/fleet/portable.js';
import { packUpload, unpackUpload } from '../packages/fleet/upload.js';
import { startServers } from '../servers/index.js';
import { fleetContender } from './fleet-contender.js';
import { isMain } from './main.js';

/** @typedef {import('../packages/fleet/upload.js').UploadedSeat} UploadedSeat */

const [PER_PROCESS] = numbers('--per-process', '25');
const CHILD = fileURLToPath(new URL('./fleet-agents.js', import.meta.url));
const DATASET = { rows: 10_000, valueSize: 1024, seed: 1 };
/** Operations per second of the recorded agent. */
const RATE = 2000;

/** @param {string} name @param {string} fallback */
function numbers(name, fallback) {
  const at = process.argv.indexOf(name);
  return (at < 0 ? fallback : process.argv[at + 1]).split(',').map(Number);
}

/** @param {number} port @param {number} seconds */
function poissonOf(port, seconds) {
  const load = { rate: RATE, arrivals: /** @type {const} */ ('poisson'), ...amountOf(seconds) };
  const warm = { kind: /** @type {const} */ ('operations'), operations: 1000 };
  return fleetContender(port, load, { dataset: DATASET }, { warm });
}

/** @param {number} seconds */
function amountOf(seconds) {
  return { operations: null, durationNs: seconds * 1e9 };
}

/**
 * @param {import('../engine/roles.js').Contender} contender
 * @param {number} seconds
 * @returns {Promise<UploadedSeat>} the share of one agent
 */
async function recordOne(contender, seconds) {
  const spec = { ...contender.spec, isLong: true, perSecond: true };
  const [seat] = await playShare(
    { contenders: [{ every: 1, isLocal: false, spec }], amount: amountOf(seconds) },
    {
      share: { index: 0, count: 1 },
      home: findHome(),
      sameMachine: true,
      signal: new AbortController().signal,
      atStart: async () => monotonicNs() + 0.1e9,
    },
  );
  if (!seat || seat.failure) throw new Error(seat?.failure?.message);
  return seat;
}

/**
 * @param {any} coordinator
 * @param {string} seat file of the seat
 * @param {number} count
 * @returns {Promise<import('node:child_process').ChildProcess[]>} resolves when all of them wait
 */
async function startAgents(coordinator, seat, count) {
  const children = [];
  for (let first = 0; first < count; first += PER_PROCESS) {
    const task = { coordinator, seat, first, count: Math.min(PER_PROCESS, count - first) };
    // Not an argument, because it contains the password of the coordinator.
    const child = fork(CHILD);
    child.send(task);
    children.push(child);
    let missing = task.count;
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
 * CPU time of unpacking and merging in this process, which hardly depends on other programs.
 * @param {UploadedSeat} seat
 * @param {import('../engine/roles.js').Contender} contender
 * @param {{ agents: number, repeat: number }} size
 */
async function mergeAlone(seat, contender, { agents, repeat }) {
  const clock = { offsetNs: 0, roundTripNs: 1e5, exchanges: 24 };
  const order = { contenders: [portable(contender)], amount: amountOf(60) };
  const payload = packUpload({ seats: [seat], failure: null, clock, targets: {} }, order);
  const times = [];
  for (let i = 0; i < repeat; i += 1) {
    const before = process.cpuUsage();
    const contributions = Array.from({ length: agents }, (_, index) => ({
      agent: `agent-${index}`,
      seats: unpackUpload(payload, order).seats,
      offsetNs: 0,
    }));
    await mergeWhole(contributions, { contender, failure: null, atNs: startOf(seat) });
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / 1e3);
  }
  return { bytes: payload.length, times };
}

/** @param {UploadedSeat} seat @returns {number} */
function startOf({ segments }) {
  return Number(segments[0][0]?.wall[0][0]);
}

/**
 * The complete coordination, with a real coordinator.
 * @param {any} coordinator
 * @param {{ file: string, agents: number, repeat: number, seconds: number, contender:
 *   import('../engine/roles.js').Contender }} how file: file of the seat
 * @returns {Promise<string>} ms from the common start to the merged seat
 */
async function coordinate(coordinator, { file, agents, repeat, seconds, contender }) {
  const children = await startAgents(coordinator, file, agents);
  /** @type {import('../packages/fleet/controller.js').Fleet | null} */
  let fleet = null;
  try {
    fleet = await openFleet({ coordinator, agents, storages: ['ioredis'], waitMs: 60_000 });
    /** @type {number[]} */
    const steps = [];
    fleet.onMerge = ({ waitedNs, mergedNs }) => void steps.push((waitedNs + mergedNs) / 1e6);
    for (let i = 0; i < repeat; i += 1) {
      const how = { onProgress() {} };
      const seat = await runnerOf(fleet).playWhole(contender, amountOf(seconds), how);
      if (seat.merged([0]) === null) throw new Error(seat.failure?.message);
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

async function main() {
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
    const recorded = await recordOne(poissonOf(fake.port, longest), longest);
    const load = (await readEnvironment()).loadAverage?.[0].toFixed(0);
    console.log(`median (range) of ${repeat}, load average ${load}`);
    console.log(
      'seconds  agents  upload KiB  unpack and merge CPU ms  whole step ms  coordinator MiB',
    );
    for (const seconds of all) {
      const atNs = startOf(recorded);
      const recording = { agent: '', seats: [recorded], offsetNs: 0 };
      const [cut] = truncate([recording], { atNs, aliveNs: atNs + seconds * 1e9 });
      const seat = /** @type {UploadedSeat} */ (cut.seats[0]);
      const contender = poissonOf(fake.port, seconds);
      const file = path.join(folder, `${seconds}.json`);
      await writeFile(file, JSON.stringify(seat));
      for (const agents of numbers('--agents', '3,20,200')) {
        const { bytes, times } = await mergeAlone(seat, contender, { agents, repeat });
        const isAlone = process.argv.includes('--merge-only');
        const how = { file, agents, repeat, seconds, contender };
        const steps = isAlone ? '–' : await coordinate(coordinator, how);
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
}

if (isMain(import.meta.filename)) await main();
