/**
 * A real server that is killed, or stands still, in the middle of a run: the benchmarks that need
 * it fail with the reason, none asks it again, every operation is accounted for, the exit status
 * is 4.
 */
// Needs: redis, mariadb, tarantool

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { describe, test } from 'node:test';
import { Redis } from 'ioredis';
import { shareCredentials } from '../../bench/login.js';
import { statusOf } from '../../cli/status.js';
import { getLoader } from '../../data/loaders/index.js';
import { LOST } from '../../engine/lost-servers.js';
import { report, run } from '../../index.js';
import { createDataset } from '../../lib/dataset.js';
import { OUTCOMES } from '../../lib/outcome.js';
import { startServers } from '../../servers/index.js';
import { CHEAT } from '../helpers/cheats.js';
import { runHere } from '../helpers/run-here.js';
import { addressOf, credentialsOf, loginOf, makeHome, PACKAGES_HOME } from '../helpers/servers.js';

const DATASET = { rows: 1000, valueSize: 64, seed: 1 };

/**
 * @param {string} name
 * @param {(server: { pid: number, home: string, login: import('ioredis').RedisOptions,
 *   stop: () => Promise<unknown> }) => Promise<void>} work with a server of its own
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
    const { main } = /** @type {any} */ (address);
    const login = { ...main, ...loginOf(running) };
    await work({ pid: running.pid, home, login, stop });
  } finally {
    await stop();
    rmSync(home, { recursive: true, force: true });
  }
}

/**
 * @param {Record<string, unknown>} options options of the run
 * @param {{ signal?: NodeJS.Signals, pid: number, stop?: () => Promise<unknown>,
 *   start?: typeof run, at?: (event: import('../../index.js').RunEvent) => boolean }} fault at: the
 *   event at which the server is sent the signal, or stopped
 */
async function runWithFault(options, { signal, pid, stop, start = run, at = isMeasured }) {
  let done = false;
  let begun = 0;
  /** @type {Promise<unknown> | undefined} */
  let stopped;
  const result = await start(/** @type {any} */ ({ ...DATASET, warmup: 100, ...options }), {
    onEvent(event) {
      if (event.type === 'benchmark-start') begun += 1;
      if (done || !at(event)) return;
      done = true;
      if (signal !== undefined) process.kill(pid, signal);
      stopped = stop?.();
    },
  });
  assert.ok(done, 'the fault was injected');
  await stopped;
  return { result, begun };
}

/** @param {import('../../index.js').RunEvent} event */
function isMeasured(event) {
  return event.type === 'progress' && event.phase === 'measure' && event.settled > 0;
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
    test(`by ${signal}: failed with the reason, probed once, all operations accounted for`, async () => {
      await withServer('redis', async ({ pid, home }) => {
        const options = { loads: LOADS, rounds: 3, storages: ['ioredis', 'redis'] };
        const { result, begun } = await runWithFault(
          { ...options, timeoutMs: 1000, home },
          { signal, pid },
        );
        assertAccounted(result);
        assertLost(result, signal === 'SIGKILL' ? /connection refused/ : /does not reply/);
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
          assert.match(first.rounds[0].samples[0].message, /no reply for 1\.0 s/);
        }
        assert.equal(second.rounds.length, 1);
        assert.equal(second.rounds[0].scheduled, 0, 'not probed again');
        assert.equal(begun, 1, 'each would wait for its own time limit');
      });
    });
  }

  test('by `servers stop`, which removes its password, too: failed with the reason', async () => {
    await withServer('redis', async ({ pid, home, stop }) => {
      const options = { loads: LOADS, rounds: 3, storages: ['ioredis', 'redis'], home };
      const { result, begun } = await runWithFault(options, { pid, stop });
      assertAccounted(result);
      assertLost(result, /connection refused|cannot be read|closed|ended|ECONNRESET/);
      assert.equal(begun, 1);
    });
  });

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

  test('closes only the connection: requests in flight fail once, the rest is unsent', async () => {
    await withServer('redis', async ({ home, login }) => {
      const redis = new Redis(login);
      /** @type {Promise<unknown> | null} */
      let killed = null;
      const options = { ...DATASET, loads: LOADS, rounds: 1, storages: ['ioredis'], home };
      const result = await run(options, {
        onEvent(event) {
          if (event.type !== 'progress' || event.phase !== 'measure' || event.settled === 0) return;
          killed ??= redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
        },
      });
      await killed;
      redis.disconnect();
      assertAccounted(result);
      const [{ state, reason, rounds }] = result.benchmarks;
      const { outcomes } = rounds[0];
      assert.ok(outcomes.error > 0 && outcomes.error <= 20, `${outcomes.error} errors`);
      assert.ok(outcomes.unsent > 0);
      assert.equal(state, 'failed');
      assert.match(String(reason), /^the connection was lost: /);
      assert.equal(statusOf(result), 5, 'the server is there');
      assert.match(await report(result, 'console'), /Failed[\s\S]*the connection was lost/);
    });
  });

  test('in a race by slices', async () => {
    await withServer('redis', async ({ pid, home }) => {
      const { result } = await runWithFault(
        {
          loads: [{ kind: 'window', inFlight: 20 }],
          precision: 0.05,
          anyway: true,
          timeoutMs: 2000,
          storages: ['ioredis', 'redis'],
          home,
        },
        { signal: 'SIGKILL', pid, at: ({ type }) => type === 'comparison' },
      );
      assertAccounted(result);
      assertLost(result, /connection refused/);
    });
  });

  const SWALLOWS = `${CHEAT}:swallows`;
  for (const storages of [[SWALLOWS], [SWALLOWS, 'ioredis']]) {
    const label = storages.length === 1 ? 'alone' : 'beside ioredis';

    test(`before a load of a storage that hides it, ${label}`, async () => {
      await withServer('redis', async ({ pid, home }) => {
        const loads = [{ kind: 'window', inFlight: 20, operations: 4000 }];
        const options = { loads, rounds: 2, warmup: 100_000, storages, timeoutMs: 2000, home };
        /** @param {import('../../index.js').RunEvent} event the second time it warms up */
        const at = (event) =>
          event.type === 'progress' &&
          event.phase === 'warmup' &&
          event.benchmark.storage === 'cheat' &&
          event.benchmark.rounds.length === 1;
        const { result } = await runWithFault(options, { signal: 'SIGKILL', pid, at });
        assert.equal(statusOf(result), 4);
        const cheat = result.benchmarks.find(({ storage }) => storage === 'cheat');
        assert.equal(cheat?.state, 'failed');
        assert.match(String(cheat?.reason), /the server was lost: .*connection refused/);
        const [, round] = cheat?.rounds ?? [];
        assert.equal(round.outcomes.ok, 4000, 'it invented all of them');
        assert.equal(round.counted?.lost, 1);
      });
    });

    // Segments of the last block may be missing from the count.
    for (const block of ['a', 'the last']) {
      test(`in ${block} block of a race with a storage that hides it, ${label}`, async () => {
        await withServer('redis', async ({ pid, home }) => {
          const loads = [{ kind: 'sync' }, { kind: 'window', inFlight: 20 }];
          const options = { loads, budget: 2000, rounds: 2, storages, timeoutMs: 2000, home };
          /** @param {import('../../index.js').RunEvent} event */
          const at = (event) => {
            if (event.type !== 'comparison' || event.round === 0) return false;
            const [, number, of] = /^block (\d+) of (\d+)/.exec(event.phase) ?? [];
            return number === (block === 'a' ? '2' : (of ?? ''));
          };
          const start = /** @type {typeof run} */ (runHere);
          const { result } = await runWithFault(options, { signal: 'SIGKILL', pid, start, at });
          assertLost(result, /connection refused/);
        });
      });
    }
  }
});
