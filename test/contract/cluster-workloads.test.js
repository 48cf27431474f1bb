/**
 * Cluster clients beyond reading: inserts and locks with keys of one slot, TLS that refuses
 * unverified certificates, and a slot that is being moved while they read.
 */
// Needs: redis-cluster

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { Cluster } from 'ioredis';
import { getLoader } from '../../data/loaders/index.js';
import { createDataset } from '../../lib/dataset.js';
import { namesOf } from '../../lib/namespace.js';
import { createLocker } from '../../packages/mutex/index.js';
import { certificatesIn, makeCertificates } from '../../servers/certificates.js';
import { loadStorage } from '../../storages/index.js';
import { namespace as inserted } from '../../workloads/insert/namespace.js';
import { STRATEGY_NAMES } from '../../workloads/insert/strategies.js';
import { CLUSTER, CLUSTER_CLIENTS, callerOf, moveKey, rangesOf } from '../helpers/cluster.js';
import { withCommands } from '../helpers/command-folder.js';
import { assertFailure } from '../helpers/command-line.js';
import { assertAllRight, insertBy } from '../helpers/insert-cases.js';
import { claimOn } from '../helpers/namespaces.js';
import { assertAllOk, runHere } from '../helpers/run-here.js';
import { withServers } from '../helpers/servers.js';
import { casesOf, openRows, reader } from '../helpers/storage-cases.js';

/** @typedef {import('../../lib/types.js').TlsFiles} TlsFiles */
/** @typedef {import('../../lib/types.js').Address} Address */

const INSERTED = 1000;
const ROWS = { rows: 40, valueSize: 64, seed: 3 };
/** Key of the row that is moved. */
const KEY = 'dragstrip:row:7';
/** Verified reads before it is moved. */
const ENOUGH = 100;

const cases = (await Promise.all(CLUSTER_CLIENTS.map(casesOf))).flat();
const missing = new Map(cases.map(({ definition, skip }) => [definition.name, skip]));

describe('clients of a cluster', () => {
  const servers = withServers([CLUSTER], { tls: true });
  const { callHere, folder } = withCommands(servers);
  const dataset = createDataset(ROWS);
  const call = callerOf(servers);
  const context = () => ({
    address: servers.address(CLUSTER),
    credentials: servers.credentials(CLUSTER),
  });

  before(
    async () => {
      await makeCertificates(folder); // of an authority that no server here knows
      await (await getLoader(CLUSTER)).seed({ ...context(), dataset });
    },
    { timeout: 60_000 },
  );

  /** @param {string} pattern @returns {Promise<string[][]>} keys of each primary */
  async function keysOf(pattern) {
    const ranges = await rangesOf(servers);
    return Promise.all(ranges.map(({ primary }) => call(primary, 'KEYS', pattern)));
  }

  for (const name of CLUSTER_CLIENTS) {
    const skip = missing.get(name);

    it(`${name} inserts by every strategy: each row once, on every primary`, {
      skip,
    }, async () => {
      const { inserts = {} } = await loadStorage(name);
      const strategies = STRATEGY_NAMES.filter((one) => Object.hasOwn(inserts, one));
      assert.equal(strategies.length, 9);
      const release = await claimOn([{ name: CLUSTER, ...context() }], inserted);
      try {
        for (const strategy of strategies) {
          const { credentials } = servers.running(CLUSTER);
          const where = { address: servers.address(CLUSTER), credentials, rows: INSERTED, folder };
          const record = await insertBy(name, strategy, where);
          assertAllRight(record, `${name} ${strategy}`, INSERTED);
          const counts = (await keysOf(`${namesOf(inserted).redisPrefix}*`)).map((a) => a.length);
          const sum = counts.reduce((a, b) => a + b);
          assert.equal(sum, INSERTED, strategy);
          for (const count of counts) assert.ok(count > INSERTED / 10, `${strategy}: ${counts}`);
        }
      } finally {
        await release();
      }
      assert.deepEqual((await keysOf('dragstrip:insert:*')).flat(), []);
    });
  }

  it('locks: every client and handler, one name and several', async () => {
    const { benchmarks } = await runHere({
      workload: 'mutex',
      storages: CLUSTER_CLIENTS.slice(0, 3),
      home: servers.home(),
      tests: ['count'],
      keys: [1, 3],
      duration: 100,
      inFlight: 20,
      warmup: 20,
      retry: 5,
      rounds: 1,
    });
    const ran = benchmarks.filter(({ state }) => state !== 'skipped');
    assertAllOk({ benchmarks: ran });
    const kinds = new Set(
      ran.map(({ storage, parameters = {} }) => `${storage} ${parameters['handler']}`),
    );
    assert.deepEqual([...kinds].sort(), [
      ...['ioredis-cluster redis-semaphore', 'ioredis-cluster redlock', 'ioredis-cluster script'],
      ...['iovalkey-cluster redis-semaphore', 'iovalkey-cluster redlock'],
      ...['iovalkey-cluster script', 'redis-cluster script'],
    ]);
    assert.deepEqual((await keysOf('*dragstrip:mutex*')).flat(), []);
  });

  it('a locker on a cluster requires a hash tag, and has no handler pure', async () => {
    const { main } = servers.address(CLUSTER);
    const { password } = servers.credentials(CLUSTER);
    const client = new Cluster([{ host: main.host, port: main.port }], {
      redisOptions: { password },
    });
    try {
      const wrong = { code: 'MUTEX_ARGUMENT' };
      await assert.rejects(createLocker({ client }), { ...wrong, message: /hash tag.*\{mutex\}:/ });
      const tagged = { client, prefix: '{own}:' };
      await assert.rejects(createLocker({ ...tagged, handler: 'pure' }), {
        ...wrong,
        message: /WATCH … EXEC; use the handler script/,
      });
      const [first, second] = [await createLocker(tagged), await createLocker(tagged)];
      const [mine, theirs] = [first.mutex(['a', 'b']), second.mutex('b', { blockMs: 20_000 })];
      await mine.lock();
      assert.equal(await theirs.tryLock(), false);
      const waiting = theirs.lock();
      assert.equal(await mine.unlock(), true);
      await waiting; // woken by the channel, long before the expiry
      assert.equal(await theirs.unlock(), true);
      await Promise.all([first.close(), second.close()]);
    } finally {
      client.disconnect();
    }
  });

  it('operations that cluster clients do not support are refused in one line', async () => {
    for (const [words, status, says] of /** @type {[string[], number, RegExp][]} */ ([
      [['commands', '--storages', 'ioredis-cluster'], 4, /support command/],
      [['mutex', '--storages', 'ioredis-cluster', '--handlers', 'pure'], 2, /script/],
      [['mutex', '--storages', 'valkey-glide-cluster'], 4, /cluster: it does not support lock/],
    ])) {
      assertFailure(await callHere(...words, '--quiet'), status, says);
    }
  });

  for (const { label, definition, profile, skip } of cases) {
    /** @param {TlsFiles} [more] */
    const open = (more) => {
      const { tls } = servers.address(CLUSTER);
      const main = { ...tls, tls: { ...servers.running(CLUSTER).tls, ...more } };
      const address = /** @type {Address} */ ({ main });
      return openRows(definition, { ...context(), address, profile, dataset, folder: '' });
    };

    it(`${label} reads over TLS, and refuses another authority and another name`, {
      skip,
    }, async () => {
      const handle = await open();
      try {
        const read = reader(handle, profile);
        for (const id of [1, 20, 40]) assert.ok(dataset.belongs(id, String(await read(id))));
      } finally {
        await handle.close();
      }
      await assert.rejects(open({ ca: certificatesIn(folder).ca }), { code: 'E_TARGET' });
      await assert.rejects(open({ serverName: 'other.example' }), { code: 'E_TARGET' });
      if (definition.name === 'valkey-glide-cluster') return; // it takes no name
      const named = await open({ serverName: 'localhost' });
      await named.close();
    });
  }

  it('--read-only draws keys from all primaries, and every client reads them', async () => {
    const result = await runHere({
      readOnly: true,
      storages: [...CLUSTER_CLIENTS],
      home: servers.home(),
      load: 'window',
      inFlight: 8,
      ops: 400,
      warmup: 50,
      rounds: 1,
      sample: 1000,
    });
    // The rows, and the mark of Dragstrip's dataset.
    assert.equal(result.ownData?.server, CLUSTER);
    assert.equal(result.ownData?.keys, ROWS.rows + 1);
    for (const { id, rounds } of result.benchmarks) {
      const [{ outcomes, metrics, failure }] = rounds;
      assert.equal(outcomes.ok, 400, `${id}: ${failure?.message}`);
      assert.equal(metrics?.['changed'], 0, id);
    }
    assert.equal(
      result.benchmarks.length,
      CLUSTER_CLIENTS.length - [...missing.values()].filter(Boolean).length,
    );
  });

  for (const name of CLUSTER_CLIENTS) {
    it(`${name} follows ASK while a slot is being moved, and reports it`, {
      skip: missing.get(name),
    }, async () => {
      /** @type {Promise<() => Promise<void>> | undefined} */
      let moving;
      try {
        const result = await runHere(
          {
            ...ROWS,
            storages: [name],
            rate: 200,
            duration: 3000,
            warmup: 100,
            rounds: 1,
            home: servers.home(),
          },
          {
            onEvent(event) {
              if (moving !== undefined || event.type !== 'progress') return;
              if (event.phase !== 'measure' || event.settled < ENOUGH) return;
              moving = moveKey(servers, KEY);
              moving.catch(() => {}); // it is awaited below
            },
          },
        );
        assert.ok(moving !== undefined, 'a key was moved while reading');
        await moving;
        const [{ rounds, id }] = result.benchmarks;
        const [{ outcomes, scheduled, redirects, failure, samples }] = rounds;
        const details = `${JSON.stringify({ outcomes, samples })} ${failure?.message}`;
        assert.equal(outcomes.ok, scheduled, details);
        if (name === 'valkey-glide-cluster') {
          assert.equal(redirects, undefined, 'its core does not tell');
          return;
        }
        assert.ok((redirects?.['ask'] ?? 0) > 0, JSON.stringify(redirects));
        assert.equal(redirects?.['moved'], 0, 'the slot stays where it was');
        const warned = result.warnings.find(({ code }) => code === 'W_REDIRECTED');
        assert.equal(warned?.benchmark, id);
        assert.match(String(warned?.message), /redirected requests: \d+ ASK; /);
      } finally {
        await (await moving)?.();
      }
      const { main } = servers.address(CLUSTER);
      assert.doesNotMatch(String(await call(main, 'CLUSTER', 'NODES')), /\[/, 'no open migration');
      assert.equal((await keysOf(KEY)).flat().length, 1);
    });
  }
});
