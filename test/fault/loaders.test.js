/**
 * Loads that are broken off: the server killed or frozen, the loader killed, replies cut into
 * pieces, another protocol at the port. Each gives one clear error, and the next load completes.
 */
// Needs: redis, mariadb, tarantool

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { after, before, beforeEach, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import getPort from 'get-port';
import { getLoader, loaderNames } from '../../data/loaders/index.js';
import { createDataset } from '../../lib/dataset.js';
import { startServers } from '../../servers/index.js';
import { createStores } from '../helpers/loader-stores.js';
import {
  addressOf,
  credentialsOf,
  makeHome,
  PACKAGES_HOME,
  withServers,
} from '../helpers/servers.js';
import { startSlicer } from '../helpers/slicer.js';

/** Many batches, and for MariaDB more than one LOAD DATA (40 MB). */
const OPTIONS = { rows: 2_600, valueSize: 16_000 };
/** Points at which loads are broken off: after the first LOAD DATA, within a batch. */
const BREAK_AT = 2_345;
const SEED_AND_DIE = fileURLToPath(new URL('../helpers/seed-and-die.js', import.meta.url));

/**
 * A dataset that does something at a row: the same point of the load every time.
 * @param {() => void} act
 * @param {number} [at]
 */
function tripping(act, at = BREAK_AT) {
  const dataset = createDataset(OPTIONS);
  let tripped = false;
  /** @type {typeof dataset.write} */
  const write = (id, target, offset) => {
    if (id === at && !tripped) {
      tripped = true;
      act();
    }
    return dataset.write(id, target, offset);
  };
  return { ...dataset, write };
}

describe('interrupted loads', () => {
  after(() => stores?.close());
  const servers = withServers(['redis', 'mariadb', 'tarantool']);

  /** @param {string} name @param {any} [context] */
  async function seedBy(name, context) {
    const loader = await getLoader(name);
    const address = servers.address(loader.server);
    const credentials = servers.credentials(loader.server);
    return loader.seed({ address, credentials, dataset: createDataset(OPTIONS), ...context });
  }

  /** @type {any} */
  let stores;
  before(async () => {
    stores = await createStores(servers);
  });

  for (const name of loaderNames) {
    describe(`loader ${name}`, () => {
      /** @type {string} */
      let server;
      before(async () => {
        server = (await getLoader(name)).server;
      });
      beforeEach(() => stores[name].clear());

      async function assertWhole() {
        const dataset = createDataset(OPTIONS);
        const values = await stores[name].all();
        assert.equal(values.size, dataset.rows);
        for (const [id, value] of values) {
          if (value !== dataset.value(id)) assert.fail(`row ${id} differs`);
        }
      }

      test('A killed loader leaves no dataset; the next one continues at its position', async () => {
        const address = servers.address(server);
        const args = [name, JSON.stringify(address), JSON.stringify(OPTIONS), `${BREAK_AT}`];
        args.push(JSON.stringify(servers.running(server).credentials));
        const child = spawn(process.execPath, [SEED_AND_DIE, ...args], { stdio: 'ignore' });
        const [, signal] = await once(child, 'close');
        assert.equal(signal, 'SIGKILL');
        const loader = await getLoader(name);
        const seen = await loader.inspect({ address, credentials: servers.credentials(server) });
        assert.deepEqual(seen, { dataset: null, notOurs: null });
        let first = Number.POSITIVE_INFINITY;
        const plain = createDataset(OPTIONS);
        /** @type {typeof plain.write} */
        const write = (id, target, offset) => {
          first = Math.min(first, id);
          return plain.write(id, target, offset);
        };
        // The sample is read by value(), which does not pass here.
        const report = await seedBy(name, { dataset: { ...plain, write } });
        assert.deepEqual(report, { rows: OPTIONS.rows, written: true, sampled: 128 });
        assert.ok(first > 1000, `it began again at row ${first}`);
        await assertWhole();
      });

      test('A frozen server is reported after the timeout, and the load can be continued', async () => {
        const { pid } = servers.running(server);
        const dataset = tripping(() => process.kill(pid, 'SIGSTOP'));
        try {
          await assert.rejects(seedBy(name, { dataset, timeoutMs: 300 }), {
            code: 'E_TARGET',
            message: /no reply within 0\.3 s, after \d+ of 2600 rows/,
            hint: /again to continue/,
          });
        } finally {
          process.kill(pid, 'SIGCONT');
        }
        const report = await seedBy(name);
        assert.equal(report.written, true);
        await assertWhole();
      });

      test('Replies in pieces of one to nine bytes are parsed', async () => {
        const { main = /** @type {any} */ (undefined), sql = main } = servers.address(server);
        const slicer = await startSlicer(sql);
        try {
          const address = { main: slicer.endpoint, sql: slicer.endpoint };
          const dataset = createDataset({ rows: 300, valueSize: 600 });
          assert.equal((await seedBy(name, { address, dataset })).written, true);
          assert.equal((await seedBy(name, { address, dataset })).written, false);
        } finally {
          await slicer.close();
        }
      });

      test('A closed port: one line with the address and a hint', async () => {
        const endpoint = { host: '127.0.0.1', port: await getPort({ host: '127.0.0.1' }) };
        const address = { main: endpoint, sql: endpoint };
        await assert.rejects(seedBy(name, { address }), {
          code: 'E_TARGET',
          message: new RegExp(
            `127\\.0\\.0\\.1:${endpoint.port}: cannot connect \\(ECONNREFUSED\\)`,
          ),
          hint: /servers start/,
        });
      });

      for (const [title, greeting, pattern] of /** @type {const} */ ([
        ['speaks HTTP', 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n', /./],
        ['says nothing', '', /no (reply|connection) within|ETIMEDOUT/],
        ['closes at once', null, /./],
      ])) {
        test(`A port where another program ${title} is one E_TARGET line`, async () => {
          const stranger = createServer((socket) => {
            socket.on('error', () => {});
            socket.resume();
            if (greeting === null) socket.end();
            else socket.write(greeting);
          });
          stranger.listen(0, '127.0.0.1');
          await once(stranger, 'listening');
          const { port } = /** @type {import('node:net').AddressInfo} */ (stranger.address());
          const endpoint = { host: '127.0.0.1', port };
          try {
            const address = { main: endpoint, sql: endpoint };
            const dataset = createDataset({ rows: 10 });
            await assert.rejects(
              seedBy(name, { address, dataset, timeoutMs: 300 }),
              (/** @type {any} */ error) => {
                assert.equal(error.code, 'E_TARGET', error.stack);
                assert.ok(error.message.includes(`127.0.0.1:${port}`), error.message);
                assert.match(error.message, pattern);
                assert.doesNotMatch(error.message, /\n/);
                return true;
              },
            );
          } finally {
            stranger.close();
          }
        });
      }

      test('A server killed during the load is one error with the progress', async () => {
        const home = await makeHome();
        const started = await startServers([server], {
          home,
          packagesHome: PACKAGES_HOME,
          owned: true,
        });
        try {
          const [running] = started.servers;
          const dataset = tripping(() => process.kill(running.pid, 'SIGKILL'));
          await assert.rejects(
            seedBy(name, {
              address: addressOf(running),
              credentials: credentialsOf(running),
              dataset,
            }),
            {
              code: 'E_TARGET',
              message: /after \d+ of 2600 rows$/,
              hint: /again to continue/,
            },
          );
        } finally {
          await started.stop();
          await rm(home, { recursive: true, force: true });
        }
      });
    });
  }

  for (const [title, policy, message, hint] of /** @type {const} */ ([
    [
      'is full says so, and goes on when it has room',
      'noeviction',
      /OOM .*after \d+ of 2600 rows/,
      /maxmemory/,
    ],
    ['evicts rows just written is reported', 'allkeys-random', /\d+ of 2600 rows found/, /evicts/],
  ])) {
    test(`A Redis that ${title}`, async () => {
      const client = stores.redisClient;
      await stores.redis.clear();
      const used = Number(/used_memory:(\d+)/.exec(await client.info('memory'))?.[1]);
      await client.config('SET', 'maxmemory-policy', policy);
      await client.config('SET', 'maxmemory', `${used + 20_000_000}`);
      try {
        await assert.rejects(seedBy('redis'), { code: 'E_TARGET', message, hint });
      } finally {
        await client.config('SET', 'maxmemory', '0');
        await client.config('SET', 'maxmemory-policy', 'noeviction');
      }
      if (policy === 'noeviction') assert.equal((await seedBy('redis')).written, true);
    });
  }
});
