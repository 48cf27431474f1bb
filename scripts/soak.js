/**
 * A long run with a fault in its middle, outside of the tests: reads and writes at a fixed rate on
 * a Redis of its own, a minute per run, and a restart of the server in the middle of one of them.
 * Ends with status 1 if a sum is wrong, a row is lost, a run but that one has failures, or this
 * process grows.
 *
 *     node --expose-gc scripts/soak.js [--minutes 30] [--rate 5000]
 */

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { getLoader } from '../data/loaders/index.js';
import { resolveAddress } from '../engine/addresses.js';
import { LOST } from '../engine/lost-servers.js';
import { run } from '../index.js';
import { createDataset } from '../lib/dataset.js';
import { findHome } from '../lib/home.js';
import { OUTCOMES } from '../lib/outcome.js';
import { startServers, stopServers } from '../servers/index.js';

const DATASET = { rows: 100_000, valueSize: 1024, seed: 1 };
/** Above what a minute of one run needs; a leak of a run per minute would pass it. */
const GROWTH_BYTES_MAX = 64 * 2 ** 20;
const WARM_MINUTES = 3;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    rate: { type: 'string', default: '5000' },
  },
});
const minutes = Number(values.minutes);
const rate = Number(values.rate);
const home = mkdtempSync(path.join(tmpdir(), 'dragstrip-soak-'));
const servers = { home, packagesHome: findHome() };
const loads = [{ kind: /** @type {const} */ ('rate'), rate, durationMs: 60_000 }];
const options = { ...DATASET, home, loads, mix: 'get:90,set:10', storages: ['ioredis'], rounds: 1 };
/** Of the calls of seed(). */
let isFirst = true;

try {
  await start();
  await seed();
  let warmBytes = 0;
  let warmFiles = 0;
  for (let minute = 1; minute <= minutes; minute += 1) {
    const isFault = minute === Math.ceil(minutes / 2);
    const result = await runMinute(isFault);
    const [{ state, rounds }] = result.benchmarks;
    const [{ outcomes, scheduled, latency }] = rounds;
    const sum = OUTCOMES.reduce((all, name) => all + outcomes[name], 0);
    assert.equal(sum, scheduled, 'the outcomes sum to what was scheduled');
    assert.equal(latency?.count ?? 0, outcomes.ok);
    const { miss, mismatch, error, timeout } = outcomes;
    assert.equal(miss + mismatch, 0, 'no wrong reply');
    if (isFault) {
      assert.equal(state, 'failed');
      assert.ok(result.warnings.some(({ code }) => code === LOST));
      await start();
    } else assert.deepEqual([state, error, timeout], ['measured', 0, 0]);
    globalThis.gc?.();
    const bytes = process.memoryUsage().rss;
    const files = readdirSync('/proc/self/fd').length;
    if (minute === WARM_MINUTES) [warmBytes, warmFiles] = [bytes, files];
    console.log(
      `minute ${minute}: ${outcomes.ok} ok of ${scheduled}, ${error} errors, ${outcomes.dropped} dropped, ` +
        `${outcomes.unsent} unsent, p99 ${((latency?.p99Ns ?? 0) / 1e6).toFixed(2)} ms, ` +
        `${(bytes / 2 ** 20).toFixed(0)} MiB, ${files} files${isFault ? '; server restarted' : ''}`,
    );
    if (minute <= WARM_MINUTES) continue;
    assert.ok(bytes - warmBytes < GROWTH_BYTES_MAX, `grew from ${warmBytes} to ${bytes} bytes`);
    assert.ok(files <= warmFiles + 2, `${files} files are open, ${warmFiles} before`);
  }
  await seed(); // finds every row, or writes: then one was lost
  console.log('every row is there');
} finally {
  await stopServers(['redis'], { home });
  rmSync(home, { recursive: true, force: true });
}

async function start() {
  const { failures } = await startServers(['redis'], servers);
  if (failures.length > 0) throw failures[0].error;
}

async function seed() {
  const { address, credentials } = await resolveAddress('redis', { env: {}, home });
  const { seed: fill } = await getLoader('redis');
  const { written } = await fill({ address, credentials, dataset: createDataset(DATASET) });
  assert.equal(written, isFirst, 'no row was lost');
  isFirst = false;
}

/** @param {boolean} isFault the server is stopped in the middle */
async function runMinute(isFault) {
  let stopping = Promise.resolve();
  let isDue = isFault;
  const result = await run(options, {
    onEvent(event) {
      if (!isDue || event.type !== 'progress' || event.phase !== 'measure') return;
      if (event.settled < rate * 30) return;
      isDue = false;
      stopping = stopServers(['redis'], { home }).then(() => {});
    },
  });
  await stopping;
  return result;
}
