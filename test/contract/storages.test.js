/** One suite over every storage and profile, against the real servers. */
// Needs: redis, mariadb, tarantool, redis-cluster

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { getLoader } from '../../data/loaders/index.js';
import { createDataset } from '../../lib/dataset.js';
import { MISS, OK } from '../../lib/outcome.js';
import { connectGlide } from '../../storages/glide-client.js';
import { workload } from '../../workloads/get/index.js';
import { workload as mix } from '../../workloads/mix/index.js';
import { withFolder } from '../helpers/folder.js';
import { withServers } from '../helpers/servers.js';
import {
  assertDeclared,
  casesOf,
  closedLoop,
  listCases,
  openRows,
  reader,
  within,
} from '../helpers/storage-cases.js';
import { openRowWriter } from '../helpers/storage-rows.js';

/** @typedef {import('../../lib/types.js').RowsHandle} RowsHandle */

const SERVERS = /** @type {const} */ (['redis', 'mariadb', 'tarantool', 'redis-cluster']);
const LIMIT_MS = 30_000;
const FEW = { ops: 2000, depth: 300 };
/** The driver of Tarantool hung in a closed loop of 2,000 (its issue 44). */
const MANY = { ops: 30_000, depth: 2000 };
/** Ids of rows that a test makes itself, behind those of the dataset. */
const OWN_ID = 900_001;
/** The SQL column has 1,024 characters. */
const SQL_CHARS_MAX = 1024;

const dataset = createDataset({ rows: 200, valueSize: 200, seed: 11 });

/**
 * The tests of `set` leave rows with the version of a mix.
 * @param {number} id
 * @param {unknown} text
 */
function assertRow(id, text) {
  assert.ok(typeof text === 'string' && dataset.matches(id, text), `row ${id}: ${text}`);
}
const example = fileURLToPath(new URL('../../examples/my-driver.js', import.meta.url));
const cases = [...(await listCases()), ...(await casesOf(example))];
// One suite, because hooks at the top of a file do not wait for each other on Node 20.
describe('storages', () => {
  const servers = withServers(SERVERS);
  const folder = withFolder();

  before(
    async () => {
      for (const server of SERVERS) {
        const loader = await getLoader(server);
        await loader.seed({
          address: servers.address(server),
          credentials: servers.credentials(server),
          dataset,
        });
      }
      for (const { definition, skip } of cases) {
        if (skip === undefined) await definition.fill?.({ dataset, folder });
      }
    },
    { timeout: 120_000 },
  );

  const glide = cases.find(({ label }) => label.startsWith('valkey-glide'));
  it('valkey-glide: its limit per request grows with --timeout', {
    skip: glide?.skip,
  }, async () => {
    for (const [timeoutMs, limitMs] of [
      [1000, 5000],
      [60_000, 60_000],
    ]) {
      const client = await connectGlide({
        address: servers.address('redis'),
        credentials: servers.credentials('redis'),
        profile: /** @type {any} */ (glide).profile,
        timeoutMs,
      });
      assert.equal(client.requestTimeout, limitMs);
      client.close();
    }
  });

  for (const { label, definition, profile, skip } of cases) {
    describe(label, { skip }, () => {
      /** @returns {Promise<RowsHandle>} */
      const open = (writes = false) =>
        openRows(definition, {
          writes,
          address: definition.server === null ? {} : servers.address(definition.server),
          credentials: definition.server === null ? {} : servers.credentials(definition.server),
          profile,
          dataset,
          folder,
        });
      /** @param {RowsHandle} handle */
      const close = (handle) => within(handle.close(), LIMIT_MS, `${label}: close`);
      /**
       * @param {{ op: (index: number, done: any) => any }} bound
       * @param {number} index
       * @returns {Promise<any>}
       */
      const ask = (bound, index) =>
        profile.calls === 'callback'
          ? new Promise((resolve, reject) => {
              bound.op(index, (/** @type {any} */ error, /** @type {any} */ reply) =>
                error ? reject(error) : resolve(reply),
              );
            })
          : bound.op(index, undefined);

      describe('rows', () => {
        /** @type {RowsHandle} */
        let handle;
        /** @type {ReturnType<typeof reader>} */
        let read;
        before(async () => {
          handle = await open();
          read = reader(handle, profile);
        });
        after(() => close(handle));

        /** @param {string} title @param {() => any} work */
        const check = (title, work) =>
          it(title, () => within((async () => work())(), LIMIT_MS, label));

        check('has the operations that it declares', () => assertDeclared(definition, handle));

        check('gives every row right, the first and the last too', async () => {
          for (let id = 1; id <= dataset.rows; id += 1) assertRow(id, await read(id));
        });

        check('gives undefined for a row that is not there', async () => {
          for (const id of [0, dataset.rows + 1, 2_000_000_000]) {
            assert.equal(await read(id), undefined, `row ${id}`);
          }
        });

        check('answers 2,000 requests at once, each with its own row', async () => {
          const ids = Array.from({ length: 2000 }, (_, i) => 1 + ((i * 7919) % dataset.rows));
          const values = await Promise.all(ids.map(read));
          for (const [i, value] of values.entries()) assertRow(ids[i], value);
        });

        const { ops, depth } = definition.name === 'tarantool' ? MANY : FEW;
        check(
          `keeps replies and requests together with ${depth} in flight, rows and misses`,
          async () => {
            let seen = 0;
            const rows = dataset.rows * 2; // every second one is a miss
            await closedLoop(read, { ops, depth, rows }, (id, value) => {
              seen += 1;
              if (id <= dataset.rows) assertRow(id, value);
              else assert.equal(value, undefined);
            });
            assert.equal(seen, ops);
          },
        );

        check('passes what the workload verifies, and only that', async () => {
          const about = { seed: 3, ops: 50, options: {} };
          const bound = workload.prepare({ dataset, ...about })(handle);
          const wide = createDataset({ ...dataset, rows: 100_000 });
          const wider = workload.prepare({ dataset: wide, ...about })(handle);
          let misses = 0;
          for (let index = 0; index < 50; index += 1) {
            assert.equal(bound.verify(index, await ask(bound, index), true), OK);
            if (wider.verify(index, await ask(wider, index), true) === MISS) misses += 1;
          }
          assert.ok(misses > 40, `${misses} of 50 are behind the last row`);
        });

        if (definition.server === null) return; // it has only rows of its own
        check('values of all kinds and sizes come as they were written', async () => {
          const server = /** @type {(typeof SERVERS)[number]} */ (definition.server);
          const at = [servers.address(server), servers.login(server)];
          const writer = await openRowWriter(server, .../** @type {[any, any]} */ (at));
          try {
            for (const [title, text] of Object.entries(valuesFor(server))) {
              await writer.put(OWN_ID, Buffer.from(text));
              // Many at once, so that replies are cut by reads in all places.
              const length = text.length > SQL_CHARS_MAX ? 3 : 20;
              const values = await Promise.all(Array.from({ length }, () => read(OWN_ID)));
              for (const value of values) {
                assert.ok(value === text, `${title}: ${text.length} characters differ`);
              }
              assertRow(1, await read(1));
            }
          } finally {
            await writer.close();
          }
        });
      });

      it('writes rows by set if declared, among reads, with the reply verified', {
        skip: definition.rows?.includes('set') ? undefined : 'it does not offer set',
      }, async () => {
        const handle = await open(true);
        const options = { mix: 'get:1,set:1' };
        const bound = mix.prepare({ dataset, seed: 5, ops: 400, options })(handle);
        const asked = Promise.all(Array.from({ length: 400 }, (_, i) => ask(bound, i)));
        const replies = await within(asked, LIMIT_MS, label);
        const { names = [], of = () => -1 } = bound.kinds ?? {};
        const kinds = replies.map((_, i) => names[of(i)]);
        const sets = kinds.filter((kind) => kind === 'set').length;
        assert.ok(sets > 150 && sets < 250, `${sets} of 400 are sets`);
        replies.forEach((reply, i) => {
          assert.equal(bound.verify(i, reply, true), OK, `${kinds[i]} ${i}`);
        });
        const read = reader(handle, profile);
        for (let id = 1; id <= dataset.rows; id += 1) {
          assertRow(id, await read(id));
        }
        await close(handle);
      });

      it('closes with requests in flight, and all of them settle; twice without an error', async () => {
        const handle = await open();
        const read = reader(handle, profile);
        const requests = Array.from({ length: 1000 }, (_, i) => read(1 + (i % dataset.rows)));
        const settled = Promise.allSettled(requests);
        await close(handle);
        const results = await within(settled, LIMIT_MS, `${label}: requests after close`);
        results.forEach((result, i) => {
          if (result.status === 'rejected') {
            assert.ok(result.reason instanceof Error);
          } else {
            assertRow(1 + (i % dataset.rows), result.value);
          }
        });
        await close(handle);
      });
    });
  }
});

/**
 * @param {(typeof SERVERS)[number]} server
 * @returns {Record<string, string>} values by their description
 */
function valuesFor(server) {
  const isSql = server === 'mariadb';
  const wide = 'ሴ😀𝄞漢字😀'.repeat(20);
  return {
    empty: '',
    'all of ASCII, control characters too': range(0x00, 0x7f),
    'characters of two bytes': range(0x80, 0x17f),
    'characters of three bytes': range(0x800, 0x900) + range(0xff01, 0xffee),
    // nvarchar is utf8mb3 in MariaDB
    'characters of three and of four bytes': isSql
      ? wide.replaceAll(/[\u{10000}-\u{10ffff}]/gu, '')
      : wide,
    'what looks like a protocol': '\r\n$-1\r\n+OK\r\n\t\n0\t1\t\u0001\u0041\u0000',
    '1 MB, over SQL what the column has': '漢a'.repeat(isSql ? SQL_CHARS_MAX / 2 : 250_000),
  };
}

/**
 * @param {number} from
 * @param {number} to inclusive
 */
function range(from, to) {
  let text = '';
  for (let code = from; code <= to; code += 1) text += String.fromCharCode(code);
  return text;
}
