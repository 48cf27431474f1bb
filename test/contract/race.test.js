/**
 * The race on real servers, from the original program's own scripts to the table: order of lines,
 * results, another dataset, and servers that are killed or stopped while it goes on.
 */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { statusOf } from '../../cli/status.js';
import { run } from '../../index.js';
import { formatEndpoint } from '../../lib/address.js';
import { parseResult } from '../../lib/parse-result.js';
import { startServers } from '../../servers/index.js';
import { runCommand } from '../helpers/command-line.js';
import {
  addressOf,
  addressVariables,
  makeHome,
  PACKAGES_HOME,
  withServers,
} from '../helpers/servers.js';

/** @typedef {import('../../lib/result.js').Result} Result */

const servers = withServers(['redis', 'mariadb', 'tarantool']);
const ROWS = ['--rows', '500'];
const SMALL = [...ROWS, '--ops', '400', '--warmup', '50'];
/** In the order of the seed; what it did not have follows. */
const STORAGES = ['redis', 'ioredis', 'node-handlersocket', 'manual-hs', 'tarantool', 'mysql2'];

let folder = '';
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'dragstrip-race-'));
});
after(() => rm(folder, { recursive: true, force: true }));

/** @param {string[]} words */
const call = (words) => runCommand(folder, words, { env: addressVariables(servers) });

/**
 * @param {string} file
 * @returns {Result}
 */
function readResult(file) {
  return parseResult(readFileSync(path.join(folder, file), 'utf8'), file);
}

/** @param {Result} result */
function assertBalance(result) {
  for (const { id, rounds } of result.benchmarks) {
    for (const { outcomes, scheduled, samples, latency } of rounds) {
      const sum = Object.values(outcomes).reduce((all, n) => all + n, 0);
      assert.equal(sum, scheduled, id);
      assert.equal(latency?.count ?? 0, outcomes.ok, id);
      assert.ok(samples.length <= 10, id);
    }
  }
}

describe('the original program’s own commands', { timeout: 600_000 }, () => {
  test('fill the servers, and find them filled the second time', async () => {
    for (const [name, rows] of /** @type {const} */ ([
      ['redis', 500],
      ['mysql', 500],
      ['tarantool', 500],
    ])) {
      const first = await call([`data/${name}.js`, ...ROWS]);
      assert.equal(first.status, 0, first.stderr);
      const written = `${name}: ${rows} rows of 1024 characters written in [\\d.]+ s`;
      assert.match(
        first.stdout,
        new RegExp(`^${written} \\(counted, \\d+ compared in full\\)\\n$`),
      );
      const second = await call([`data/${name}.js`, ...ROWS]);
      assert.equal(second.status, 0, second.stderr);
      assert.match(second.stdout, /were there already \(counted, \d+ compared in full\)/);
    }
  });

  for (const [script, kind] of [
    ['async_test.js', 'burst'],
    ['test.js', 'sync'],
  ]) {
    test(`${script}: the original program’s lines in its order, then the table, twice alike`, async () => {
      for (const pass of [1, 2]) {
        const file = `${kind}-${pass}.json`;
        const { status, stdout, stderr } = await call([script, ...SMALL, '--json', file]);
        assert.equal(status, 0, `${stdout}${stderr}`);
        const [lines, table] = stdout.split('\nDone\n');
        const block =
          "Test '([\\w-]+)' started\nStorage created in [\\d.]+ ms\n" +
          'Test finished: 400 ops, [\\d.]+ ms, [\\d.]+ ops/sec\n';
        assert.match(lines, new RegExp(`^(${block}\n)*${block}$`));
        const order = [...lines.matchAll(/^Test '(.+)' started$/gm)].map(([, name]) => name);
        assert.deepEqual(
          order.filter((name) => STORAGES.includes(name)),
          STORAGES,
        );
        assert.deepEqual(order.slice(-3).includes('memory'), true);
        for (const name of STORAGES) assert.match(table, new RegExp(`^~? ?${name} `, 'm'));
        const result = readResult(file);
        assertBalance(result);
        assert.equal(result.state, 'complete');
        assert.equal(result.servers.length, 3);
        for (const { server, outcomes } of result.benchmarks
          .filter(({ storage }) => STORAGES.includes(storage))
          .flatMap(({ rounds }) => rounds)) {
          assert.equal(outcomes.ok, 400);
          assert.ok(server !== null, 'the CPU time of a server here is known');
        }
      }
    });
  }
});

describe('the race', { timeout: 600_000 }, () => {
  test('runs every profile of every storage, one and many in flight', async () => {
    const words = ['bin/dragstrip.js', 'race', ...SMALL, '--rounds', '1', '--json', 'race.json'];
    const { status, stdout, stderr } = await call(words);
    assert.equal(status, 0, `${stdout}${stderr}`);
    const result = readResult('race.json');
    assertBalance(result);
    const ran = result.benchmarks.filter(({ state }) => state === 'measured');
    for (const name of STORAGES) {
      const kinds = ran.filter(({ storage }) => storage === name).map(({ load }) => load.kind);
      assert.ok(kinds.includes('sync') && kinds.includes('burst'), name);
    }
    const csv = await call(['bin/dragstrip.js', 'report', 'race.json', '--format', 'csv']);
    assert.equal(csv.status, 0, csv.stderr);
    assert.ok(csv.stdout.split('\n').length > ran.length);
  });

  test('skips what holds other rows, and says how to get these', async () => {
    const words = ['test.js', '--rows', '400', '--ops', '50', '--json', 'other.json'];
    const { status, stdout } = await call(words);
    assert.equal(status, 4, stdout); // nothing that has a server could run
    assert.match(stdout, /redis contains another dataset: 500 rows of 1024 characters, seed 1/);
    const { benchmarks } = readResult('other.json');
    const redis = benchmarks.find(({ storage }) => storage === 'redis');
    assert.deepEqual([redis?.state, redis?.rounds], ['skipped', []]);
    assert.match(
      redis?.hint ?? '',
      /add --rows 500 .* or run npx dragstrip seed redis --rows 400 --value-size 1024 --seed 1/,
    );
    const named = await call([...words.slice(0, -2), '--storages', 'ioredis']);
    assert.equal(named.status, 4);
    assert.match(named.stderr, /^dragstrip: storage ioredis: redis contains another dataset.*\n$/);
  });

  test('finds rows that were spoilt behind its back', async () => {
    const { Redis } = await import('ioredis');
    const { main } = servers.address('redis');
    const redis = new Redis({ ...main, ...servers.login('redis'), retryStrategy: () => null });
    const key = 'dragstrip:row:77';
    const right = await redis.get(key);
    assert.equal(right?.length, 1024);
    await redis.set(key, `x${right?.slice(1)}`);
    try {
      const words = ['async_test.js', '--storages', 'ioredis', ...ROWS, '--ops', '5000'];
      const { status, stdout } = await call([...words, '--json', 'spoilt.json']);
      assert.equal(status, 5, stdout);
      const result = readResult('spoilt.json');
      const [{ state, rounds }] = result.benchmarks;
      // The check before the clock starts may meet the row already; then nothing is measured.
      if (state === 'failed') assert.equal(rounds[0].failure?.code, 'E_DATA');
      else assert.ok(rounds[0].outcomes.mismatch > 0);
    } finally {
      await redis.set(key, String(right));
      redis.disconnect();
    }
  });
});

const MARIADB_FLAGS = { mysql: 'sql', handlersocket: 'read', 'handlersocket-write': 'write' };

/**
 * A server of the test's own that may be killed, filled with the rows.
 * @param {'redis' | 'mariadb' | 'tarantool'} name
 * @param {'redis' | 'mysql' | 'tarantool'} loader
 */
async function startVictim(name, loader) {
  const home = await makeHome();
  const started = await startServers([name], { home, packagesHome: PACKAGES_HOME, owned: true });
  const [running] = started.servers;
  const address = addressOf(running);
  const names = name === 'mariadb' ? MARIADB_FLAGS : { [name]: 'main' };
  const addresses = Object.fromEntries(
    Object.entries(names).map(([flag, endpoint]) => [flag, formatEndpoint(address[endpoint])]),
  );
  const flags = Object.entries(addresses).flatMap(([flag, text]) => [`--${flag}`, text]);
  const filled = await runCommand(folder, [`data/${loader}.js`, ...ROWS, ...flags], {
    env: { DRAGSTRIP_HOME: home },
  });
  assert.equal(filled.status, 0, filled.stderr);
  const stop = async () => {
    await started.stop();
    await rm(home, { recursive: true, force: true });
  };
  return { pid: running.pid, addresses, home, stop };
}

/**
 * A window of 20 over one storage and the memory, struck while the first is being measured.
 * @param {string} storage
 * @param {{ addresses: Record<string, string>, home: string }} victim addresses: by flag
 * @param {number} timeoutMs
 * @param {() => void} inject
 */
async function runFaulted(storage, { addresses, home }, timeoutMs, inject) {
  let struck = false;
  const result = await run(
    {
      storages: [storage, 'memory'],
      loads: [{ kind: 'window', inFlight: 20, durationMs: 3000 }],
      rows: 500,
      warmupOperations: 0,
      timeoutMs,
      addresses,
      home,
    },
    {
      onEvent(event) {
        if (struck || event.type !== 'progress' || event.phase !== 'measure') return;
        if (event.benchmark.storage !== storage) return;
        struck = true;
        inject();
      },
    },
  );
  assert.ok(struck, 'it was struck while it was measured');
  assertBalance(result);
  parseResult(JSON.stringify(result), storage);
  return result;
}

describe('a server that goes away while it is measured', { timeout: 600_000 }, () => {
  const cases = /** @type {const} */ ([
    ['redis', 'redis', 'redis'],
    ['ioredis', 'redis', 'redis'],
    ['node-handlersocket', 'mariadb', 'mysql'],
    ['manual-hs', 'mariadb', 'mysql'],
    ['mysql2', 'mariadb', 'mysql'],
    ['tarantool', 'tarantool', 'tarantool'],
  ]);
  for (const [storage, name, loader] of cases) {
    test(`${storage}: killed, its errors are counted and the run goes on`, async () => {
      const victim = await startVictim(name, loader);
      try {
        const result = await runFaulted(storage, victim, 2000, () =>
          process.kill(victim.pid, 'SIGKILL'),
        );
        assert.equal(statusOf(result), 4);
        const [struck, memory] = result.benchmarks;
        assert.equal(struck.state, 'failed');
        assert.match(String(struck.reason), /^the server was lost: /);
        const { outcomes, samples } = struck.rounds[0];
        assert.ok(outcomes.ok > 0, 'it was measured before');
        assert.ok(outcomes.error + outcomes.timeout > 0, JSON.stringify(outcomes));
        assert.ok(samples.length > 0);
        assert.equal(memory.state, 'measured');
      } finally {
        await victim.stop();
      }
    });
  }

  test('stopped by SIGSTOP, outstanding requests time out', async () => {
    const victim = await startVictim('redis', 'redis');
    try {
      const result = await runFaulted('ioredis', victim, 3000, () =>
        process.kill(victim.pid, 'SIGSTOP'),
      );
      assert.equal(statusOf(result), 4);
      const [{ outcomes, samples }] = result.benchmarks[0].rounds;
      assert.equal(outcomes.timeout, 20, JSON.stringify(outcomes));
      assert.match(samples[0].message, /no reply for 3\.0 s/);
    } finally {
      process.kill(victim.pid, 'SIGCONT');
      await victim.stop();
    }
  });
});
