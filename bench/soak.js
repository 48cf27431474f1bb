/**
 * A long load with a fault in its middle, outside of the tests: some short runs, then reads and
 * writes at a fixed rate on a private Redis, which is restarted during the load. Ends with status 1
 * if a sum is wrong, an acknowledged write or a row is lost, the rate does not recover within 3 s
 * after the restart, an operation fails outside of the outage, or a process grows.
 *
 *     node bench/soak.js [--minutes 30] [--rate 5000] [--storage ioredis]
 */

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { getLoader } from '../data/loaders/index.js';
import { resolveAddress } from '../engine/addresses.js';
import { run } from '../index.js';
import { parseEndpoint } from '../lib/address.js';
import { createDataset } from '../lib/dataset.js';
import { findHome } from '../lib/home.js';
import { OUTCOMES } from '../lib/outcome.js';
import { pidExists } from '../lib/process-identity.js';
import { startServers, stopServers } from '../servers/index.js';
import { launch } from '../servers/process.js';
import { loadServer } from '../servers/registry.js';
import { isMain } from './main.js';

const DATASET = { rows: 100_000, valueSize: 1024, seed: 1 };
const MIX = 'get:90,set:10';
const AWAY_MS = 1500;
const BACK_MS = 3000;
/** By then most rows have been written once, and the heaps are stable. */
const WARM_SHARE = 0.25;
const GROWTH_BYTES_MAX = 64 * 2 ** 20;
const SHORT_RUNS = 10;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    rate: { type: 'string', default: '5000' },
    storage: { type: 'string', default: 'ioredis' },
  },
});
const minutes = Number(values.minutes);
const rate = Number(values.rate);
const durationMs = minutes * 60_000;
let home = '';
const options = { ...DATASET, workload: 'mix', mix: MIX, storages: [values.storage] };
/** Process id of the restarted server. @type {number | undefined} */
let restarted;

async function main() {
  home = mkdtempSync(path.join(tmpdir(), 'dragstrip-soak-'));
  try {
    const { servers, failures } = await startServers(['redis'], { home, packagesHome: findHome() });
    if (failures.length > 0) throw failures[0].error;
    const target = await resolveAddress('redis', { env: {}, home });
    const { seed } = await getLoader('redis');
    const fill = () => seed({ ...target, dataset: createDataset(DATASET) });
    await fill();
    await shortRuns();
    await longRun(servers[0]);
    assert.equal((await fill()).written, false, 'no row was lost');
    console.log('every row is there');
  } finally {
    if (restarted !== undefined && pidExists(restarted)) process.kill(restarted, 'SIGKILL');
    await stopServers(['redis'], { home });
    rmSync(home, { recursive: true, force: true });
  }
}

/** Neither memory nor open files of this process grow with the number of runs. */
async function shortRuns() {
  /** @type {ReturnType<typeof usageOf> | undefined} */
  let warm;
  for (let i = 1; i <= SHORT_RUNS; i += 1) {
    const result = await run({ ...options, home, loads: [load(2000)], rounds: 1 });
    assert.equal(sumUp(result).failed, 0);
    const usage = usageOf(process.pid);
    if (i === 3) warm = usage;
    if (warm !== undefined) assertSteady(usage, warm, 'this process');
  }
  console.log(`${SHORT_RUNS} short runs: ${usageText(usageOf(process.pid))}`);
}

/** @param {import('../lib/server-types.js').RunningServer} server */
async function longRun(server) {
  /** @type {Promise<number> | undefined} resolves with the milliseconds without a server */
  let restarting;
  /** @type {Map<number, ReturnType<typeof usageOf>>} by process, at the end of the warm part */
  const warm = new Map();
  let minute = 0;
  const result = await run(
    { ...options, home, loads: [load(durationMs)], rounds: 1 },
    {
      onEvent(event) {
        if (event.type !== 'progress' || event.phase !== 'measure') return;
        const { settled } = event;
        if (settled >= (rate * durationMs) / 2000) restarting ??= restart(server);
        if (settled < (minute + 1) * rate * 60) return;
        minute += 1;
        for (const [name, one] of [['parent', process.pid], ...benchmarkProcesses()]) {
          const usage = usageOf(Number(one));
          console.log(`minute ${minute}: ${name} ${usageText(usage)}`);
          const before = warm.get(Number(one));
          if (before !== undefined) assertSteady(usage, before, String(name));
          else if (minute >= minutes * WARM_SHARE) warm.set(Number(one), usage);
        }
      },
    },
  );
  assert.ok(restarting, 'the server was restarted');
  const awayMs = await restarting;
  const { round, failed } = sumUp(result);
  const { outages = [], outcomes, scheduled, latency, samples } = round;
  console.log(JSON.stringify({ scheduled, outcomes, outages, samples, p99Ns: latency?.p99Ns }));
  assert.equal(outages.length, 1, 'one outage');
  const [{ ns, failed: byOutage }] = outages;
  assert.ok(ns !== null && ns / 1e6 < awayMs + BACK_MS, `back after ${ns} ns, away ${awayMs} ms`);
  assert.equal(failed, byOutage, 'no operation fails outside of the outage');
  console.log(
    `no server for ${(awayMs / 1e3).toFixed(2)} s, an outage of ${(ns / 1e9).toFixed(2)} s`,
  );
}

/**
 * With SIGTERM, which stores the rows, so each acknowledged write must exist afterwards. At the
 * same address with the same secret, which `servers start` would replace.
 * @param {import('../lib/server-types.js').RunningServer} server
 * @returns {Promise<number>} milliseconds without a server
 */
async function restart({ pid, folder, address }) {
  const { uid, gid } = statSync(`/proc/${pid}`);
  const { find } = await loadServer('redis');
  const binaries = await find(findHome());
  assert.ok(binaries !== null);
  const startMs = performance.now();
  process.kill(pid, 'SIGTERM');
  while (pidExists(pid)) await sleep(10);
  await sleep(AWAY_MS);
  const { port } = parseEndpoint(address['main'], 'redis');
  const { identity } = await launch({
    program: binaries.programs['redis-server'],
    args: [path.join(folder, 'redis.conf'), '--port', `${port}`, '--dir', folder],
    cwd: folder,
    env: binaries.env ?? {},
    logPath: path.join(folder, 'again.log'),
    owned: true,
    user: process.getuid?.() === uid ? undefined : { uid, gid },
  });
  restarted = identity.pid;
  return performance.now() - startMs;
}

/**
 * @param {number} forMs @returns {NonNullable<import('../index.js').RunOptions['loads']>[number]}
 */
function load(forMs) {
  return { kind: 'rate', rate, durationMs: forMs, onOutage: 'continue' };
}

/**
 * @param {import('../lib/result.js').Result} result result of one round
 * @returns {{ round: import('../lib/result.js').Result['benchmarks'][number]['rounds'][number],
 *   failed: number }}
 */
function sumUp({ benchmarks: [{ state, rounds }], warnings }) {
  const [round] = rounds;
  const { outcomes, scheduled, latency } = round;
  assert.equal(state, 'measured', JSON.stringify({ outcomes, warnings }));
  const sum = OUTCOMES.reduce((all, name) => all + outcomes[name], 0);
  assert.equal(sum, scheduled, 'the outcomes sum to what was scheduled');
  assert.equal(latency?.count ?? 0, outcomes.ok);
  // A mismatch is a value of another row, or older than an acknowledged write.
  const { miss, mismatch, dropped, unsent } = outcomes;
  assert.deepEqual(
    { miss, mismatch, dropped, unsent },
    { miss: 0, mismatch: 0, dropped: 0, unsent: 0 },
  );
  return { round, failed: outcomes.error + outcomes.timeout };
}

/** @returns {[string, number][]} */
function benchmarkProcesses() {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isBenchmark(name))
    .map((name) => ['benchmark', Number(name)]);
}

/** @param {string} pid */
function isBenchmark(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    return parent === process.pid && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('.js');
  } catch {
    return false; // it has ended
  }
}

/** @param {number} pid */
function usageOf(pid) {
  const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return { bytes: Number(kilobytes) * 1024, files: readdirSync(`/proc/${pid}/fd`).length };
}

/** @param {ReturnType<typeof usageOf>} usage */
function usageText({ bytes, files }) {
  return `${(bytes / 2 ** 20).toFixed(0)} MiB, ${files} files`;
}

/**
 * @param {ReturnType<typeof usageOf>} now
 * @param {ReturnType<typeof usageOf>} before
 * @param {string} name
 */
function assertSteady(now, before, name) {
  const usage = `${name}: ${usageText(before)}, then ${usageText(now)}`;
  assert.ok(now.bytes - before.bytes < GROWTH_BYTES_MAX && now.files <= before.files + 2, usage);
}

if (isMain(import.meta.filename)) await main();
