/**
 * `--on-outage continue`: a real server is killed and started again, or stands still, under an open
 * loop. The load goes on, the outage is in the result, and the rate is back soon after the server.
 */
// Needs: redis, mariadb

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import getPort from 'get-port';
import { Redis } from 'ioredis';
import { statusOf } from '../../cli/status.js';
import { getLoader } from '../../data/loaders/index.js';
import { run } from '../../index.js';
import { parseEndpoint } from '../../lib/address.js';
import { createDataset } from '../../lib/dataset.js';
import { OUTCOMES } from '../../lib/outcome.js';
import { CHEAT } from '../helpers/cheats.js';
import { withFolder } from '../helpers/folder.js';
import { redisAnswers, startRedis } from '../helpers/own-redis.js';
import { rememberProcess } from '../helpers/restart.js';
import { addressFlags, withServers } from '../helpers/servers.js';

const DATASET = { rows: 500, valueSize: 64, seed: 1 };
/** Between arrivals that are so far apart an open loop sleeps for most of the time. */
const RATE = 40;
const AWAY_MS = 1000;
/** From the server's return on. */
const BACK_NS = 3e9;

/**
 * @typedef {object} How
 * @property {() => Promise<void>} fault injected after a second of the load
 * @property {number} [durationMs]
 */

/**
 * Several runs at once, with one fault for all.
 * @param {readonly string[]} storages
 * @param {Record<string, unknown>} options options of the runs
 * @param {How} how
 */
async function runAllThrough(storages, options, { fault, ...how }) {
  let waiting = storages.length;
  /** @type {(value: Promise<void>) => void} */
  let begin = () => {};
  const common = new Promise((resolve) => (begin = resolve));
  const once = () => {
    waiting -= 1;
    if (waiting === 0) begin(fault());
    return common;
  };
  return Promise.all(
    storages.map((storage) =>
      runThrough({ ...options, storages: [storage] }, { ...how, fault: once }),
    ),
  );
}

/**
 * @param {Record<string, unknown>} options options of the run
 * @param {How} how
 */
async function runThrough(options, { fault, durationMs = 8000 }) {
  /** @type {Promise<void> | undefined} */
  let injected;
  const load = { kind: 'rate', rate: RATE, durationMs, onOutage: 'continue' };
  const result = await run(
    /** @type {any} */ ({ ...DATASET, loads: [load], warmup: 100, rounds: 1, ...options }),
    {
      onEvent(event) {
        if (event.type !== 'progress' || event.phase !== 'measure') return;
        if (event.settled >= RATE) injected ??= fault();
      },
    },
  );
  assert.ok(injected, 'the fault was injected');
  await injected;
  const [{ rounds }] = result.benchmarks;
  const [round] = rounds;
  const sum = OUTCOMES.reduce((all, name) => all + round.outcomes[name], 0);
  assert.equal(sum, round.scheduled);
  return { result, round };
}

/** @param {Awaited<ReturnType<typeof runThrough>>} ran @param {number} awayMs at least */
function assertContinued({ result, round }, awayMs) {
  const { outcomes, outages = [], timeline, scheduled } = round;
  const details = JSON.stringify({ outcomes, outages, samples: round.samples });
  assert.equal(result.benchmarks[0].state, 'measured', details);
  assert.equal(outages.length, 1, details);
  const [{ ns, startNs, failed }] = outages;
  assert.ok(ns !== null && ns > awayMs * 0.8e6, details);
  assert.ok(startNs > 0.5e9, details);
  assert.ok(failed > 0 && failed <= outcomes.error + outcomes.timeout, details);
  assert.deepEqual([outcomes.miss, outcomes.mismatch, outcomes.unsent], [0, 0, 0], details);
  assert.equal(scheduled, (RATE * Number(result.benchmarks[0].load.durationNs)) / 1e9);
  // The last windows: each began later than BACK_NS after the server's return.
  const windows = 2e9 / timeline.windowNs;
  const last = timeline.operations.slice(-windows).reduce((all, one) => all + one, 0);
  assert.ok(last >= RATE * 2 * 0.9, `${last} in the last two seconds; ${details}`);
  const messages = result.warnings.filter(({ code }) => code === 'W_OUTAGE');
  assert.equal(messages.length, 1);
  assert.match(
    messages[0].message,
    /^no connection for [\d.]+ s; [\d,]+ operations failed because of it$/,
  );
  assert.equal(statusOf(result), 5, 'operations failed');
  return ns;
}

describe('redis', () => {
  let pid = 0;
  after(() => process.kill(pid, 'SIGKILL')); // before its folder is removed
  const folder = withFolder();
  /** @type {() => Promise<number>} */
  let start;
  let address = '';

  before(async () => {
    const port = await getPort({ host: '127.0.0.1' });
    address = `127.0.0.1:${port}`;
    // Rows survive the kill, as in a server that is used for more than a benchmark.
    start = () => startRedis(folder, port, ['--appendonly', 'yes']);
    pid = await start();
    await redisAnswers(address);
    const main = parseEndpoint(address, '--redis');
    const { seed } = await getLoader('redis');
    await seed({ address: { main }, credentials: {}, dataset: createDataset(DATASET) });
  });

  async function killAndRestart() {
    process.kill(pid, 'SIGKILL');
    await sleep(AWAY_MS);
    pid = await start();
    await redisAnswers(address); // the next test finds it there, however short this one is
  }

  test('ioredis and redis:pool continue after a kill and a restart', async () => {
    const options = { addresses: { redis: address } };
    const how = { fault: killAndRestart };
    for (const ran of await runAllThrough(['ioredis', 'redis:pool'], options, how)) {
      const ns = assertContinued(ran, AWAY_MS);
      assert.ok(ns < AWAY_MS * 1e6 + BACK_NS, `back after ${ns} ns`);
    }
  });

  test('a restart hidden by a storage: its server is lost, status 4', async () => {
    /** @type {Promise<void> | null} */
    let fault = null;
    const options = {
      loads: [{ kind: /** @type {const} */ ('window'), inFlight: 9, durationMs: 3000 }],
    };
    const storages = [`${CHEAT}:swallows`];
    const result = await run(
      { ...DATASET, ...options, storages, rounds: 1, warmup: 100, addresses: { redis: address } },
      {
        onEvent(event) {
          if (event.type !== 'progress' || event.phase !== 'measure' || event.settled === 0) return;
          fault ??= killAndRestart();
        },
      },
    );
    await fault;
    const [{ rounds, state, reason }] = result.benchmarks;
    assert.equal(rounds[0].outcomes.ok, rounds[0].scheduled);
    assert.equal(state, 'failed');
    assert.match(String(reason), /lost: it was restarted during the measurement, and the driver/);
    assert.equal(statusOf(result), 4);
  });

  test('ioredis by two processes continues after the server was stopped', async () => {
    const ran = await runThrough(
      {
        storages: ['ioredis'],
        addresses: { redis: address },
        timeoutMs: 1000,
        loads: undefined,
        rate: RATE,
        duration: 9000,
        onOutage: 'continue',
        processes: [2],
      },
      {
        async fault() {
          process.kill(pid, 'SIGSTOP');
          await sleep(3 * AWAY_MS);
          process.kill(pid, 'SIGCONT');
        },
      },
    );
    assertContinued(ran, 3 * AWAY_MS);
  });

  test('a driver that throws cannot continue, and is reported', async () => {
    const storage = fileURLToPath(new URL('../helpers/throwing-storage.js', import.meta.url));
    const { result, round } = await runThrough(
      { storages: [storage], addresses: { redis: address } },
      { fault: killAndRestart },
    );
    const { outcomes, outages, samples } = round;
    assert.ok(outcomes.unsent > 0, JSON.stringify({ outcomes, outages, samples }));
    assert.equal(outages?.at(-1)?.ns, null);
    const [warning] = result.warnings.filter(({ code }) => code === 'W_OUTAGE');
    assert.match(warning.message, /not reconnected until the end \(the driver threw .*\)/);
    assert.match(String(warning.benchmark), /^throwing:/);
  });

  test('a server that refuses writes is not an outage', async () => {
    const admin = new Redis(`redis://${address}`);
    try {
      const { result, round } = await runThrough(
        {
          workload: 'mix',
          mix: 'get:50,set:50',
          storages: ['ioredis'],
          addresses: { redis: address },
        },
        {
          durationMs: 2000,
          async fault() {
            await admin.config('SET', 'min-replicas-to-write', '1');
          },
        },
      );
      assert.deepEqual(round.outages, []);
      assert.ok(round.outcomes.error > 0);
      assert.ok(round.samples.every(({ code }) => code === 'NOREPLICAS'));
      assert.equal(statusOf(result), 5);
    } finally {
      await admin.config('SET', 'min-replicas-to-write', '0');
      admin.disconnect();
    }
  });
});

describe('mariadb', () => {
  let pid = 0;
  let isRestarted = false;
  after(() => isRestarted && process.kill(pid, 'SIGKILL')); // before its folder is removed
  const servers = withServers(['mariadb']);
  before(async () => {
    ({ pid } = servers.running('mariadb'));
    const { seed } = await getLoader('mariadb');
    const address = servers.address('mariadb');
    const credentials = servers.credentials('mariadb');
    await seed({ address, credentials, dataset: createDataset(DATASET) });
  });

  async function killAndRestart() {
    const again = rememberProcess(pid);
    process.kill(pid, 'SIGKILL');
    await sleep(AWAY_MS);
    pid = await again();
    isRestarted = true;
  }

  test('mysql2 and two drivers of HandlerSocket continue after a kill and a restart', async () => {
    const storages = ['mysql2', 'manual-hs', 'node-handlersocket'];
    // By flag: the record of the state folder is that of the process that was killed.
    const options = { addresses: addressFlags(servers) };
    const how = { durationMs: 12_000, fault: killAndRestart };
    for (const ran of await runAllThrough(storages, options, how)) assertContinued(ran, AWAY_MS);
  });
});
