/**
 * TLS: servers started with certificates of their own, every driver that has it, loaders and
 * commands; what is not verified is refused.
 */

import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { getLoader } from '../../data/loaders/index.js';
import { relayTo } from '../../engine/check/relay.js';
import { formatPlace } from '../../lib/address.js';
import { createDataset } from '../../lib/dataset.js';
import { certificatesIn, makeCertificates } from '../../servers/certificates.js';
import { loadServer } from '../../servers/index.js';
import { assertFailure, runCommand } from '../helpers/command-line.js';
import { withFolder } from '../helpers/folder.js';
import { openRedis, openSql } from '../helpers/own-clients.js';
import { withServers } from '../helpers/servers.js';
import { listCases, openRows, reader, within } from '../helpers/storage-cases.js';

/** @typedef {import('../../lib/types.js').TlsFiles} TlsFiles */

const LIMIT_MS = 30_000;
const example = fileURLToPath(new URL('../../examples/my-driver.js', import.meta.url));
const dataset = createDataset({ rows: 300, valueSize: 100, seed: 5 });
/** Those of one server; clients of a cluster: cluster-workloads.test.js. */
const SERVERS = ['redis', 'mariadb'];
const cases = (await listCases()).filter(
  ({ definition }) => definition.tls === true && SERVERS.includes(String(definition.server)),
);

describe('TLS', () => {
  const servers = withServers(['redis', 'mariadb'], { tls: true });
  const folder = withFolder();

  /** @param {string} name @param {TlsFiles} [more] */
  const addressOf = (name, more = {}) => {
    const { tls, ...plain } = servers.address(name);
    const endpoint = { ...tls, tls: { ...servers.running(name).tls, ...more } };
    const main = name === 'mariadb' ? 'sql' : 'main';
    return /** @type {import('../../lib/types.js').Address} */ ({ ...plain, [main]: endpoint });
  };
  /** @param {string} name @param {TlsFiles} [more] */
  const contextOf = (name, more) => ({
    address: addressOf(name, more),
    credentials: servers.credentials(name),
  });

  before(
    async () => {
      await makeCertificates(folder); // of an authority that no server here knows
      for (const name of ['redis', 'mariadb']) {
        const loader = await getLoader(name);
        await loader.seed({ ...contextOf(name), dataset });
      }
    },
    { timeout: 120_000 },
  );

  it('there are drivers with it of both servers', () => {
    const names = new Set(cases.map(({ definition }) => definition.name));
    const known = ['redis', 'ioredis', 'mysql2', 'mariadb', 'mysql', 'iovalkey', 'valkey-glide'];
    assert.deepEqual([...names], known);
  });

  for (const { label, definition, profile, skip } of cases) {
    const server = /** @type {string} */ (definition.server);
    /** @param {TlsFiles} [more] */
    const open = (more) =>
      openRows(definition, { ...contextOf(server, more), profile, dataset, folder: '' });

    it(`${label} reads the rows over it`, { skip }, async () => {
      const before = await encrypted(server);
      const handle = await open();
      try {
        const read = reader(handle, profile);
        for (const id of [1, 150, 300]) {
          assert.ok(dataset.belongs(id, String(await within(read(id), LIMIT_MS, label))));
        }
        assert.ok((await encrypted(server)) > before, 'the server counted no encrypted connection');
      } finally {
        await handle.close();
      }
    });

    it(`${label} rejects what is in flight when the connection is lost`, { skip }, async () => {
      const { address, ...context } = contextOf(server);
      const relay = await relayTo(address);
      try {
        const near = { ...context, address: relay.address, profile, dataset, folder: '' };
        const handle = await openRows(definition, near);
        try {
          const read = reader(handle, profile);
          await within(read(1), LIMIT_MS, label);
          const arrived = relay.freeze();
          const requests = Promise.allSettled(Array.from({ length: 50 }, (_, i) => read(i + 1)));
          await within(arrived, LIMIT_MS, 'sending'); // GLIDE has a thread that sends them
          relay.cut();
          const settled = await within(requests, LIMIT_MS, 'in flight');
          const late = await within(Promise.allSettled([read(1)]), LIMIT_MS, 'after the loss');
          for (const one of [...settled, ...late]) {
            assert.equal(one.status, 'rejected');
            assert.equal(typeof one.reason.code, 'string', String(one.reason));
          }
        } finally {
          await within(handle.close(), LIMIT_MS, 'close'); // or GLIDE keeps this process
        }
      } finally {
        relay.close();
      }
    });

    it(`${label} refuses a server of another authority`, { skip }, async () => {
      await assert.rejects(open({ ca: certificatesIn(folder).ca }), { code: 'E_TARGET' });
    });

    // mysql does not compare names: docs/tls.md.
    const comparesNames = definition.name !== 'mysql';
    it(`${label} refuses a server of another name`, { skip: skip ?? !comparesNames }, async () => {
      await assert.rejects(open({ serverName: 'other.example' }), { code: 'E_TARGET' });
      if (definition.name === 'valkey-glide') return; // it takes no name
      const handle = await open({ serverName: 'localhost' });
      await handle.close();
    });
  }

  /** @param {string} server @returns {Promise<number>} encrypted connections, of Redis now open */
  async function encrypted(server) {
    if (server === 'mariadb') {
      const connection = await openSql(servers);
      const [rows] = await connection.query("SHOW GLOBAL STATUS LIKE 'Ssl_accepts'");
      connection.destroy();
      return Number(/** @type {any} */ (rows)[0].Value);
    }
    const { tls } = servers.address('redis');
    const client = openRedis(servers);
    const clients = String(await client.client('LIST'));
    client.disconnect();
    return clients.split(` laddr=127.0.0.1:${tls.port} `).length - 1;
  }

  it('private keys are of the owner alone, and that of the authority is gone', () => {
    for (const name of servers.names) {
      const inside = path.join(servers.running(name).folder, 'tls');
      const names = readdirSync(inside).sort();
      assert.deepEqual(names, ['ca.crt', 'client.crt', 'client.key', 'server.crt', 'server.key']);
      assert.equal(statSync(inside).mode & 0o077, 0);
      for (const key of ['client.key', 'server.key']) {
        assert.equal(statSync(path.join(inside, key)).mode & 0o077, 0, key);
      }
    }
  });

  it('a certificate of a client is verified by the server', async () => {
    const { probe } = await loadServer('redis');
    const own = certificatesIn(servers.running('redis').folder).client;
    const { version } = await probe(addressOf('redis', own), servers.credentials('redis'));
    assert.match(version, /^\d/);
    const other = certificatesIn(folder).client;
    await assert.rejects(probe(addressOf('redis', other), servers.credentials('redis')), {
      code: 'E_TARGET',
    });
  });

  it('a probe says what is wrong with a certificate, and with an address without TLS', async () => {
    const { probe } = await loadServer('redis');
    const { ca } = certificatesIn(folder);
    await assert.rejects(probe(addressOf('redis', { ca }), servers.credentials('redis')), {
      code: 'E_TARGET',
      message: /its certificate is not accepted/,
      hint: /--tls-ca/,
    });
    const { main } = servers.address('redis');
    const wrong = { main: { ...main, tls: {} } };
    await assert.rejects(probe(/** @type {any} */ (wrong), servers.credentials('redis')), {
      code: 'E_TARGET',
      message: /(does not answer to|has no) TLS/,
    });
  });

  it('--tls both runs each driver with and without it, --tls on those that have it', async () => {
    const home = servers.home();
    const { password } = servers.credentials('redis');
    const tls = formatPlace(servers.address('redis')['tls']);
    const env = {
      DRAGSTRIP_HOME: home,
      DRAGSTRIP_REDIS: `${formatPlace(servers.address('redis')['main'])},rediss://${tls}`,
      DRAGSTRIP_REDIS_PASSWORD: String(password),
      DRAGSTRIP_TLS_CA: String(servers.running('redis').tls?.ca),
    };
    const sizes = ['--rows', '300', '--value-size', '100', '--seed', '5', '--ops', '500'];
    const words = ['bin/dragstrip.js', 'run', ...sizes, '--json', 'r.json', '--force', '--quiet'];
    const run = async (/** @type {string[]} */ ...more) => {
      const ended = await runCommand(folder, [...words, ...more], { env });
      assert.equal(ended.status, 0, ended.stderr);
      const result = JSON.parse(readFileSync(path.join(folder, 'r.json'), 'utf8'));
      assert.equal(result.state, 'complete');
      return result;
    };
    const both = await run('--tls', 'both', '--storages', `redis:tuned,ioredis,memory,${example}`);
    const labels = both.storages.map((/** @type {any} */ one) => `${one.name}:${one.profile}`);
    assert.deepEqual(labels, [
      ...['redis:tuned', 'redis:tuned-tls', 'ioredis:default', 'ioredis:tls'],
      ...['memory:default', 'my-driver:default'],
    ]);
    assert.equal(both.storages[1].options.tls, true);
    for (const { id, state } of both.benchmarks) assert.equal(state, 'measured', id);
    const on = await run('--tls', 'on', '--storages', 'ioredis,memory');
    assert.equal(on.storages[0].profile, 'tls');
    const lacking = await runCommand(folder, [...words, '--tls', 'on', '--storages', example], {
      env,
    });
    assertFailure(lacking, 4, /has no TLS, which --tls on asks for/);
    const { DRAGSTRIP_REDIS: _both, ...others } = env;
    const plain = { ...others, DRAGSTRIP_REDIS: env.DRAGSTRIP_REDIS.split(',')[0] };
    const none = [...words, '--tls', 'on', '--storages', 'ioredis'];
    assertFailure(
      await runCommand(folder, none, { env: plain }),
      4,
      /no encrypted address of redis is known/,
    );
  });

  it('a race by a URL of the environment, and what cannot encrypt is left out', async () => {
    const { password } = servers.credentials('redis');
    const { ca = '' } = servers.running('redis').tls ?? {};
    const home = mkdtempSync(path.join(folder, 'home-'));
    const copied = path.join(home, 'ca.pem');
    copyFileSync(ca, copied);
    const url = `rediss://default:${password}@${formatPlace(servers.address('redis')['tls'])}`;
    const env = { DRAGSTRIP_HOME: home, DRAGSTRIP_REDIS: url, DRAGSTRIP_TLS_CA: copied };
    const sizes = ['--rows', '300', '--value-size', '100', '--seed', '5'];
    const words = ['bin/dragstrip.js', 'run', '--ops', '500', ...sizes, '--quiet'];
    const good = await runCommand(home, [...words, '--storages', 'ioredis,redis'], { env });
    assert.equal(good.status, 0, good.stderr);
    assert.ok(!`${good.stdout}${good.stderr}`.includes(String(password)));
    const lacking = await runCommand(home, [...words, '--storages', example], { env });
    assertFailure(lacking, 4, /my-driver: \S+ has no TLS/);
    const { DRAGSTRIP_TLS_CA: _ca, ...without } = env;
    const refused = await runCommand(home, [...words, '--storages', 'ioredis'], { env: without });
    assertFailure(refused, 4, /certificate is not accepted/);
  });
});
