/** Storages that cheat, and honest ones, by the operations that their server has counted. */
// Needs: redis, mariadb, tarantool

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { statusOf } from '../../cli/status.js';
import { getLoader } from '../../data/loaders/index.js';
import { runChecks } from '../../engine/check/index.js';
import { report } from '../../index.js';
import { createDataset } from '../../lib/dataset.js';
import { CHEAT } from '../helpers/cheats.js';
import { notChecked } from '../helpers/not-checked.js';
import { openRedis } from '../helpers/own-clients.js';
import { assertAllOk, runHere } from '../helpers/run-here.js';
import { withServers } from '../helpers/servers.js';

/** Share of a race that counting takes: the aim, and the limit on a busy machine. */
const SHARE = 0.005;
const SHARE_MAX = 0.02;

const ROWS = { rows: 500, valueSize: 64, seed: 2 };
const OPS = 2000;
const NAMES = /** @type {const} */ (['redis', 'mariadb', 'tarantool']);

/** @typedef {import('../../lib/result.js').Result} Result */

/** @param {Result} result @param {string} code @returns {string[]} messages of these warnings */
function warningsOf({ warnings }, code) {
  return warnings.filter((one) => one.code === code).map(({ message }) => message);
}

describe('operations counted by the server', () => {
  const servers = withServers(NAMES);

  before(async () => {
    for (const name of NAMES) {
      const [address, credentials] = [servers.address(name), servers.credentials(name)];
      const { seed } = await getLoader(name);
      await seed({ address, credentials, dataset: createDataset(ROWS) });
    }
  });

  /**
   * @param {string[]} storages
   * @param {Record<string, unknown>} [more]
   * @param {import('../../engine/runner.js').RunContext} [context]
   */
  const race = (storages, more, context) => {
    const options = { home: servers.home(), warmup: 100, rounds: 1, ops: OPS, ...more };
    return runHere({ ...ROWS, storages, ...options }, context);
  };

  const HONEST = ['ioredis', 'ioredis:pipelined', 'redis', 'redis:pool', 'valkey-glide'];

  /** @param {Result} result no driver is charged, each round is counted exactly */
  function assertExact(result) {
    assertAllOk(result);
    assert.equal(statusOf(result), 0);
    for (const code of ['W_COMMANDS', 'W_HIDDEN_ERRORS', 'W_IMPLAUSIBLE', 'W_NOT_COUNTED']) {
      assert.deepEqual(warningsOf(result, code), []);
    }
    for (const { id, rounds } of result.benchmarks) {
      for (const { counted } of rounds) {
        assert.ok(Number(counted?.replies) > 0, id);
        assert.equal(counted?.operations, counted?.replies, id);
      }
    }
  }

  it('equal the replies of correct drivers in whole loads', async () => {
    for (const more of [{ ops: OPS }, { workload: 'race', ops: 200 }]) {
      const result = await race(HONEST, more);
      assertExact(result);
      for (const { id, rounds } of result.benchmarks) {
        for (const { counted, scheduled } of rounds) assert.equal(counted?.replies, scheduled, id);
      }
      if (more.workload === undefined) continue;
      const text = await report(result, 'console');
      assert.match(text, /counted by servers +1,000 for 1,000 replies +1,000 for 1,000 replies/);
    }
  });

  /** Rows of a skewed distribution, so that requests of equal keys meet. */
  const SKEWED = { keys: 'zipf:1.2', warmup: 0 };
  /** @type {Map<string, Promise<Result>>} */
  const results = new Map();
  /** @param {string} name @param {() => Promise<Result>} start @returns the same race for all tests */
  const shared = (name, start) => {
    const result = results.get(name) ?? start();
    results.set(name, result);
    return result;
  };
  /** @param {Result} result @param {string} profile */
  const benchmarkOf = ({ benchmarks }, profile) => {
    const own = benchmarks.find((one) => one.profile === profile);
    assert.ok(own !== undefined, profile);
    return own;
  };

  const TOO_FEW = /** @type {const} */ ([
    // By the turns of the event loop, or by the count if a busy machine makes more turns.
    [
      'computes',
      /^(2000 replies in \d+ turns of the event loop|answered without the server: 98 %)/,
    ],
    [
      'caches',
      /^(2000 replies in \d+ turns of the event loop|answered without the server: \d\d? %)/,
    ],
    [
      'invents',
      /^answered without the server: 5 % \(it executed 1900 operations, and 2000 replies/,
    ],
    ['coalesces', /: \d\d? % /],
  ]);
  for (const [cheat, reason] of TOO_FEW) {
    it(`are too few of a storage that ${cheat}: failed, status 5, no rank`, async () => {
      const names = TOO_FEW.map(([name]) => `${CHEAT}:${name}`);
      const result = await shared('whole', () => race([...names, 'ioredis'], SKEWED));
      assert.equal(statusOf(result), 5);
      const cheating = benchmarkOf(result, cheat);
      assert.equal(cheating.state, 'failed');
      assert.match(String(cheating.reason), reason);
      assert.equal(cheating.rounds[0].failure?.code, 'E_UNSERVED');
      assert.equal(benchmarkOf(result, 'default').state, 'measured');
      assert.match(
        await report(result, 'console'),
        /Failed[\s\S]*(without\s+the\s+server|of the\s+event\s+loop)/,
      );
    });
  }

  const CHEATS = ['computes', 'invents', 'caches', 'coalesces', 'early', 'retries'];
  for (const cheat of CHEATS) {
    it(`name a storage that ${cheat} in a race by blocks, which has no rank then`, async () => {
      const loads = [{ kind: 'window', inFlight: 20 }];
      const blocks = { workload: 'race', loads, budget: 4000, ops: undefined, rounds: 2 };
      const names = CHEATS.map((name) => `${CHEAT}:${name}`);
      const start = () => race([...names, 'ioredis'], { ...blocks, keys: 'zipf:1.2' });
      const result = await shared('blocks', start);
      const cheating = benchmarkOf(result, cheat);
      if (cheat === 'retries')
        assert.match(String(cheating.unranked), /the server sent \d+ errors/);
      else assert.equal(cheating.rounds.at(-1)?.failure?.code, 'E_UNSERVED');
      const { state, unranked } = benchmarkOf(result, 'default');
      assert.deepEqual([state, unranked], ['measured', undefined]);
      assert.equal(statusOf(result), 5);
    });
  }

  it('charge no correct driver of any server in a race by blocks, and take 0.5 % of it', async (t) => {
    const storages = [...HONEST, 'iovalkey', 'mysql2', 'mariadb', 'manual-hs'];
    const all = [...storages, 'node-handlersocket', 'tarantool'];
    // As much time per round as in a usual race: the share is that of a usual race.
    const result = await race(all, { workload: 'race', ops: undefined, budget: 12_000 });
    assertExact(result);
    const share = result.counting?.share ?? Number.NaN;
    assert.ok(share > 0 && share < SHARE_MAX, `${share}`);
    // It is a time: with other programs beside it the requests wait for a processor.
    if (share > SHARE) notChecked(t, `the share of counting is ${(100 * share).toFixed(2)} %`);
  });

  it('do not reveal replies without a wait, but turns of the event loop do', async () => {
    const result = await race([`${CHEAT}:early`, 'ioredis'], { workload: 'race' });
    assert.equal(statusOf(result), 5);
    const [{ storage, reason }] = result.benchmarks;
    assert.equal(storage, 'cheat');
    assert.match(
      String(reason),
      /^2000 replies in \d+ turns of the event loop: more than it can have/,
    );
  });

  it('may be fewer than the replies if a command reads several keys', async () => {
    const result = await race([`${CHEAT}:batches`]);
    assertAllOk(result);
    const [{ counted }] = result.benchmarks[0].rounds;
    assert.equal(counted?.lookups, OPS);
    assert.ok(Number(counted?.operations) <= OPS / 50);
  });

  it('show repeated requests and hidden errors', async () => {
    const result = await race(['repeats', 'retries'].map((name) => `${CHEAT}:${name}`));
    assert.equal(statusOf(result), 0);
    assert.deepEqual(warningsOf(result, 'W_COMMANDS'), ['1.10 commands per operation']);
    assert.deepEqual(warningsOf(result, 'W_HIDDEN_ERRORS'), [
      'the server sent 200 errors that it did not report',
    ]);
    const csv = await report(result, 'csv');
    assert.match(csv, /server_operations_per_op,server_errors_per_op/);
    assert.match(csv, /cheat:repeats,.*,1\.1,0,/);
    assert.match(csv, /cheat:retries,.*,1,0\.1,/);
  });

  it('are not counted while other clients use the server, with a warning', async () => {
    const other = await openRedis(servers);
    const busy = setInterval(() => other.get('key'), 0);
    try {
      const result = await race([`${CHEAT}:invents`, 'ioredis'], { rounds: 2 });
      assert.deepEqual(warningsOf(result, 'W_NOT_COUNTED'), [
        'redis: the executed operations were not counted: other clients use it',
      ]);
      assert.equal(statusOf(result), 0);
      for (const { rounds } of result.benchmarks) assert.equal(rounds[1].counted, undefined);
    } finally {
      clearInterval(busy);
      other.disconnect();
    }
  });

  it('charge no contender with bursts of another client that is idle around a round', async () => {
    const other = openRedis(servers);
    await other.ping();
    /** @type {Promise<unknown>[]} */
    const bursts = [];
    const onEvent = (/** @type {any} */ { type, phase, benchmark }) => {
      const isFirst = bursts.length === (benchmark?.storage === 'redis' ? 1 : 0);
      if (type !== 'progress' || phase !== 'measure' || !isFirst) return;
      const commands = Array.from({ length: 50 }, () => [['get', 'key'], ['get']]).flat();
      bursts.push(other.pipeline(commands).exec());
    };
    try {
      const load = { kind: 'window', inFlight: 20, operations: 40_000 };
      const result = await race(
        ['ioredis', 'redis'],
        { ops: undefined, loads: [load] },
        { onEvent },
      );
      assert.equal((await Promise.all(bursts)).length, 2);
      assertAllOk(result);
      assert.deepEqual(warningsOf(result, 'W_NOT_COUNTED'), [
        'redis: the executed operations were not counted: other clients use it',
      ]);
      for (const code of ['W_COMMANDS', 'W_HIDDEN_ERRORS']) {
        assert.deepEqual(warningsOf(result, code), []);
      }
      for (const { unranked, rounds } of result.benchmarks) {
        assert.deepEqual([unranked, rounds[0].counted], [undefined, undefined]);
      }
    } finally {
      other.disconnect();
    }
  });

  const SERVED = 'the server executes every read';
  const LOST = 'a lost connection is an error';
  const CHECKED = /** @type {[string, string[], RegExp][]} */ ([
    ['ioredis', [], /^600 operations for 600 reads$/],
    ['batches', [], /^\d{3} operations for 600 reads$/],
    ['repeats', [], /^660 operations for 600 reads$/],
    ['doubles', [], /^1200 operations for 600 reads$/],
    ['retries', [], /^600 operations for 600 reads, and sent 60 errors that the driver did not/],
    ['computes', [SERVED], /^the server executed 12 operations for 600 reads$/],
    ['invents', [SERVED], /^the server executed 570 operations for 600 reads$/],
    ['caches', [SERVED], /^the server executed 200 operations for 600 reads$/],
    ['coalesces', [SERVED], /^the server executed 400 operations for 600 reads$/],
    // The server may execute those operations after its count was read.
    ['early', [LOST], /operations for 600 reads$/],
    ['hasty', [LOST], /operations for 600 reads$/],
    ['swallows', [LOST], /^600 operations/],
  ]);
  describe('are checked by `dragstrip check`', () => {
    /** @type {Awaited<ReturnType<typeof runChecks>>} */
    let all = [];
    before(async () => {
      const names = CHECKED.map(([name]) => (name === 'ioredis' ? name : `${CHEAT}:${name}`));
      all = await runChecks({ ...ROWS, home: servers.home(), storages: names });
    });

    for (const [name, failed, text] of CHECKED) {
      it(name, () => {
        const label = name === 'ioredis' ? 'ioredis' : `cheat:${name}`;
        const outcomes = all.filter(({ storage }) => storage === label);
        const found = outcomes.filter(({ outcome }) => outcome === 'failed');
        const own = found.map((one) => one.name);
        assert.deepEqual(
          failed.filter((one) => !own.includes(one)),
          [],
        );
        assert.equal(found.length > 0, failed.length > 0, JSON.stringify(found));
        assert.match(outcomes.find((one) => one.name === SERVED)?.text ?? '', text);
      });
    }
  });

  it('are not checked beside other clients', async () => {
    const redis = await openRedis(servers);
    const busy = setInterval(() => redis.get('key'), 0);
    try {
      const outcomes = await runChecks({ ...ROWS, home: servers.home(), storages: ['ioredis'] });
      const found = outcomes.find(({ name }) => name === SERVED);
      assert.deepEqual([found?.outcome, found?.text], ['skipped', 'other clients use it']);
    } finally {
      clearInterval(busy);
      redis.disconnect();
    }
  });
});
