/**
 * Detection rate of storages that cheat, and rate of false accusations of correct ones: short races
 * with private servers and contenders in this process. `node bench/cheats.js [--runs N] [--honest
 * N] [--cheats early,swallows]`
 *
 * Each cheat of test/helpers/cheating-storage.js runs N times without blocks and N times in blocks,
 * beside ioredis. Prints how often it was named (its benchmarks failed or have a warning) and not
 * ranked; for races without cheats the warnings and failures by code, which are all false.
 */

import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { getLoader } from '../data/loaders/index.js';
import { resolveAddress } from '../engine/addresses.js';
import { inThisProcess } from '../engine/contender-process.js';
import { runRace } from '../engine/runner.js';
import { createDataset } from '../lib/dataset.js';
import { findHome } from '../lib/home.js';
import { systemClock } from '../measure/clock.js';
import { systemInstruments } from '../measure/usage.js';
import { startServers } from '../servers/index.js';
import { medianOf } from '../stats/metrics.js';
import { shareCredentials } from './login.js';
import { isMain } from './main.js';

const CHEAT = fileURLToPath(new URL('../test/helpers/cheating-storage.js', import.meta.url));
/** The server is killed meanwhile. */
const KILLED = 'swallows';
const CHEATS = ['computes', 'caches', 'coalesces', 'early', 'retries', 'invents', KILLED];
const HONEST = [
  ...['redis', 'ioredis', 'iovalkey', 'valkey-glide', 'redis:pool'],
  ...['ioredis:pipelined', 'mysql2', 'mariadb', 'manual-hs', 'node-handlersocket', 'tarantool'],
  'ioredis-cluster',
];
const CHARGES = ['W_COMMANDS', 'W_HIDDEN_ERRORS', 'W_IMPLAUSIBLE', 'W_NOT_COUNTED', 'SERVER_LOST'];
const ROWS = { rows: 500, valueSize: 64, seed: 2 };
const WHOLE = { loads: [{ kind: 'window', inFlight: 20, operations: 2000 }], warmup: 0 };
/** With one in flight there are no requests to combine. */
const BLOCKS = { workload: 'race', loads: [{ kind: 'window', inFlight: 20 }] };

/** @typedef {import('../lib/result.js').Result} Result */

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '20' },
    honest: { type: 'string', default: '200' },
    cheats: { type: 'string', default: CHEATS.join() },
  },
});

/**
 * @param {string[]} names names of servers
 * @param {(home: string, pids: number[]) => Promise<void>} work
 */
async function withServers(names, work) {
  const home = await mkdtemp(path.join(tmpdir(), 'dragstrip-cheats-'));
  const { servers, failures, stop } = await startServers(names, {
    home,
    packagesHome: findHome(),
    owned: true,
  });
  try {
    if (failures.length > 0) throw new Error(failures.map(({ name }) => name).join());
    await shareCredentials(servers);
    for (const name of names) {
      const { address, credentials } = await resolveAddress(name, { home });
      const { seed } = await getLoader(name);
      await seed({ address, credentials, dataset: createDataset(ROWS) });
    }
    await work(
      home,
      servers.map(({ pid }) => pid),
    );
  } finally {
    await stop();
    rmSync(home, { recursive: true, force: true });
  }
}

/**
 * @param {Record<string, unknown>} options
 * @param {import('../engine/runner.js').RunContext['onEvent']} [onEvent]
 */
function race(options, onEvent) {
  const instruments = { ...systemInstruments(systemClock), canaryNs: () => 1e6 };
  const processes = inThisProcess(instruments);
  return runRace(/** @type {any} */ ({ ...ROWS, anyway: true, ...options }), {
    processes,
    ...(onEvent && { onEvent }),
  });
}

/** @param {string} name @param {boolean} isWhole @param {string} home */
function optionsOf(name, isWhole, home) {
  const storages = [`${CHEAT}:${name}`, 'ioredis'];
  const keys = name === 'coalesces' ? { keys: 'zipf:1.2' } : {};
  const how = isWhole ? { ...WHOLE, rounds: 2 } : { ...BLOCKS, budget: 4000 };
  return { ...how, ...keys, storages, home };
}

/** @param {Result} result */
function verdictOf({ benchmarks, warnings }) {
  const own = benchmarks.filter(({ storage }) => storage === 'cheat');
  const ids = own.map(({ id }) => id);
  const isWarned = warnings.some(
    ({ code, benchmark }) => CHARGES.includes(code) && ids.includes(String(benchmark)),
  );
  return {
    isNamed: isWarned || own.some(({ state }) => state === 'failed'),
    isRanked: own.some(({ state, unranked }) => state === 'measured' && unranked === undefined),
  };
}

/** @param {string} name @param {boolean} isWhole @param {string} home @param {number} [pid] */
async function cheat(name, isWhole, home, pid) {
  let done = pid === undefined;
  const result = await race(optionsOf(name, isWhole, home), (event) => {
    const isDue = isWhole ? event.type === 'benchmark-end' : event.type === 'round-end';
    const isInBlock = event.type === 'comparison' && /^block [3-9] /.test(event.phase);
    if (done || !(isWhole ? isDue : isInBlock)) return;
    done = true;
    process.kill(Number(pid), 'SIGKILL');
  });
  return verdictOf(result);
}

/**
 * @param {Table.Table} table
 * @param {string} name
 * @param {(isWhole: boolean) => ReturnType<typeof cheat>} once
 */
async function score(table, name, once) {
  const runs = Number(values.runs);
  for (const isWhole of [true, false]) {
    const all = [];
    for (let i = 0; i < runs; i += 1) all.push(await once(isWhole));
    const named = all.filter(({ isNamed }) => isNamed).length;
    const unranked = all.filter(({ isRanked }) => !isRanked).length;
    const loads = isWhole ? 'whole' : 'in blocks';
    table.push([name, loads, `${named} of ${runs}`, `${unranked} of ${runs}`]);
    console.log(`${name}, ${loads}: named ${named}, no rank ${unranked} of ${runs}`);
  }
}

async function scoreCheats() {
  const table = new Table({
    head: ['cheat', 'loads', 'named', 'no rank'],
    style: { head: [], border: [], compact: true },
  });
  const names = values.cheats.split(',');
  await withServers(['redis'], async (home) => {
    for (const name of names.filter((one) => one !== KILLED)) {
      await score(table, name, (isWhole) => cheat(name, isWhole, home));
    }
  });
  if (names.includes(KILLED)) {
    await score(table, KILLED, async (isWhole) => {
      let verdict = { isNamed: false, isRanked: true };
      await withServers(['redis'], async (home, [pid]) => {
        verdict = await cheat(KILLED, isWhole, home, pid);
      });
      return verdict;
    });
  }
  console.log(table.toString());
}

async function chargeHonest() {
  /** @type {Map<string, number>} */
  const charges = new Map();
  const honest = Number(values.honest);
  /** @type {number[]} percent of each race */
  const shares = [];
  await withServers(['redis', 'mariadb', 'tarantool', 'redis-cluster'], async (home) => {
    for (let i = 0; i < honest; i += 1) {
      const options = { workload: 'race', ops: 400, rounds: 2, storages: HONEST, home };
      const { benchmarks, warnings, counting } = await race(options);
      const failed = benchmarks.flatMap(({ state, reason, rounds }) =>
        state === 'measured' ? [] : (rounds.at(-1)?.failure?.code ?? String(reason)),
      );
      const warned = warnings.map(({ code }) => code).filter((one) => CHARGES.includes(one));
      const codes = [...failed, ...warned];
      for (const code of codes) charges.set(code, (charges.get(code) ?? 0) + 1);
      if (counting === undefined) throw new Error('the race counted on no server');
      shares.push(counting.share * 100);
      const share = `counting ${shares[i].toFixed(2)} %`;
      console.error(`honest ${i + 1} of ${honest}: ${codes.join() || 'no charge'}, ${share}`);
    }
  });
  const all = [...charges].map(([code, n]) => `${code} ${n}`).join(', ');
  console.log(`${honest} honest races of ${HONEST.length} storages: ${all || 'no charge'}`);
  const [median, max] = [medianOf(shares) ?? 0, Math.max(...shares)].map((one) => one.toFixed(2));
  console.log(`counting: median ${median} %, maximum ${max} % of a race`);
}

if (isMain(import.meta.filename)) {
  if (Number(values.runs) > 0) await scoreCheats();
  if (Number(values.honest) > 0) await chargeHonest();
  console.log(`load average ${loadavg()[0].toFixed(1)}`);
}
