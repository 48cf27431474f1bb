/**
 * Networks between a run and its servers: connections that vanish without a word, a server that
 * reads slowly or not at all, tunnels, and unix sockets.
 */
// Needs: redis, mariadb, tarantool

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { statusOf } from '../../cli/status.js';
import { getLoader } from '../../data/loaders/index.js';
import { Relay, relayTo } from '../../engine/check/relay.js';
import { run } from '../../index.js';
import { formatEndpoint } from '../../lib/address.js';
import { createDataset } from '../../lib/dataset.js';
import { OUTCOMES } from '../../lib/outcome.js';
import { assertFailure, runCommand } from '../helpers/command-line.js';
import { withoutAccountHome } from '../helpers/not-checked.js';
import { addressFlags, withServers } from '../helpers/servers.js';

const ROWS = { rows: 500, valueSize: 64, seed: 2 };
const SERVERS = /** @type {const} */ (['redis', 'mariadb', 'tarantool']);
/** The endpoint of each server that a relay is put before, and its option. */
const PLACES = Object.freeze({
  redis: { which: 'main', flag: 'redis' },
  mariadb: { which: 'sql', flag: 'mysql' },
  handlersocket: { server: 'mariadb', which: 'read', flag: 'handlersocket' },
  tarantool: { which: 'main', flag: 'tarantool' },
});

/** @typedef {import('../../lib/result.js').Result} Result */
/** @typedef {keyof typeof PLACES} Place */
/** @typedef {import('../../lib/types.js').Endpoint} Endpoint */

/** @typedef {Result['benchmarks'][number]} Benchmark */

/** @param {Benchmark} benchmark @returns {Benchmark['rounds'][number] & { details: string }} */
function accounted({ id, rounds, state, reason }) {
  const [round] = rounds;
  const { outcomes, scheduled, latency } = round;
  const details = JSON.stringify({ id, outcomes, state, reason, samples: round.samples });
  const sum = OUTCOMES.reduce((all, name) => all + outcomes[name], 0);
  assert.equal(sum, scheduled, details);
  assert.equal(latency?.count ?? 0, outcomes.ok, details);
  assert.equal(outcomes.miss + outcomes.mismatch, 0, details);
  return { ...round, details };
}

describe('a network', () => {
  const servers = withServers(SERVERS);
  /** @type {{ close: () => unknown }[]} */
  const relays = [];
  after(() => relays.map((relay) => relay.close()));

  before(async () => {
    for (const name of SERVERS) {
      const [address, credentials] = [servers.address(name), servers.credentials(name)];
      const { seed } = await getLoader(name);
      await seed({ address, credentials, dataset: createDataset(ROWS) });
    }
  });

  /** @param {Place} place @returns {Endpoint} */
  function endpointOf(place) {
    const { which, server = place } = /** @type {any} */ (PLACES[place]);
    return servers.address(server)[which];
  }

  /**
   * @param {string | readonly string[]} storages
   * @param {Record<string, string>} addresses in place of the servers' own, by option
   * @param {Record<string, unknown> & { signal?: AbortSignal }} options
   * @param {(storage: string) => void} [fault] as soon as a storage has replies
   */
  async function race(storages, addresses, { signal, ...options }, fault = () => {}) {
    /** @type {Set<string>} */
    const done = new Set();
    const allAddresses = { ...addressFlags(servers), ...addresses };
    const all = { ...ROWS, rounds: 1, warmup: 100, timeoutMs: 3000, home: servers.home() };
    return run(
      /** @type {any} */ ({
        ...all,
        storages: [storages].flat(),
        addresses: allAddresses,
        ...options,
      }),
      {
        signal,
        onEvent(event) {
          if (event.type !== 'progress' || event.phase !== 'measure') return;
          const { storage } = event.benchmark;
          if (event.settled === 0 || done.has(storage)) return;
          done.add(storage);
          fault(storage);
        },
      },
    );
  }

  // One run has one storage per server, since the counts of a server use its relay, too.
  for (const storages of /** @type {Record<string, Place>[]} */ ([
    { ioredis: 'redis', mysql2: 'mariadb', tarantool: 'tarantool' },
    { redis: 'redis', mariadb: 'mariadb' },
    { 'valkey-glide': 'redis', 'manual-hs': 'handlersocket' },
  ])) {
    const names = Object.keys(storages);
    it(`drops connections of ${names.join(', ')} silently: --timeout ends it, status 5`, async () => {
      /** @type {Record<string, Relay>} */
      const relayOf = {};
      /** @type {Record<string, string>} */
      const addresses = {};
      for (const [storage, place] of Object.entries(storages)) {
        const relay = new Relay(endpointOf(place));
        relays.push(relay);
        relayOf[storage] = relay;
        addresses[PLACES[place].flag] = formatEndpoint(await relay.listen());
      }
      const loads = [{ kind: 'window', inFlight: 20, operations: 400_000 }];
      // Its connections pass nothing on any more; new ones do, as behind a firewall.
      const result = await race(names, addresses, { loads }, (storage) =>
        relayOf[storage].freeze(),
      );
      assert.deepEqual(result.benchmarks.map(({ storage }) => storage).sort(), names.toSorted());
      for (const benchmark of result.benchmarks) {
        const { outcomes, details } = accounted(benchmark);
        const { state, reason } = benchmark;
        assert.ok(outcomes.ok > 0 && outcomes.unsent > 0, details);
        assert.deepEqual([outcomes.timeout, outcomes.error], [20, 0], details);
        assert.equal(state, 'failed', details);
        assert.equal(reason, 'no reply for 3.0 s: the rest was not sent', details);
      }
      assert.equal(statusOf(result), 5);
      const codes = result.warnings.map(({ code }) => code);
      assert.ok(!codes.includes('SERVER_LOST') && !codes.includes('W_LITTLE'), codes.join());
    });
  }

  it('reads slowly, some bytes at a time: nothing is lost, and nothing times out', async () => {
    const redis = await slowRelay(endpointOf('redis'), 700);
    const loads = [{ kind: 'burst', operations: 4000 }];
    const result = await race('ioredis', { redis }, { loads });
    const { outcomes, details } = accounted(result.benchmarks[0]);
    assert.equal(outcomes.ok, 4000, details);
    assert.equal(statusOf(result), 0, details);
  });

  /**
   * @param {Endpoint} endpoint
   * @param {number} size bytes passed on per turn of the event loop
   * @param {number} [most] bytes of a connection, after which no more are read
   * @returns {Promise<string>} its address
   */
  async function slowRelay(endpoint, size, most = Number.POSITIVE_INFINITY) {
    const server = createServer((near) => {
      const far = connect(/** @type {any} */ (endpoint));
      near.on('error', () => far.destroy()).on('close', () => far.destroy());
      far.on('error', () => near.destroy()).on('close', () => near.destroy());
      far.pipe(near);
      near.on('data', async (chunk) => {
        near.pause();
        for (let at = 0; at < chunk.length; at += size) {
          far.write(chunk.subarray(at, at + size));
          await nextTurn();
        }
        if (near.bytesRead < most) near.resume();
      });
    });
    relays.push(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
    return `127.0.0.1:${port}`;
  }

  const STORAGES = ['redis', 'ioredis', 'iovalkey', 'mysql2', 'mariadb'];
  const LOADS = { loads: [{ kind: 'window', inFlight: 20, operations: 3000 }] };
  const flags = Object.entries(PLACES).filter(([place]) => ['redis', 'mariadb'].includes(place));

  /** @param {Benchmark} benchmark */
  function assertCounted(benchmark) {
    const { outcomes, server, counted, details } = accounted(benchmark);
    assert.equal(outcomes.ok, 3000, details);
    assert.ok(counted !== undefined, details);
    assert.equal(counted.operations, counted.replies, JSON.stringify({ details, counted }));
    return server;
  }

  /** @type {string[]} */
  let versions = [];
  const versionsOf = (/** @type {Result} */ { servers: all }) =>
    all.map(({ name, version }) => `${name} ${version}`).sort();

  it('is a unix socket: drivers are counted, with the CPU time of their server', async () => {
    const unix = flags.map(([place, { flag }]) => [
      flag,
      formatEndpoint(servers.address(place)['unix']),
    ]);
    const result = await race(STORAGES, Object.fromEntries(unix), LOADS);
    assert.equal(result.benchmarks.length, STORAGES.length);
    for (const benchmark of result.benchmarks) {
      assert.ok(Number(assertCounted(benchmark)?.cpuNs) > 0, benchmark.id);
    }
    const shown = JSON.stringify(result.servers);
    for (const [, address] of unix) {
      assert.ok(address.startsWith('unix:') && shown.includes(address), shown);
    }
    assert.equal(statusOf(result), 0);
    versions = versionsOf(result);
  });

  it('is a tunnel: drivers are counted, and the tunnel is not mistaken for their server', async () => {
    /** @type {Record<string, string>} */
    const addresses = {};
    for (const [place, { flag }] of flags) {
      const relay = await relayTo(servers.address(place));
      relays.push(relay);
      const { main, sql = main, read, write } = relay.address;
      addresses[flag] = formatEndpoint(sql);
      if (read === undefined) continue;
      addresses['handlersocket'] = formatEndpoint(read);
      addresses['handlersocket-write'] = formatEndpoint(write);
    }
    // One driver per server, since no driver sees a difference.
    const result = await race(['ioredis', 'mysql2'], addresses, LOADS);
    assert.equal(result.benchmarks.length, 2);
    for (const benchmark of result.benchmarks) {
      const server = assertCounted(benchmark);
      assert.equal(server, null, 'the CPU time of the process that forwards');
    }
    const shown = JSON.stringify(result.servers);
    for (const [, { flag }] of flags) assert.ok(shown.includes(addresses[flag]), shown);
    assert.deepEqual(versionsOf(result), versions, 'as without a tunnel');
    assert.equal(statusOf(result), 0);
  });

  const skip = withoutAccountHome();
  it('is a unix socket: rows read by a run over it are not replaced', { skip }, async () => {
    const unix = formatEndpoint(servers.address('redis')['unix']);
    const stop = new AbortController();
    /** @type {ReturnType<typeof runCommand> | null} */
    let seeding = null;
    const loads = [{ kind: 'window', inFlight: 20, operations: 100_000_000 }];
    const result = await race('ioredis', { redis: unix }, { loads, signal: stop.signal }, () => {
      const words = ['seed', 'redis', '--redis', unix, '--rows', '500', '--seed', '7'];
      seeding = runCommand(servers.home(), ['bin/dragstrip.js', ...words]);
      seeding.finally(() => stop.abort());
    });
    const ended = /** @type {any} */ (await seeding);
    assertFailure(ended, 3, /redis unix:.*: another run is using it: process \d+/);
    assert.ok(accounted(result.benchmarks[0]).outcomes.ok > 0);
  });

  it('stops reading, with megabytes in flight: each write fails once, by --timeout', async () => {
    const large = { ...ROWS, rows: 50, valueSize: 8000 };
    const [address, credentials] = [servers.address('redis'), servers.credentials('redis')];
    const { seed } = await getLoader('redis');
    await seed({ address, credentials, dataset: createDataset(large) });
    const redis = await slowRelay(endpointOf('redis'), 2 ** 20, 4 * 2 ** 20);
    // More than all buffers of the kernel hold.
    const loads = [{ kind: 'burst', operations: 4000 }];
    const options = { ...large, workload: 'mix', mix: 'get:1,set:99', loads, warmup: 50 };
    const result = await race('ioredis', { redis }, options);
    const { outcomes, details } = accounted(result.benchmarks[0]);
    assert.ok(outcomes.ok > 0 && outcomes.timeout > 1000, details);
    assert.equal(outcomes.ok + outcomes.timeout, 4000, details);
    assert.equal(statusOf(result), 5, details);
  });
});
