/**
 * Records codecs/fixtures/ again from real servers, which it starts and stops: `node
 * test/helpers/record-codec-fixtures.js [server …]`, all by default. Needed when a fixture is added
 * or changed; the contract tests compare stored fixtures with current replies.
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { archiveOf } from '../../codecs/archive.js';
import { largeValue } from '../../codecs/rows.js';
import { startServers } from '../../servers/index.js';
import { recordMariadb, recordRedis, recordTarantool } from './codec-recorder.js';
import { recordCassandra } from './codec-recorder-cql.js';
import { addressOf, credentialsOf, PACKAGES_HOME } from './servers.js';

/** @typedef {import('../../lib/types.js').Address} Address */
/** @typedef {import('../../lib/types.js').Credentials} Credentials */
/**
 * @typedef {(address: Address, credentials: Credentials) => Promise<Map<string, Buffer>>} Recorder
 */

/**
 * @type {Record<string, { protocol: string, record: Recorder | null }>} null: it starts a server
 *   itself
 */
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

/** Rows with a value of 1 KB. */
const LARGE_VALUES = 100;
const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(SOURCES);
const home = mkdtempSync(join(tmpdir(), 'dragstrip-codec.'));
const started = await startServers(
  names.filter((name) => SOURCES[name].record !== null),
  { home, packagesHome: PACKAGES_HOME, owned: true },
);

/** @param {string} name name of a server */
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

/**
 * @param {import('../../codecs/archive.js').Archive} archive
 * @returns {Buffer} uncompressed input of parseArchive
 */
function formatArchive({ recordedFrom, bytes }) {
  const fixtures = [...bytes].map(([name, { length }]) => [name, length]);
  const { rest, values } = withoutLargeValues(Buffer.concat([...bytes.values()]));
  const head = Buffer.from(`${JSON.stringify({ recordedFrom, fixtures, values })}\n`);
  return Buffer.concat([head, rest]);
}

/**
 * @param {Buffer} plain
 * @returns {{ rest: Buffer, values: [number, number][] }} values: number of bytes of `rest` between
 *   the previous value and this one, and its id
 */
function withoutLargeValues(plain) {
  const ids = Array.from({ length: LARGE_VALUES }, (_, i) => i + 1);
  const valuesFound = ids.flatMap((id) => {
    const places = [];
    for (
      let at = plain.indexOf(largeValue(id));
      at >= 0;
      at = plain.indexOf(largeValue(id), at + 1)
    )
      places.push({ at, id });
    return places;
  });
  /** @type {Buffer[]} */
  const parts = [];
  /** @type {[number, number][]} */
  const values = [];
  let from = 0;
  for (const { at, id } of valuesFound.sort((a, b) => a.at - b.at)) {
    parts.push(plain.subarray(from, at));
    values.push([at - from, id]);
    from = at + largeValue(id).length;
  }
  return { rest: Buffer.concat([...parts, plain.subarray(from)]), values };
}
