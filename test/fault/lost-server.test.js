/**
 * A real server that is killed, or stands still, in the middle of a run: the benchmarks that need
 * it fail with the reason, none asks it again, every operation is accounted for, the exit status
 * is 4.
 */

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { describe, test } from 'node:test';
import { shareCredentials } from '../../bench/login.js';
import { statusOf } from '../../cli/status.js';
import { getLoader } from '../../data/loaders/index.js';
import { LOST } from '../../engine/lost-servers.js';
import { run } from '../../index.js';
import { createDataset } from '../../lib/dataset.js';
import { OUTCOMES } from '../../lib/outcome.js';
import { startServers } from '../../servers/index.js';
import { addressOf, credentialsOf, makeHome, PACKAGES_HOME } from '../helpers/servers.js';

const DATASET = { rows: 1000, valueSize: 64, seed: 1 };

/**
 * @param {string} name
 * @param {(server: { pid: number, home: string }) => Promise<void>} work with a server of its own
 */
async function withServer(name, work) {
  const home = await makeHome();
  const owned = { home, packagesHome: PACKAGES_HOME, owned: true };
  const { servers, failures, stop } = await startServers([name], owned);
  assert.deepEqual(failures, []);
  const [running] = servers;
  await shareCredentials(servers);
  try {
    const address = addressOf(running);
    const { seed } = await getLoader(name);
    const dataset = createDataset(DATASET);
    await seed({ address, credentials: credentialsOf(running), dataset });
    await work({ pid: running.pid, home });
  } finally {
    await stop();
    rmSync(home, { recursive: true, force: true });
  }
}

/**
 * @param {Record<string, unknown>} options of the run
 * @param {{ signal: NodeJS.Signals, pid: number, at?: string }} fault at: the event at which the
 *   server is sent it
 */
async function runWithFault(options, { signal, pid, at = 'progress' }) {
  let done = false;
  const startMs = performance.now();
  const result = await run(/** @type {any} */ ({ ...DATASET, ...options }), {
    onEvent(event) {
      const due =
        event.type === at &&
        (event.type !== 'progress' || (event.phase === 'measure' && event.settled > 0));
      if (!due || done) return;
      done = true;
      process.kill(pid, signal);
    },
  });
  assert.ok(done, 'the fault was injected');
  return { result, tookMs: performance.now() - startMs };
}

/** @param {import('../../lib/result.js').Result} result */
function assertAccounted(result) {
  for (const { id, rounds } of result.benchmarks) {
    for (const { scheduled, outcomes, latency } of rounds) {
      const sum = OUTCOMES.reduce((all, name) => all + outcomes[name], 0);
      assert.equal(sum, scheduled, id);
      assert.equal(latency?.count ?? 0, outcomes.ok, id);
    }
  }
}

/** @param {import('../../lib/result.js').Result} result @param {RegExp} why */
function assertLost(result, why) {
  assert.equal(statusOf(result), 4);
  const warnings = result.warnings.filter(({ code }) => code === LOST);
  assert.equal(warnings.length, 1, 'said once');
  assert.match(warnings[0].message, why);
  for (const { id, storage, state, reason } of result.benchmarks) {
    assert.equal(state, storage === 'memory' ? 'measured' : 'failed', id);
    if (storage !== 'memory') assert.match(String(reason), why, id);
  }
}

const LOADS = [{ kind: /** @type {const} */ ('window'), inFlight: 20, operations: 400_000 }];

describe('a server that is lost during a run', () => {
  for (const signal of /** @type {const} */ (['SIGKILL', 'SIGSTOP'])) {
    test(`by ${signal}: failed with the reason, asked once, all accounted for`, async () => {
      await withServer('redis', async ({ pid, home }) => {
        const options = { loads: LOADS, rounds: 3, storages: ['ioredis', 'redis'] };
        const { result, tookMs } = await runWithFault(
          { ...options, timeoutMs: 2000, home },
          { signal, pid },
        );
        assertAccounted(result);
        assertLost(result, signal === 'SIGKILL' ? /connection refused/ : /does not answer/);
        // The order within a round is drawn.
        const [second, first] = result.benchmarks.toSorted(
          (a, b) => a.rounds[0].scheduled - b.rounds[0].scheduled,
        );
        const { outcomes } = first.rounds[0];
        assert.ok(outcomes.ok > 0);
        assert.ok(outcomes.error + outcomes.timeout > 0, 'what was in flight');
        assert.ok(outcomes.error + outcomes.timeout <= 1020, 'once each');
        assert.ok(outcomes.unsent > 0, 'the rest');
        if (signal === 'SIGSTOP') {
          assert.equal(outcomes.timeout, 20, JSON.stringify(outcomes));
          assert.match(first.rounds[0].samples[0].message, /no reply for 2\.0 s/);
        }
        assert.equal(second.rounds.length, 1);
        assert.equal(second.rounds[0].scheduled, 0, 'not asked again');
        assert.ok(tookMs < 25_000, `${tookMs} ms; it took 8 to 17 s per benchmark`);
      });
    });
  }

  for (const [name, storages] of /** @type {const} */ ([
    ['mariadb', ['mysql2', 'manual-hs', 'node-handlersocket']],
    ['tarantool', ['tarantool', 'memory']],
  ])) {
    test(`${name}, killed: no other storage of it is tried, one without a server is`, async () => {
      await withServer(name, async ({ pid, home }) => {
        const loads = [{ kind: 'window', inFlight: 20, durationMs: 2000 }];
        const options = { loads, rounds: 1, storages: [...storages], timeoutMs: 2000, home };
        const { result } = await runWithFault(options, { signal: 'SIGKILL', pid });
        assertAccounted(result);
        assertLost(result, /connection refused/);
        const lost = result.benchmarks.filter(({ storage }) => storage !== 'memory');
        const tried = lost.flatMap(({ rounds }) => rounds.filter((one) => one.scheduled > 0));
        assert.equal(tried.length, 1);
        assert.ok(tried[0].outcomes.ok > 0 && tried[0].samples.length > 0);
      });
    });
  }

  test('in a race by slices', async () => {
    await withServer('redis', async ({ pid, home }) => {
      const { result } = await runWithFault(
        {
          loads: [{ kind: 'window', inFlight: 20 }],
          precision: 0.05,
          timeoutMs: 2000,
          storages: ['ioredis', 'redis'],
          home,
        },
        { signal: 'SIGKILL', pid, at: 'comparison' },
      );
      assertAccounted(result);
      assertLost(result, /connection refused/);
    });
  });
});
