/**
 * Every driver × server × TLS × cluster that exists, from the definitions: the table of
 * docs/drivers.md says the same, and each cell has a test against real servers.
 */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { loadServer } from '../../servers/index.js';
import { loadStorage, STORAGE_NAMES } from '../../storages/index.js';

/** Storage of a server's cells, and the test that compares them with real servers. */
const SUITES = Object.freeze({
  redis: { plain: 'storages', tls: 'tls' },
  mariadb: { plain: 'storages', tls: 'tls' },
  tarantool: { plain: 'storages' },
  cassandra: { plain: 'cassandra' },
  'redis-cluster': { plain: 'storages', tls: 'cluster-workloads' },
});
/** In another runtime, whose test starts it. */
const ELSEWHERE = Object.freeze({ 'bun-redis': 'runtimes' });
/** Products that the same drivers reach under the server that they are bound to. */
const ALSO = Object.freeze({ redis: 'Redis, Valkey', mariadb: 'MariaDB, MySQL' });
const KINDS = /** @type {const} */ (['rows', 'insert', 'lock', 'command']);

const read = (/** @type {string} */ file) =>
  readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');

/** @type {{ name: string, server: string, tls: boolean, kinds: string[] }[]} */
const cells = [];
for (const name of STORAGE_NAMES) {
  const { server, tls = false, open } = await loadStorage(name);
  if (server === null) continue;
  cells.push({ name, server, tls, kinds: KINDS.filter((kind) => open[kind] !== undefined) });
}

/** @param {(typeof cells)[number]} cell */
function suitesOf({ name, server, tls }) {
  const own = /** @type {Record<string, { plain: string, tls?: string }>} */ (SUITES)[server];
  const plain = /** @type {Record<string, string>} */ (ELSEWHERE)[name] ?? own.plain;
  return { plain, tls: tls ? own.tls : null };
}

describe('the matrix of drivers, servers, TLS and cluster', () => {
  test('every driver has a suite on its server, and over TLS if supported', () => {
    for (const cell of cells) {
      const { plain, tls } = suitesOf(cell);
      assert.match(read(`test/contract/${plain}.test.js`), /withServers|startServers|cassandra/);
      assert.notEqual(tls, undefined, `${cell.name}: no suite over TLS on ${cell.server}`);
      if (typeof tls === 'string') assert.match(read(`test/contract/${tls}.test.js`), /tls: true/);
    }
  });

  test('a server without TLS has no driver with TLS in the table', async () => {
    for (const { name, server, tls } of cells) {
      const { tls: serves = false } = /** @type {{ tls?: boolean }} */ (await loadServer(server));
      assert.ok(serves || !tls, `${name} has TLS, ${server} has none`);
    }
  });

  test('docs/drivers.md has the same table', () => {
    const mark = (/** @type {boolean} */ has) => (has ? 'yes' : '–');
    const lines = cells.map((cell) => {
      const { plain, tls } = suitesOf(cell);
      const products = /** @type {Record<string, string>} */ (ALSO)[cell.server] ?? cell.server;
      const kinds = KINDS.map((kind) => mark(cell.kinds.includes(kind)));
      const over = tls === null ? '–' : `yes: \`${tls}\``;
      return `| ${cell.name} | ${products} | \`${plain}\` | ${over} | ${kinds.join(' | ')} |`;
    });
    const text = read('docs/drivers.md');
    const missing = lines.filter((line) => !text.includes(line));
    assert.deepEqual(missing, [], 'lines that docs/drivers.md lacks');
  });

  test('README lists every storage with its profiles', async () => {
    const rows = [
      ...read('README.md').matchAll(/^\| (`[^|]+) \| [^|]+ \| (`[^|]+|as [^|]+) \|$/gm),
    ].map(([, names, profiles]) => ({
      names: [...names.matchAll(/`([\w-]+)`/g)].map(([, name]) => name),
      same: /^as `([\w-]+)`/.exec(profiles)?.[1],
      profiles: profiles.split('; ').flatMap((part) => /^`([\w-]+)`/.exec(part)?.[1] ?? []),
    }));
    const ofRow = (/** @type {string} */ name) => rows.find(({ names }) => names.includes(name));
    for (const name of STORAGE_NAMES) {
      const row = ofRow(name);
      assert.ok(row, `no row of ${name}`);
      const group = row.same === undefined ? row.names : [row.same, ...row.names];
      const shown = row.same === undefined ? row.profiles : ofRow(row.same)?.profiles;
      const own = await Promise.all(group.map(async (one) => (await loadStorage(one)).profiles));
      const all = new Set(own.flatMap((profiles) => Object.keys(profiles)));
      assert.deepEqual([...(shown ?? [])].sort(), [...all].sort(), name);
    }
  });
});
