/**
 * The wire loop against real servers, its counts held against the servers' own; every driver
 * against its fake server, row by row; stops, kills and wrong rows; the command.
 */
// Needs: redis, mariadb, tarantool

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import mysql from 'mysql2/promise';
import { createClient } from 'redis';
import { getLoader } from '../../data/loaders/index.js';
import { formatEndpoint } from '../../lib/address.js';
import { createDataset } from '../../lib/dataset.js';
import { parseResult } from '../../lib/parse-result.js';
import { startFakeServer } from '../../limits/fake/process.js';
import { loadProtocol, PROTOCOL_NAMES, protocolOf } from '../../limits/wire/protocol.js';
import { Pump } from '../../limits/wire/pump.js';
import { systemClock } from '../../measure/clock.js';
import { systemInstruments } from '../../measure/usage.js';
import { checkAvailable, loadStorage, storageNamesFor } from '../../storages/index.js';
import { withFolder } from '../helpers/folder.js';
import { withServers } from '../helpers/servers.js';
import { openRows, reader } from '../helpers/storage-cases.js';

const BIN = fileURLToPath(new URL('../../bin/dragstrip.js', import.meta.url));
const STORED = await storageNamesFor(['get']);

describe('limits', () => {
  const servers = withServers(['redis', 'mariadb', 'tarantool']);
  const dataset = createDataset({ rows: 1000, valueSize: 100, seed: 11 });
  const POINT = { warmNs: 10e6, measureNs: 50e6 };

  before(async () => {
    for (const name of ['redis', 'mariadb', 'tarantool']) {
      const loader = await getLoader(name);
      await loader.seed({
        address: servers.address(name),
        credentials: servers.credentials(name),
        dataset,
      });
    }
  });

  /**
   * @param {string} name
   * @param {Partial<import('../../limits/wire/pump.js').PumpOptions>} [more]
   */
  async function openPump(name, more = {}) {
    const protocol = await loadProtocol(name);
    return Pump.open({
      protocol,
      endpoint: servers.address(protocol.server)[protocol.endpoint],
      credentials: servers.credentials(protocol.server),
      dataset,
      connections: 2,
      stallMs: 5000,
      instruments: systemInstruments(systemClock),
      serverPids: [servers.running(protocol.server).pid],
      ...more,
    });
  }

  /**
   * How many reads the server itself has counted.
   * @type {Record<string, () => Promise<number>>}
   */
  const COUNTED = {
    async redis() {
      const { host, port } = /** @type {any} */ (servers.address('redis')['main']);
      const client = createClient({ ...servers.login('redis'), socket: { host, port } });
      await client.connect();
      const stats = await client.info('commandstats');
      client.destroy();
      return Number(/cmdstat_get:calls=(\d+)/.exec(stats)?.[1] ?? 0);
    },
    async mysql() {
      const { host, port } = /** @type {any} */ (servers.address('mariadb')['sql']);
      const connection = await mysql.createConnection({ host, port, ...servers.login('mariadb') });
      const [rows] = await connection.query("show global status like 'Com_stmt_execute'");
      connection.destroy();
      return Number(/** @type {any} */ (rows)[0].Value);
    },
  };

  for (const name of PROTOCOL_NAMES) {
    test(`${name}: every request of the wire loop has its reply, at every depth`, async () => {
      const before = (await COUNTED[name]?.()) ?? null;
      const actual = systemInstruments(systemClock);
      /** Whether no request was outstanding when the server's CPU time was read. @type {boolean[]} */
      const idle = [];
      const instruments = {
        ...actual,
        servers(/** @type {readonly number[]} */ pids) {
          idle.push(pump.replies === pump.sent);
          return actual.servers(pids);
        },
      };
      const pump = await openPump(name, { instruments });
      try {
        assert.equal(pump.counts().checked, 128);
        for (const depth of [1, 64, 1000]) {
          const sentBefore = pump.sent;
          const point = await pump.run({ depth, ...POINT });
          assert.equal(pump.replies, pump.sent);
          assert.ok(pump.sent >= sentBefore + 2 * depth);
          assert.ok(point.replies > 0 && point.replies <= pump.sent - sentBefore);
          assert.ok(point.durationNs >= POINT.measureNs);
          const [fromNs, toNs] = point.serverCpu ?? [0, 0];
          assert.ok(point.clientCpuNs > 0 && toNs > fromNs);
        }
        assert.deepEqual(idle, Array(6).fill(true), 'reading it stops no connection');
        const { sent, checked, ...rest } = pump.counts();
        assert.deepEqual(rest, { replies: sent, errors: 0, misses: 0 });
        if (before !== null) assert.equal((await COUNTED[name]()) - before, sent + checked);
      } finally {
        pump.close();
      }
    });

    for (const [title, change, message] of /** @type {const} */ ([
      ['of another dataset', { seed: 12 }, /row \d+ differs from the dataset/],
      ['that are not there', { rows: 1_000_000 }, /row \d+ is missing/],
    ])) {
      test(`${name}: rows ${title} are no limit`, async () => {
        const other = createDataset({ ...dataset, ...change });
        await assert.rejects(openPump(name, { dataset: other }), { code: 'E_INVALID', message });
      });
    }

    test(`${name}: a server that stops replying, and one that is killed, end the loop`, async () => {
      const fakeServer = await startFakeServer(name, dataset);
      try {
        const { endpoint } = fakeServer;
        const pump = await openPump(name, { endpoint, stallMs: 300, serverPids: [fakeServer.pid] });
        const forever = { depth: 10, warmNs: 0, measureNs: 60e9 };
        process.kill(fakeServer.pid, 'SIGSTOP');
        await assert.rejects(pump.run(forever), {
          code: 'E_TARGET',
          message: /no reply for 0\.3 s/,
        });
        process.kill(fakeServer.pid, 'SIGCONT');
        pump.close();
        const second = await openPump(name, { endpoint, serverPids: [] });
        const run = assert.rejects(second.run(forever), { code: 'E_TARGET' });
        process.kill(fakeServer.pid, 'SIGKILL');
        await run;
        second.close();
      } finally {
        await fakeServer.stop();
      }
    });
  }

  test('mysql: depth of the sweep: MariaDB replies to commands sent in advance', async () => {
    const pump = await openPump('mysql', { connections: 1 });
    try {
      const point = await pump.run({ depth: 200, ...POINT });
      assert.ok(point.replies >= 200);
    } finally {
      pump.close();
    }
  });

  const few = createDataset({ ...dataset, rows: 130 });
  /** By protocol. @type {Record<string, ReturnType<typeof startFakeServer>>} */
  const fakeServers = {};
  after(async () => {
    for (const one of Object.values(fakeServers)) await (await one).stop();
  });

  for (const source of STORED) {
    test(`${source}: its fake server returns every row, and no other`, async (t) => {
      const definition = await loadStorage(source);
      const protocol = protocolOf(definition);
      if (protocol === null) {
        // A cluster has no ceiling: there is no fake server of several nodes.
        if (definition.server === 'redis-cluster') return t.skip('no ceilings of a cluster');
        assert.equal(definition.server, null, 'a storage with a server speaks a protocol');
        return;
      }
      fakeServers[protocol] ??= startFakeServer(protocol, few);
      const { endpoint } = await fakeServers[protocol];
      for (const [name, options] of Object.entries(definition.profiles)) {
        const missing = await checkAvailable(definition, name);
        if (missing !== null) {
          t.skip(missing.reason);
          continue;
        }
        const profile = { name, ...options };
        const handle = await openRows(definition, {
          address: { main: endpoint, read: endpoint, write: endpoint, sql: endpoint },
          profile,
          dataset: few,
        });
        const read = reader(handle, profile);
        const ids = Array.from({ length: few.rows }, (_, i) => i + 1);
        assert.deepEqual(await Promise.all(ids.map(read)), ids.map(few.value), `${source}:${name}`);
        assert.equal(await read(few.rows + 1), undefined);
        await handle.close();
      }
    });
  }

  const folder = withFolder();

  test('dragstrip limit measures and stores, and race --limits compares its figures with it', async () => {
    const run = promisify(execFile);
    const { rows, valueSize, seed } = dataset;
    const common = [
      ...['--storages', 'redis:tuned', '--in-flight', '100', '--ops', '3000', '--rounds', '1'],
      ...['--seed', `${seed}`, '--quiet'],
      ...['--redis', formatEndpoint(servers.address('redis')['main'])],
      ...['--rows', `${rows}`, '--value-size', `${valueSize}`],
    ];
    const limits = path.join(folder, 'limits.json');
    const options = { env: { ...process.env, DRAGSTRIP_HOME: folder, NO_COLOR: '1' } };
    /** @param {string} command @param {string[]} words */
    const call = (command, ...words) =>
      run(process.execPath, [BIN, command, ...common, ...words], options);
    const limited = await call('limit', '--json', limits);
    assert.match(limited.stdout, /server ceiling: rows of 100 characters/);
    assert.match(limited.stdout, /client ceiling, 100 in flight/);
    const stored = parseResult(await readFile(limits, 'utf8'), limits);
    assert.equal(stored.command, 'limit');
    assert.deepEqual(stored.benchmarks, []);
    const [wire] = stored.limits?.wire ?? [];
    assert.equal(wire.reason, null);
    assert.equal(wire.n, 1);
    assert.equal(wire.points.length, 4 * 7);
    assert.ok((wire.opsPerSecond ?? 0) > 1000 && (wire.serverCpuNs ?? 0) > 0);
    const window = stored.limits?.driver.find(({ load }) => load.inFlight === 100);
    assert.ok(window !== undefined && window.n === 1);
    assert.equal(window.opsPerSecond === null, (window.headroom ?? 0) < 2);

    const race = path.join(folder, 'race.json');
    const against = ['--load', 'window', '--warmup', '500', '--limits', limits];
    const { stdout } = await call('race', ...against, '--json', race);
    assert.match(stdout, /of server/);
    assert.match(stdout, new RegExp(`From\\s+the\\s+result\\s+${stored.id}`));
    const raced = parseResult(await readFile(race, 'utf8'), race);
    assert.equal(raced.limits?.source, stored.id);
    const [round] = raced.benchmarks[0].rounds;
    const { cpuNs = 0, threadNsMax = 0 } = round.server ?? {};
    assert.ok(threadNsMax !== null && threadNsMax > 0 && threadNsMax <= cpuNs);

    const otherRows = [...common.slice(0, -1), '64', ...against];
    const other = run(process.execPath, [BIN, 'race', ...otherRows], options);
    await assert.rejects(other, { code: 2, stderr: /measured with a different/ });
  });
});
