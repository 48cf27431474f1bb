/**
 * Client CPU time of full comparisons: short segments of the harness's loop in one process, in
 * mirrored pairs: replies compared by their tags only, and the share in full that a warm-up before
 * each round chooses. `node bench/comparisons.js [storage …]`
 */

import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { mean, median } from 'simple-statistics';
import { getLoader } from '../data/loaders/index.js';
import { resolveAddress } from '../engine/addresses.js';
import { createDataset, ROW_NAMES } from '../lib/dataset.js';
import { findHome } from '../lib/home.js';
import { OK } from '../lib/outcome.js';
import { BufferedRecorder } from '../load/buffered-recorder.js';
import { ComparisonCost } from '../load/comparison-cost.js';
import { FullComparisons } from '../load/full-comparisons.js';
import { runLoad, WHOLE_EVERY } from '../load/load.js';
import { systemClock } from '../measure/clock.js';
import { systemInstruments } from '../measure/usage.js';
import { startServers } from '../servers/index.js';
import { studentHalf } from '../stats/interval.js';
import { loadStorage } from '../storages/index.js';
import { workload } from '../workloads/get/index.js';
import { measure, showFigures } from './figures.js';
import { shareCredentials } from './login.js';
import { isMain } from './main.js';
import { timed } from './remote.js';

const SIZES = [16, 1024];
const ROUNDS = 20;
const PAIRS = 34;
/** Several collections of the young generation, also with 1 KB. */
const SEGMENT = 6000;
const WARMUP = 100_000;
/** @type {readonly ('tags' | 'full')[]} */
const PAIR = ['tags', 'full'];

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
  const bound = workload.prepare({ dataset, seed: 1, ops: WARMUP, options: {} })(handle, calls);
  let first = 0;
  /** @param {number} ops @param {Partial<import('../load/load.js').LoadOptions>} options */
  const load = async (ops, options) => {
    const from = first;
    first += ops;
    const { op, verify } = bound;
    const keys = {
      op: (/** @type {number} */ index, /** @type {any} */ done) => op(from + index, done),
      verify: (
        /** @type {number} */ index,
        /** @type {any} */ reply,
        /** @type {boolean} */ whole,
      ) => verify(from + index, reply, whole),
    };
    const end = { operations: ops, durationNs: Number.POSITIVE_INFINITY, stallNs: 10e9 };
    const how = { ...end, calls, kind: /** @type {const} */ ('window'), inFlight: 100 };
    const { recorder } = await runLoad({
      ...bound,
      ...keys,
      ...how,
      clock: systemClock,
      ...options,
    });
    if (recorder.outcomes[OK] !== ops) throw new Error(`${name}: wrong replies`);
  };
  const kept = new BufferedRecorder();
  const recorder = (/** @type {number} */ nowNs) => {
    kept.reset(nowNs, SEGMENT);
    return kept;
  };
  const comparisons = new FullComparisons(1);
  const none = Object.assign(new FullComparisons(1), { left: Number.POSITIVE_INFINITY });
  const everys = [];
  const ratios = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const cost = new ComparisonCost(systemInstruments(systemClock).cpu);
    await load(WARMUP, { cost });
    const wholeEvery = Math.max(WHOLE_EVERY.small, cost.every());
    everys.push(wholeEvery);
    const logs = [];
    for (let pair = 0; pair < PAIRS; pair += 1) {
      const cpu = { tags: 0, full: 0 };
      for (const way of pair % 2 === 0 ? PAIR : PAIR.toReversed()) {
        const options =
          way === 'full' ? { recorder, comparisons, wholeEvery } : { recorder, comparisons: none };
        cpu[way] = (await timed(() => load(SEGMENT, options), SEGMENT)).cpuNs;
      }
      logs.push(Math.log(cpu.full / cpu.tags));
    }
    ratios.push(Math.exp(median(logs)));
  }
  await handle.close();
  const what = `${name}, ${dataset.valueSize} B`;
  const half = studentHalf(ratios, 0.95);
  const interval = `mean ${mean(ratios).toFixed(4)} ± ${half.toFixed(4)}`;
  yield measure(`${what}: CPU over tags only, ${interval}`, ratios, {
    better: 'lower',
    unit: '×',
    target: 1.02,
  });
  yield measure(`${what}: one compared in full in`, everys, { better: 'lower', unit: '' });
}

if (isMain(import.meta.filename)) {
  const names = process.argv.slice(2);
  const figures = [];
  for await (const figure of run(names.length > 0 ? names : ['manual-hs', 'ioredis'])) {
    figures.push(figure);
  }
  console.log(showFigures(figures));
}
