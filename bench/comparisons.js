/**
 * Client CPU time of full comparisons: slices of the harness's loop in one process, in mirrored
 * order: replies compared by their tags only, one in three in full, and the share that the
 * warm-up's measurement chooses. `node bench/comparisons.js [storage …]`
 */

import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { getLoader } from '../data/loaders/index.js';
import { resolveAddress } from '../engine/addresses.js';
import { createDataset, ROW_NAMES } from '../lib/dataset.js';
import { findHome } from '../lib/home.js';
import { OK } from '../lib/outcome.js';
import { ComparisonCost } from '../load/comparison-cost.js';
import { FullComparisons } from '../load/full-comparisons.js';
import { runLoad } from '../load/load.js';
import { systemClock } from '../measure/clock.js';
import { systemInstruments } from '../measure/usage.js';
import { startServers } from '../servers/index.js';
import { loadStorage } from '../storages/index.js';
import { workload } from '../workloads/get/index.js';
import { measure, showFigures } from './figures.js';
import { shareCredentials } from './login.js';
import { isMain } from './main.js';
import { timed } from './remote.js';

const SIZES = [16, 1024];
const ROUNDS = 15;
const SLICE = 30_000;
const WARMUP = 100_000;
const WAYS = ['tags', 'third', 'measured', 'measured', 'third', 'tags'];

/** @param {readonly string[]} names names of storages @returns {AsyncGenerator<any>} */
export async function* run(names) {
  const servers = new Set();
  for (const name of names) servers.add((await loadStorage(name)).server);
  const home = await mkdtemp(path.join(tmpdir(), 'dragstrip-comparisons-'));
  const owned = { home, packagesHome: findHome(), owned: true };
  const started = await startServers(/** @type {string[]} */ ([...servers]), owned);
  try {
    if (started.failures.length > 0) throw started.failures[0].error;
    await shareCredentials(started.servers);
    for (const valueSize of SIZES) {
      const dataset = createDataset({ valueSize, rows: 100_000 });
      for (const name of servers) {
        const { address, credentials } = await resolveAddress(name, { home });
        await (await getLoader(name)).seed({ address, credentials, dataset });
      }
      for (const name of names) yield* costsOf(name, dataset, home);
    }
  } finally {
    await started.stop();
    rmSync(home, { recursive: true, force: true });
  }
}

/**
 * @param {string} name
 * @param {import('../lib/types.js').Dataset} dataset
 * @param {string} home
 */
async function* costsOf(name, dataset, home) {
  const { open, server, profiles } = await loadStorage(name);
  const { address, credentials } = await resolveAddress(String(server), { home });
  const profile = { name: 'default', ...profiles['default'] };
  const where = { address, credentials, profile, dataset, folder: '', names: ROW_NAMES };
  const handle = await /** @type {any} */ (open).rows(where);
  const calls = profile.calls ?? 'promise';
  /** @param {number} ops @param {Partial<import('../load/load.js').LoadOptions>} options */
  const load = async (ops, options) => {
    const bound = workload.prepare({ dataset, seed: 1, ops, options: {} })(handle, calls);
    const end = { operations: ops, durationNs: Number.POSITIVE_INFINITY, stallNs: 10e9 };
    const how = { ...end, calls, kind: /** @type {const} */ ('window'), inFlight: 100 };
    const { recorder } = await runLoad({ ...bound, ...how, clock: systemClock, ...options });
    if (recorder.outcomes[OK] !== ops) throw new Error(`${name}: wrong replies`);
  };
  const cost = new ComparisonCost(systemInstruments(systemClock).cpu);
  await load(WARMUP, { cost });
  const comparisons = new FullComparisons(1);
  const none = Object.assign(new FullComparisons(1), { left: Number.POSITIVE_INFINITY });
  /** @type {Record<string, Partial<import('../load/load.js').LoadOptions>>} */
  const options = {
    tags: { comparisons: none },
    third: { comparisons },
    measured: { comparisons, wholeEvery: cost.every() },
  };
  /** @type {Record<string, number[]>} */
  const ratios = { third: [], measured: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    /** @type {Record<string, number>} */
    const cpu = { tags: 0, third: 0, measured: 0 };
    for (const way of WAYS) {
      cpu[way] += (await timed(() => load(SLICE, options[way]), SLICE)).cpuNs;
    }
    for (const way of Object.keys(ratios)) ratios[way].push(cpu[way] / cpu['tags']);
  }
  await handle.close();
  const what = `${name}, ${dataset.valueSize} B`;
  for (const [way, all] of Object.entries(ratios)) {
    const share = way === 'third' ? 'one in 3' : `one in ${Math.max(3, cost.every())}`;
    yield measure(`${what}: CPU with ${share} in full (${way})`, all, {
      better: 'lower',
      unit: '×',
    });
  }
}

if (isMain(import.meta.filename)) {
  const names = process.argv.slice(2);
  const figures = [];
  for await (const figure of run(names.length > 0 ? names : ['manual-hs', 'ioredis'])) {
    figures.push(figure);
  }
  console.log(showFigures(figures));
}
