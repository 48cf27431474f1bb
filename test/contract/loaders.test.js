/**
 * The loaders against real servers: written rows, untouched rows and refusals. Rows are
 * read back by drivers that the loaders do not use.
 */
// Needs: redis, mariadb, tarantool, redis-cluster

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import getPort from 'get-port';
import { getLoader, loaderNames } from '../../data/loaders/index.js';
import { createDataset, datasetOptions } from '../../lib/dataset.js';
import { sizeOptions } from '../../lib/value-sizes.js';
import { loadServer } from '../../servers/index.js';
import { createStores } from '../helpers/loader-stores.js';
import { PACKAGES_HOME, withServers } from '../helpers/servers.js';

/** Rows that fill several batches, but not the last one. */
const ROWS = 2_500;

describe('loaders', () => {
  // Hooks of a suite run one after another, as written: the clients go before the servers do.
  after(() => stores?.close());
  const servers = withServers(['redis', 'mariadb', 'tarantool', 'redis-cluster']);
  /** @type {any} */
  let stores;
  before(async () => {
    stores = await createStores(servers);
  });

  /**
   * @param {string} name
   * @param {object} [options] options of the dataset
   * @param {object} [more]
   */
  async function seedBy(name, options, more) {
    const loader = await getLoader(name);
    const address = servers.address(loader.server);
    const credentials = servers.credentials(loader.server);
    const dataset = createDataset({ rows: ROWS, ...options });
    return loader.seed({ address, credentials, dataset, ...more });
  }

  for (const name of [...loaderNames, 'redis-cluster']) {
    describe(`loader ${name}`, () => {
      /** @type {import('../../lib/types.js').LoaderDefinition} */
      let loader;
      /** @type {import('../helpers/loader-stores.js').Store} */
      let store;
      before(async () => {
        loader = await getLoader(name);
        store = stores[name];
      });
      beforeEach(() => store.clear());

      /** @param {object} [options] @param {object} [more] */
      async function seed(options, more) {
        const { nodes, ...report } = await seedBy(name, options, more);
        // A cluster has one count per primary.
        const counts = Object.values(nodes ?? {});
        assert.equal(counts.length, loader.name === 'redis-cluster' ? 3 : 0);
        if (nodes !== undefined) {
          assert.equal(
            counts.reduce((sum, count) => sum + count, 0),
            report.rows,
          );
        }
        return report;
      }
      const inspect = () =>
        loader.inspect({
          address: servers.address(loader.server),
          credentials: servers.credentials(loader.server),
        });

      /** @param {object} [options] */
      async function assertHolds(options) {
        const dataset = createDataset({ rows: ROWS, ...options });
        const { rows } = dataset;
        const values = await store.all();
        assert.equal(values.size, rows);
        for (let id = 1; id <= rows; id += 1) {
          if (values.get(id) !== dataset.value(id)) assert.fail(`row ${id} differs`);
        }
        const found = { dataset: datasetOptions(dataset), notOurs: null };
        assert.deepEqual(await inspect(), found);
      }

      test('an empty server has no dataset and no other data', async () => {
        assert.deepEqual(await inspect(), { dataset: null, notOurs: null });
      });

      test('Every row of the dataset is written, no other, and verified the next time', async () => {
        assert.deepEqual(await seed(), { rows: ROWS, written: true, sampled: 128 });
        await assertHolds();
        const before = await store.fingerprint();
        assert.deepEqual(await seed(), { rows: ROWS, written: false, sampled: 128 });
        assert.equal(await store.fingerprint(), before, 'left as it is');
      });

      for (const [title, change] of Object.entries(
        /** @type {Record<string, any>} */ ({
          'another seed': { seed: 7 },
          'another size of values': { valueSize: 300 },
          'fewer rows': { rows: 40 },
          'more rows': { rows: ROWS + 777 },
          'another size, another seed and fewer rows': { valueSize: 2000, seed: 9, rows: 333 },
          'values of several sizes': sizeOptions('zipf:8-30000:0.99'),
        }),
      )) {
        test(`Existing rows of Dragstrip are replaced by ${title}`, async () => {
          await seed();
          const rows = change['rows'] ?? ROWS;
          const report = await seed(change);
          assert.deepEqual(report, { rows, written: true, sampled: Math.min(rows, 128) });
          await assertHolds(change);
        });
      }

      for (const shape of [
        { rows: 1, valueSize: 8 },
        { rows: 127, valueSize: 1025 },
        { rows: 200, valueSize: 21_800 },
        { rows: 64, valueSize: 70_000 },
        { rows: 2, valueSize: 16 * 1024 * 1024 },
        { rows: 900, ...sizeOptions('uniform:8-2000') },
        { rows: 300, ...sizeOptions('hist:8:5,1024:3,70000:1') },
      ]) {
        const size = shape['valueSizes'] ?? shape.valueSize;
        test(`${shape.rows} rows of ${size} characters are written and read`, async () => {
          await seed(shape);
          await assertHolds(shape);
        });
      }

      for (const [title, spoil] of /** @type {const} */ ([
        ['changed behind our back and is sampled', () => store.spoil(1)],
        ['removed behind our back', () => store.remove(1234)],
      ])) {
        test(`A row that was ${title} is written again`, async () => {
          await seed();
          await spoil();
          assert.deepEqual(await seed(), { rows: ROWS, written: true, sampled: 128 });
          await assertHolds();
        });
      }

      test('Progress rises to the number of rows', async () => {
        /** @type {number[]} */
        const progress = [];
        await seed({}, { onProgress: (/** @type {number} */ rows) => progress.push(rows) });
        assert.equal(progress.at(-1), ROWS);
        assert.deepEqual(
          progress,
          progress.toSorted((a, b) => a - b),
        );
      });

      test('Data that Dragstrip did not create is refused and not changed', async () => {
        for (const plant of store.notOurs) {
          await store.clear();
          await plant.make();
          const before = await store.fingerprint();
          await assert.rejects(seed(plant.options), (/** @type {any} */ error) => {
            assert.equal(error.code, 'E_REFUSED', `${plant.title}: ${error.message}`);
            assert.match(error.message, /nothing was changed/);
            assert.ok(error.hint);
            return true;
          });
          assert.equal(await store.fingerprint(), before, plant.title);
          if (plant.seen) assert.match((await inspect()).notOurs ?? '', plant.seen, plant.title);
        }
      });

      test('An aborted load leaves no dataset, and the next one completes it', async () => {
        const controller = new AbortController();
        const dataset = createDataset({ rows: ROWS });
        /** @type {typeof dataset.write} */
        const write = (id, target, offset) => {
          if (id === 1500) controller.abort();
          return dataset.write(id, target, offset);
        };
        const stopped = seed({}, { dataset: { ...dataset, write }, signal: controller.signal });
        await assert.rejects(stopped, {
          code: 'E_ABORTED',
          message: /stopped, after \d+ of 2500 rows/,
        });
        assert.deepEqual(await inspect(), { dataset: null, notOurs: null });
        assert.equal((await seed()).written, true);
        await assertHolds();
      });

      test('A signal that is already aborted prevents any write', async () => {
        const before = await store.fingerprint();
        await assert.rejects(seed({}, { signal: AbortSignal.abort() }), { code: 'E_ABORTED' });
        assert.equal(await store.fingerprint(), before);
      });

      test('A server off loopback is refused before anything connects to it', async () => {
        const endpoint = { host: '192.0.2.1', port: 6379 };
        const elsewhere = seed({}, { address: { main: endpoint, sql: endpoint } });
        await assert.rejects(elsewhere, {
          code: 'E_REFUSED',
          message: /192\.0\.2\.1:6379/,
          hint: /--allow-target 192\.0\.2\.1:6379/,
        });
      });
    });
  }

  describe('MariaDB alone', () => {
    const seed = (/** @type {object} */ options, more = {}) => seedBy('mysql', options, more);
    /** @param {object} options */
    const assertKept = (options) =>
      assert.rejects(seed(options, { timeoutMs: 2000 }), {
        code: 'E_TARGET',
        message: /holds the table open/,
        hint: /HandlerSocket/,
      });
    beforeEach(() => stores.mysql.clear());

    test('The table is that of the original program', async () => {
      await seed({});
      const [[{ 'Create Table': sql }]] = await stores.sql.query(
        'SHOW CREATE TABLE hs_test.table_test',
      );
      assert.match(sql, /`id` int\(11\) NOT NULL AUTO_INCREMENT/);
      assert.match(sql, /`str` varchar\(1024\) CHARACTER SET utf8mb3/);
      assert.match(sql, /PRIMARY KEY \(`id`\)/);
    });

    test('Without LOAD DATA LOCAL the rows are inserted, the same', async () => {
      await seed({});
      const loaded = await stores.mysql.fingerprint();
      await stores.mysql.clear();
      await stores.sql.query('SET GLOBAL local_infile = 0');
      try {
        assert.equal((await seed({})).written, true);
      } finally {
        await stores.sql.query('SET GLOBAL local_infile = 1');
      }
      assert.equal(await stores.mysql.fingerprint(), loaded);
    });

    test('A transaction that holds the table is named as the cause, after a bounded wait', async () => {
      await seed({});
      await stores.sql.query('START TRANSACTION');
      await stores.sql.query('SELECT id FROM hs_test.table_test LIMIT 1');
      try {
        await assertKept({ seed: 2 });
      } finally {
        await stores.sql.query('ROLLBACK');
      }
      assert.equal((await seed({ seed: 2 })).written, true);
    });

    test('A value that does not fit a packet is refused before anything is written', async () => {
      await seed({});
      const before = await stores.mysql.fingerprint();
      await stores.sql.query('SET GLOBAL max_allowed_packet = 1048576');
      try {
        const large = seed({ rows: 1, valueSize: 2 * 1024 * 1024 });
        await assert.rejects(large, { code: 'E_TARGET', message: /max_allowed_packet/ });
      } finally {
        await stores.sql.query('SET GLOBAL max_allowed_packet = 67108864');
      }
      assert.equal(await stores.mysql.fingerprint(), before);
    });

    test('A wrong password is reported in one line that does not show it', async () => {
      const credentials = { user: 'nobody', password: 'a-secret' };
      await assert.rejects(seed({}, { credentials }), (/** @type {any} */ error) => {
        assert.equal(error.code, 'E_TARGET');
        assert.match(error.message, /Access denied/);
        assert.doesNotMatch(`${error.message} ${error.hint}`, /a-secret/);
        return true;
      });
    });

    test('A HandlerSocket client that has the table open is named as the cause', async () => {
      await seed({});
      const { read } = servers.address('mariadb');
      const socket = connect(/** @type {any} */ (read));
      await once(socket, 'connect');
      try {
        socket.write(`A\t1\t${servers.credentials('mariadb').secret}\n`);
        await once(socket, 'data');
        socket.write('P\t1\ths_test\ttable_test\tPRIMARY\tid,str\n1\t=\t1\t1\n');
        await once(socket, 'data');
        await assertKept({ seed: 3 });
      } finally {
        socket.destroy();
      }
      assert.equal((await seed({ seed: 3 })).written, true);
    });
  });

  describe('Tarantool alone', () => {
    test('A Tarantool that was not started from box.lua is not changed, also with a password', async () => {
      const binaries = await (await loadServer('tarantool')).find(PACKAGES_HOME);
      assert.ok(binaries);
      const folder = await mkdtemp(join(tmpdir(), 'dragstrip-'));
      const port = await getPort({ host: '127.0.0.1' });
      const script = join(folder, 'plain.lua');
      await writeFile(
        script,
        `box.cfg{listen = '127.0.0.1:${port}', memtx_dir = '${folder}', wal_mode = 'none'}\n` +
          "box.schema.user.create('somebody', {password = 'a-secret'})\n" +
          `io.stdout:write('up\\n') io.stdout:flush()\n`,
      );
      const env = { ...process.env, ...binaries.env };
      const child = spawn(binaries.programs['tarantool'], [script], { env, cwd: folder });
      try {
        await once(child.stdout, 'data');
        const loader = await getLoader('tarantool');
        const address = { main: { host: '127.0.0.1', port } };
        const context = { address, credentials: {}, dataset: createDataset({ rows: 10 }) };
        await assert.rejects(loader.seed(context), { code: 'E_TARGET', hint: /box\.lua/ });
        assert.deepEqual(await loader.inspect(context), { dataset: null, notOurs: null });
        const known = { user: 'somebody', password: 'a-secret' };
        const entered = loader.seed({ ...context, credentials: known });
        await assert.rejects(entered, { code: 'E_TARGET', hint: /box\.lua/ });
        const wrong = { user: 'somebody', password: 'another-secret' };
        await assert.rejects(
          loader.seed({ ...context, credentials: wrong }),
          (/** @type {any} */ error) => {
            assert.match(error.message, /Incorrect password/);
            assert.doesNotMatch(`${error.message} ${error.hint}`, /another-secret/);
            return true;
          },
        );
      } finally {
        child.kill('SIGKILL');
        await once(child, 'close');
        await rm(folder, { recursive: true, force: true });
      }
    });
  });

  describe('Redis alone', () => {
    test('A password is used, and its absence reported with a hint', async () => {
      await stores.redis.clear();
      await assert.rejects(seedBy('redis', { rows: 10 }, { credentials: {} }), {
        code: 'E_TARGET',
        message: /NOAUTH/,
        hint: /DRAGSTRIP_REDIS_PASSWORD/,
      });
      assert.equal((await seedBy('redis', { rows: 10 })).written, true);
    });
  });

  test('A loader is found by its name and by its server', async () => {
    assert.equal((await getLoader('mysql')).name, 'mysql');
    assert.equal((await getLoader('mariadb')).name, 'mysql');
    await assert.rejects(getLoader('oracle'), {
      code: 'E_USAGE',
      hint: /redis, mysql, tarantool/,
    });
    await assert.rejects(getLoader('constructor'), { code: 'E_USAGE' });
  });
});
