/**
 * TLS: servers started with certificates of their own, every driver that has it, loaders and
 * commands; unverified certificates are refused.
 */
// Needs: redis, mariadb

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { getLoader } from '../../data/loaders/index.js';
import { relayTo } from '../../engine/check/relay.js';
import { formatPlace } from '../../lib/address.js';
import { createDataset } from '../../lib/dataset.js';
import { encodeHandshake } from '../../protocols/mysql/handshake.js';
import { certificatesIn, makeCertificates } from '../../servers/certificates.js';
import { loadServer } from '../../servers/index.js';
import { assertFailure, callIn } from '../helpers/command-line.js';
import { withFolder } from '../helpers/folder.js';
import { openRedis, openSql } from '../helpers/own-clients.js';
import { withServers } from '../helpers/servers.js';
import { listCases, openRows, reader, within } from '../helpers/storage-cases.js';

/** @typedef {import('../../lib/types.js').TlsFiles} TlsFiles */

const LIMIT_MS = 30_000;
const example = fileURLToPath(new URL('../../examples/my-driver.js', import.meta.url));
const dataset = createDataset({ rows: 300, valueSize: 100, seed: 5 });
/** Single servers; for clients of a cluster see cluster-workloads.test.js. */
const SERVERS = ['redis', 'mariadb'];
const cases = (await listCases()).filter(
  ({ definition }) => definition.tls === true && SERVERS.includes(String(definition.server)),
);

const LOGIN = Object.freeze({ user: 'a-user-of-ours', password: 'a-password-of-ours' });
/** MySQL's packet before encryption: a header, and flags. */
const SSL_REQUEST_BYTES = 4 + 32;

/** @param {{ encrypts?: boolean }} [how] @returns {Buffer} the first packet of MariaDB */
function sqlGreeting({ encrypts = true } = {}) {
  const version = '11.8.2-MariaDB'; // from 11.4.1 on mariadb may take any certificate
  const salt = Buffer.from('saltsaltsaltsaltsalt');
  const greeting = encodeHandshake({ version, charset: 45, salt });
  const lowFlags = 4 + 1 + version.length + 1 + 4 + 8 + 1;
  if (encrypts) greeting[lowFlags + 1] |= 0x08; // CLIENT_SSL is 0x0800
  return greeting;
}

/**
 * Listeners in place of a server, with a certificate that the client trusts; authority: null: it
 * has no reason to; of: the only server that has it.
 * @type {Record<string, { says: RegExp, of?: string, greeting?: Buffer, authority?: null,
 *   days?: string } & import('node:tls').SecureContextOptions>}
 */
const STRANGERS = {
  'an expired certificate': { days: '-1', says: /expired/i },
  'TLS 1.1': {
    minVersion: 'TLSv1',
    maxVersion: 'TLSv1.1',
    ciphers: 'DEFAULT@SECLEVEL=0',
    says: /TLS 1\.2/,
  },
  'a server without TLS': {
    of: 'mariadb',
    greeting: sqlGreeting({ encrypts: false }),
    says: /ssl|secure/i,
  },
  'a certificate that nobody vouches for': { authority: null, says: /self.signed/i },
};

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

  /** @type {import('node:net').Server[]} */
  const strangers = [];
  after(() => strangers.map((one) => one.close()));

  /**
   * @param {string} server in whose place it answers: MariaDB's encryption begins after a greeting
   * @param {keyof typeof STRANGERS} kind
   * @returns {Promise<{ context: any, plain: Buffer[], deciphered: () => number }>} context: to
   *   open it; plain: bytes received without encryption; deciphered: number of bytes with
   */
  async function stranger(server, kind) {
    const { greeting = sqlGreeting(), authority, days = '9', ...options } = STRANGERS[kind];
    const [cert, key] = selfSigned(kind, days);
    /** @type {Buffer[]} */
    const plain = [];
    let deciphered = 0;
    const encrypted = createTlsServer({
      ...options,
      cert: readFileSync(cert),
      key: readFileSync(key),
    });
    encrypted.on('tlsClientError', () => {});
    encrypted.on('secureConnection', (socket) => {
      socket.on('error', () => {}).on('data', ({ length }) => void (deciphered += length));
    });
    const listener =
      server === 'redis'
        ? encrypted
        : createServer((socket) => {
            socket.on('error', () => {}).write(greeting);
            socket.on('readable', function take() {
              const bytes = socket.read(SSL_REQUEST_BYTES) ?? socket.read();
              if (bytes === null) return;
              plain.push(bytes);
              if (bytes.length < SSL_REQUEST_BYTES) return;
              socket.off('readable', take);
              encrypted.emit('connection', socket);
            });
          });
    strangers.push(listener);
    await once(listener.listen(0, '127.0.0.1'), 'listening');
    const { port } = /** @type {import('node:net').AddressInfo} */ (listener.address());
    const tls = authority === null ? {} : { ca: cert };
    const endpoint = { host: '127.0.0.1', port, tls };
    const address = server === 'redis' ? { main: endpoint } : { sql: endpoint };
    const context = { address, credentials: LOGIN, dataset, folder: '' };
    return { context, plain, deciphered: () => deciphered };
  }

  /** @param {string} kind @param {string} days @returns {[string, string]} certificate and key */
  function selfSigned(kind, days) {
    const name = kind.replaceAll(' ', '-');
    const files = ['crt', 'key'].map((end) => path.join(folder, `${name}.${end}`));
    if (existsSync(files[0])) return /** @type {[string, string]} */ (files);
    const openssl = (/** @type {string} */ words) =>
      execFileSync('openssl', words.split(' '), { cwd: folder, stdio: 'ignore' });
    writeFileSync(path.join(folder, 'own.cnf'), 'subjectAltName=IP:127.0.0.1,DNS:localhost');
    openssl(
      `req -new -newkey rsa:2048 -nodes -keyout ${name}.key -out own.csr -subj /CN=localhost`,
    );
    const signed = `-signkey ${name}.key -extfile own.cnf -out ${name}.crt`;
    openssl(`x509 -req -days ${days} -in own.csr ${signed}`);
    return /** @type {[string, string]} */ (files);
  }

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

  it('both servers have drivers with it', () => {
    const names = new Set(cases.map(({ definition }) => definition.name));
    const known = ['redis', 'ioredis', 'mysql2', 'mariadb', 'mysql', 'iovalkey', 'valkey-glide'];
    assert.deepEqual([...names], known);
  });

  it('a client that allows TLS 1.1 is answered by the stand-in for it', async () => {
    const { context } = await stranger('redis', 'TLS 1.1');
    const { host, port, tls } = context.address.main;
    const ca = readFileSync(tls.ca);
    const old = { minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' };
    const socket = connectTls({ host, port, ca, .../** @type {any} */ (old) });
    await once(socket, 'secureConnect');
    assert.equal(socket.getProtocol(), 'TLSv1.1');
    socket.destroy();
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

    it(`${label} rejects requests in flight when the connection is lost`, { skip }, async () => {
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

    for (const [kind, { says, of }] of Object.entries(STRANGERS)) {
      if (of !== undefined && of !== server) continue;
      it(`${label} refuses ${kind}`, { skip }, async () => {
        const { context, plain, deciphered } = await stranger(
          server,
          /** @type {keyof typeof STRANGERS} */ (kind),
        );
        const opened = openRows(definition, { ...context, profile });
        await assert.rejects(within(opened, LIMIT_MS, label), (/** @type {any} */ error) => {
          assert.equal(error.code, 'E_TARGET');
          // The core of GLIDE gives no reason.
          assert.match(error.message, definition.name === 'valkey-glide' ? /timed out/ : says);
          assert.doesNotMatch(error.message, /\n/);
          return true;
        });
        assert.equal(deciphered(), 0, 'it was sent something over TLS');
        // The request for encryption has no name and no password.
        for (const bytes of plain) {
          assert.equal(bytes.length, SSL_REQUEST_BYTES);
          assert.ok(!bytes.includes(LOGIN.user));
        }
      });
    }

    // mysql does not compare names: docs/servers.md.
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

  it('private keys are accessible to the owner only, and that of the authority is deleted', () => {
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

  it('a probe reports the fault of a certificate, and an address without TLS', async () => {
    const { probe } = await loadServer('redis');
    const { ca } = certificatesIn(folder);
    await assert.rejects(probe(addressOf('redis', { ca }), servers.credentials('redis')), {
      code: 'E_TARGET',
      message: /its certificate is not accepted/,
      hint: /--tls-ca/,
    });
    await assert.rejects(
      probe((await stranger('redis', 'an expired certificate')).context.address, {}),
      {
        code: 'E_TARGET',
        message: /its certificate is not accepted \(CERT_HAS_EXPIRED\)/,
        hint: /renew/,
      },
    );
    await assert.rejects(probe((await stranger('redis', 'TLS 1.1')).context.address, {}), {
      code: 'E_TARGET',
      message: /: the server there does not support TLS 1\.2 or later$/,
    });
    const { main } = servers.address('redis');
    const wrong = { main: { ...main, tls: {} } };
    await assert.rejects(probe(/** @type {any} */ (wrong), servers.credentials('redis')), {
      code: 'E_TARGET',
      message: /(does not reply to|does not support) TLS/,
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
    const sizes = [
      '--rows',
      '300',
      '--value-size',
      '100',
      '--seed',
      '5',
      '--ops',
      '500',
      '--warmup',
      '50',
    ];
    const words = ['bin/dragstrip.js', 'run', ...sizes, '--json', 'r.json', '--force', '--quiet'];
    const run = async (/** @type {string[]} */ ...more) => {
      const ended = await callIn(folder, [...words, ...more], { env });
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
    const lacking = await callIn(folder, [...words, '--tls', 'on', '--storages', example], {
      env,
    });
    assertFailure(lacking, 4, /has no TLS, which --tls on requires/);
    const { DRAGSTRIP_REDIS: _both, ...others } = env;
    const plain = { ...others, DRAGSTRIP_REDIS: env.DRAGSTRIP_REDIS.split(',')[0] };
    const none = [...words, '--tls', 'on', '--storages', 'ioredis'];
    assertFailure(
      await callIn(folder, none, { env: plain }),
      4,
      /no encrypted address of redis is configured/,
    );
  });

  it('a race by a URL in the environment; drivers without TLS are left out', async () => {
    const { password } = servers.credentials('redis');
    const { ca = '' } = servers.running('redis').tls ?? {};
    const home = mkdtempSync(path.join(folder, 'home-'));
    const copied = path.join(home, 'ca.pem');
    copyFileSync(ca, copied);
    const url = `rediss://default:${password}@${formatPlace(servers.address('redis')['tls'])}`;
    const env = { DRAGSTRIP_HOME: home, DRAGSTRIP_REDIS: url, DRAGSTRIP_TLS_CA: copied };
    const sizes = ['--rows', '300', '--value-size', '100', '--seed', '5'];
    const few = ['--ops', '500', '--warmup', '50'];
    const words = ['bin/dragstrip.js', 'run', ...few, ...sizes, '--quiet'];
    const good = await callIn(home, [...words, '--storages', 'ioredis,redis'], { env });
    assert.equal(good.status, 0, good.stderr);
    assert.ok(!`${good.stdout}${good.stderr}`.includes(String(password)));
    const lacking = await callIn(home, [...words, '--storages', example], { env });
    assertFailure(lacking, 4, /my-driver: \S+ has no TLS/);
    const { DRAGSTRIP_TLS_CA: _ca, ...without } = env;
    const refused = await callIn(home, [...words, '--storages', 'ioredis'], { env: without });
    assertFailure(refused, 4, /certificate is not accepted/);
  });
});
