/**
 * Records codecs/fixtures.br again from real servers, which it starts and stops:
 * `node test/helpers/record-codec-fixtures.js`. To be done where a fixture is added or changed; the
 * contract test says whether what is stored is still what servers answer.
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { ARCHIVE, formatArchive } from '../../codecs/fixtures.js';
import { startServers } from '../../servers/index.js';
import { recordMariadb, recordRedis, recordTarantool } from './codec-recorder.js';
import { addressOf, credentialsOf, PACKAGES_HOME } from './servers.js';

const home = mkdtempSync(join(tmpdir(), 'dragstrip-codec.'));
const started = await startServers(['redis', 'mariadb'], {
  home,
  packagesHome: PACKAGES_HOME,
  owned: true,
});
try {
  if (started.failures.length > 0) throw started.failures[0].error;
  const [redis, mariadb] = ['redis', 'mariadb'].map((name) => {
    const server = started.servers.find((one) => one.name === name);
    if (server === undefined) throw new Error(`${name} was not started`);
    const [address, credentials] = [addressOf(server), credentialsOf(server)];
    return { version: server.version, address, credentials };
  });
  const packets = await recordTarantool(home);
  const bytes = new Map();
  const keep = (/** @type {string} */ protocol, /** @type {Map<string, Buffer>} */ recorded) => {
    for (const [name, each] of recorded) bytes.set(`${protocol}/${name}`, each);
  };
  const { sql, read } = mariadb.address;
  keep('handlersocket', await recordMariadb({ sql, read }, mariadb.credentials));
  keep('resp', await recordRedis(redis.address.main, redis.credentials));
  keep('messagepack', packets.bytes);
  const from = { redis: redis.version, mariadb: mariadb.version, tarantool: packets.version };
  const plain = formatArchive(from, bytes);
  const packed = brotliCompressSync(plain, {
    params: {
      [constants.BROTLI_PARAM_LGWIN]: 24,
      [constants.BROTLI_PARAM_QUALITY]: 11,
      [constants.BROTLI_PARAM_SIZE_HINT]: plain.length,
    },
  });
  writeFileSync(ARCHIVE, packed);
  for (const [name, { length }] of bytes) console.log(`${name}\t${length} bytes`);
  console.log(`${plain.length} bytes, ${packed.length} compressed`);
} finally {
  await started.stop();
  rmSync(home, { recursive: true, force: true });
}
