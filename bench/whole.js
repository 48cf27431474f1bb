/**
 * Compares ratios in blocks with ratios of whole runs, for drivers with little and with much
 * garbage: races, and separate whole runs of each contender in random order, with private servers.
 * `node bench/whole.js [--seconds 10] [--repetitions 10] [--races 5] [--budget 60]`
 *
 * Prints per load and contender the ratio to ioredis of whole runs and of blocks, as mean (like a
 * whole run) and typical speed, and the bias of the mean, with 95 % intervals over repetitions and
 * races.
 */

import { loadavg } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { mean } from 'simple-statistics';
import { getLoader } from '../data/loaders/index.js';
import { resolveAddress } from '../engine/addresses.js';
import { run } from '../index.js';
import { entriesOf } from '../lib/comparison.js';
import { createDataset } from '../lib/dataset.js';
import { findHome } from '../lib/home.js';
import { createRandom, shuffled } from '../lib/random.js';
import { startServers } from '../servers/index.js';
import { studentHalf } from '../stats/interval.js';
import { pairOf } from '../stats/standings.js';
import { shareCredentials } from './login.js';
import { isMain } from './main.js';

const BASE = 'ioredis';
const OBJECTS = fileURLToPath(new URL('./injected/objects-40.js', import.meta.url));
const CONTENDERS = [BASE, 'redis', 'mysql2', 'hiredis', 'manual-hs', 'memory', OBJECTS];
const LOADS = [{ kind: 'sync' }, { kind: 'window', inFlight: 100 }];

/** @param {string} storage @returns {string} its name in results */
const nameOf = (storage) => path.basename(storage, '.js');

/**
 * @param {{ seconds: number, repetitions: number, races: number, budget: number,
 *   contenders?: readonly string[], options?: Record<string, unknown> }} size
 * @returns {AsyncGenerator<string>} one line per race and repetition, then one per contender and
 *   load
 */
export async function* againstWhole(size) {
  const { seconds, repetitions, races, budget, contenders = CONTENDERS, options = {} } = size;
  /** @type {Map<string, Record<'whole' | 'mean' | 'typical', number[]>>} logs of ratios */
  const logsOf = new Map();
  const keep = (/** @type {string} */ key, /** @type {Record<string, number>} */ logs) => {
    const own = logsOf.get(key) ?? { whole: [], mean: [], typical: [] };
    logsOf.set(key, own);
    for (const [what, log] of Object.entries(logs)) own[/** @type {'whole'} */ (what)].push(log);
  };
  const play = (/** @type {object} */ own) => run(/** @type {any} */ ({ ...options, ...own }));
  for (let race = 1; race <= races; race += 1) {
    const how = { precision: 0.001, budget: 1000 * budget, anyway: true };
    const { comparison } = await play({ storages: contenders, loads: LOADS, ...how });
    for (const load of comparison?.loads ?? []) {
      for (const name of contenders.slice(1).map(nameOf)) {
        const speed = pairOf(entriesOf(load), name, BASE)?.speed;
        if (speed === undefined) continue;
        keep(`${load.kind} ${name}`, {
          mean: Math.log(speed.mean),
          typical: Math.log(speed.ratio),
        });
      }
    }
    yield `race ${race}, load ${loadavg()[0].toFixed(1)}`;
  }
  for (let i = 1; i <= repetitions; i += 1) {
    /** @type {Map<string, number>} */
    const speeds = new Map();
    for (const storage of shuffled([...contenders], createRandom(i, 0x77686f6c))) {
      const loads = LOADS.map((load) => ({ ...load, durationMs: 1000 * seconds }));
      const { benchmarks } = await play({ storages: [storage], loads, rounds: 1 });
      for (const { load, rounds } of benchmarks) {
        if (rounds.length > 0) speeds.set(`${load.kind} ${nameOf(storage)}`, rounds[0].throughput);
      }
    }
    for (const [key, speed] of speeds) {
      const base = speeds.get(`${key.split(' ')[0]} ${BASE}`);
      if (base !== undefined && !key.endsWith(` ${BASE}`))
        keep(key, { whole: Math.log(speed / base) });
    }
    yield `repetition ${i}, load ${loadavg()[0].toFixed(1)}`;
  }
  for (const [key, { whole, mean: all, typical }] of logsOf) {
    const bias = mean(all) - mean(whole);
    const half = Math.hypot(studentHalf(all, 0.95), studentHalf(whole, 0.95));
    const shown = [whole, all, typical].map((logs) => Math.exp(mean(logs)).toFixed(3));
    yield `${key}: whole ${shown[0]}, slices ${shown[1]} (typical ${shown[2]}), bias ` +
      `${(100 * bias).toFixed(1)} ± ${(100 * half).toFixed(1)} %`;
  }
}

if (isMain(import.meta.filename)) {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '10' },
      repetitions: { type: 'string', default: '10' },
      races: { type: 'string', default: '5' },
      budget: { type: 'string', default: '60' },
    },
  });
  const home = findHome();
  const { servers, stop } = await startServers(['redis', 'mariadb'], { home, owned: true });
  try {
    await shareCredentials(servers);
    for (const name of ['redis', 'mariadb']) {
      const { address, credentials } = await resolveAddress(name, { home });
      await (await getLoader(name)).seed({ address, credentials, dataset: createDataset({}) });
    }
    const size = Object.entries(values).map(([name, text]) => [name, Number(text)]);
    const options = { home };
    for await (const line of againstWhole({ ...Object.fromEntries(size), options })) {
      console.log(line);
    }
  } finally {
    await stop();
  }
}
