/**
 * Records codecs/fixtures/ again from real servers, which it starts and stops:
 * `node test/helpers/record-codec-fixtures.js [server …]`, all by default. To be done where a
 * fixture is added or changed; the contract tests say whether what is stored is still what servers
 * answer.
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { archiveOf, formatArchive } from '../../codecs/archive.js';
import { startServers } from '../../servers/index.js';
import { recordMariadb, recordRedis, recordTarantool } from './codec-recorder.js';
import { recordCassandra } from './codec-recorder-cql.js';
import { addressOf, credentialsOf, PACKAGES_HOME } from './servers.js';

/** @typedef {import('../../lib/types.js').Address} Address */
/** @typedef {import('../../lib/types.js').Credentials} Credentials */
/** @typedef {(address: Address, credentials: Credentials) => Promise<Map<string, Buffer>>} Recorder */

/** @type {Record<string, { protocol: string, record: Recorder | null }>} null: it starts its own */
const SOURCES = {
  mariadb: {
    protocol: 'handlersocket',
    record: ({ sql, read }, credentials) => recordMariadb({ sql, read }, credentials),
  },
  redis: { protocol: 'resp', record: ({ main }, credentials) => recordRedis(main, credentials) },
  tarantool: { protocol: 'messagepack', record: null },
  cassandra: {
    protocol: 'cql',
    record: ({ main }, credentials) => recordCassandra(main, credentials),
  },
};

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(SOURCES);
const home = mkdtempSync(join(tmpdir(), 'dragstrip-codec.'));
const started = await startServers(
  names.filter((name) => SOURCES[name].record !== null),
  { home, packagesHome: PACKAGES_HOME, owned: true },
);

/** @param {string} name of a server */
async function recordFrom(name) {
  const { record } = SOURCES[name];
  const server = started.servers.find((one) => one.name === name);
  if (record === null || server === undefined) return recordTarantool(home);
  const bytes = await record(addressOf(server), credentialsOf(server));
  return { bytes, version: server.version };
}

try {
  if (started.failures.length > 0) throw started.failures[0].error;
  for (const name of names) {
    const { bytes, version } = await recordFrom(name);
    const plain = formatArchive({ recordedFrom: `${name} ${version}`, bytes });
    const packed = brotliCompressSync(plain, {
      params: {
        [constants.BROTLI_PARAM_LGWIN]: 24,
        [constants.BROTLI_PARAM_QUALITY]: 11,
        [constants.BROTLI_PARAM_SIZE_HINT]: plain.length,
      },
    });
    writeFileSync(archiveOf(SOURCES[name].protocol), packed);
    for (const [fixture, { length }] of bytes) console.log(`${name} ${fixture}\t${length} bytes`);
    console.log(`${plain.length} bytes, ${packed.length} compressed`);
  }
} finally {
  await started.stop();
  rmSync(home, { recursive: true, force: true });
}
