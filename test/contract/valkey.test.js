/**
 * Valkey and other products with the protocol of Redis: recognised by INFO, named where a Redis is
 * expected; Valkey itself fetched and started, where the distribution has it.
 */
// Needs: redis

import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { describe, test } from 'node:test';
import { getLoader } from '../../data/loaders/index.js';
import { createDataset } from '../../lib/dataset.js';
import { loadServer, startServers } from '../../servers/index.js';
import { productOf } from '../../servers/redis-family.js';
import {
  addressOf,
  credentialsOf,
  makeHome,
  PACKAGES_HOME,
  withServers,
} from '../helpers/servers.js';
import { casesOf, openRows, reader } from '../helpers/storage-cases.js';

const VALKEY = 'redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.0.2\r\n';

/** @param {string} text */
const bulk = (text) => `$${Buffer.byteLength(text)}\r\n${text}\r\n`;

/**
 * As much of a server as a probe asks.
 * @param {string} info
 * @param {(main: { host: string, port: number }) => Promise<void>} work
 */
async function withProduct(info, work) {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (data) => {
      const text = data.toString().toUpperCase();
      if (text.includes('PING')) socket.write('+PONG\r\n');
      else if (text.includes('INFO')) socket.write(bulk(info));
      else socket.write('*0\r\n'.repeat(text.split('CONFIG').length - 1));
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(null)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  try {
    await work({ host: '127.0.0.1', port });
  } finally {
    server.close();
  }
}

describe('products with the protocol of Redis', () => {
  const servers = withServers(['redis']);

  test('INFO identifies the product', () => {
    for (const [info, product, version] of [
      ['redis_version:7.0.15\r\nexecutable:/usr/bin/redis-server\r\n', 'Redis', '7.0.15'],
      [VALKEY, 'Valkey', '8.0.2'],
      ['garnet_version:1.0.84\r\nos:Unix\r\n', 'Garnet', '1.0.84'],
      ['redis_version:7.0.0\r\nkvrocks_version:2.11.1\r\n', 'Kvrocks', '2.11.1'],
      ['redis_version:7.4.0\r\ndragonfly_version:df-v1.27.1\r\n', 'Dragonfly', '1.27.1'],
      ['redis_version:6.3.4\r\nexecutable:/usr/bin/keydb-server\r\n', 'KeyDB', '6.3.4'],
      ['', 'Redis', 'unknown'],
    ]) {
      assert.deepEqual(productOf(info), { product, version });
    }
  });

  test('another product at the address of Redis is measured, and named', () =>
    withProduct(VALKEY, async (main) => {
      const redis = await loadServer('redis');
      assert.equal((await redis.probe({ main }, {})).version, 'Valkey 8.0.2');
      const valkey = await loadServer('valkey');
      assert.equal((await valkey.probe({ main }, {})).version, '8.0.2');
    }));

  test('a Redis is not accepted as a Valkey', async () => {
    const valkey = await loadServer('valkey');
    const { main } = servers.address('redis');
    await assert.rejects(valkey.probe({ main }, servers.credentials('redis')), {
      code: 'E_TARGET',
      message: /^Valkey at .*: Redis is listening there$/,
      hint: /servers start valkey/,
    });
  });
});

test('Valkey is fetched, started and read by every driver of Redis, also over TLS', async (context) => {
  const home = await makeHome();
  const started = await startServers(['valkey'], {
    home,
    packagesHome: PACKAGES_HOME,
    owned: true,
    tls: true,
  });
  try {
    const [failure] = started.failures;
    if (failure !== undefined) {
      assert.equal(/** @type {any} */ (failure.error).code, 'E_TARGET');
      assert.match(String(/** @type {any} */ (failure.error).hint), /PATH|address/);
      return context.skip(`not on this machine: ${failure.error.message}`);
    }
    const [server] = started.servers;
    const { tls, ...address } = addressOf(server);
    const credentials = credentialsOf(server);
    const secure = { main: { ...tls, tls: server.tls } };
    const dataset = createDataset({ rows: 50, valueSize: 100, seed: 3 });
    await (await getLoader('redis')).seed({ address, credentials, dataset });
    const { version } = await (await loadServer('redis')).probe(address, credentials);
    assert.match(version, /^Valkey \d/);
    for (const name of ['redis', 'ioredis', 'iovalkey', 'valkey-glide', 'hiredis']) {
      for (const { definition, profile, skip, label } of await casesOf(name)) {
        if (skip !== undefined) continue;
        for (const place of definition.tls === true ? [address, secure] : [address]) {
          const context = /** @type {any} */ ({ address: place, credentials, profile, dataset });
          const handle = await openRows(definition, context);
          const read = reader(handle, profile);
          for (const id of [1, 50]) assert.equal(await read(id), dataset.value(id), label);
          await handle.close();
        }
      }
    }
  } finally {
    await started.stop();
    await rm(home, { recursive: true, force: true });
  }
});
