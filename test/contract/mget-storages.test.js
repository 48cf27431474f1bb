/**
 * Every storage that reads many keys in one request, in a namespace of its own, against the real
 * servers: values in the order of their keys, misses in their names, rows removed without a trace.
 */
// Needs: redis, mariadb, tarantool, redis-cluster

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { getLoader } from '../../data/loaders/index.js';
import { openNamespace } from '../../data/namespaces/index.js';
import { createDataset } from '../../lib/dataset.js';
import { namesOf } from '../../lib/namespace.js';
import { namespace } from '../../workloads/mget/plan.js';
import { withFolder } from '../helpers/folder.js';
import { withServers } from '../helpers/servers.js';
import { listCases, manyReader, openRows, within } from '../helpers/storage-cases.js';

const MGET_PLACES = namesOf(namespace);

const SERVERS = /** @type {const} */ (['redis', 'mariadb', 'tarantool', 'redis-cluster']);
const LIMIT_MS = 30_000;

/** Rows of the race, and others under the same ids in the place that is removed after a run. */
const race = createDataset({ rows: 300, valueSize: 64, seed: 5 });
const dataset = createDataset({ rows: 400, valueSize: 512, seed: 6 });
/** Made once, because each takes as long as reading one. */
const values = Array.from({ length: dataset.rows }, (_, i) => dataset.value(i + 1));
const valueAt = (/** @type {number} */ id) => values[id - 1];
const cases = (await listCases()).filter(({ definition }) => definition.rows?.includes('mget'));

describe('mget', () => {
  const servers = withServers(SERVERS);
  const folder = withFolder();

  before(
    async () => {
      for (const server of SERVERS) {
        const loader = await getLoader(server);
        const place = {
          address: servers.address(server),
          credentials: servers.credentials(server),
        };
        await loader.seed({ ...place, dataset: race });
        await loader.seed({ ...place, dataset, namespace });
      }
      for (const { definition, skip } of cases) {
        if (skip === undefined) await definition.fill?.({ dataset, folder });
      }
    },
    { timeout: 120_000 },
  );

  it('is offered by every storage except those whose driver has no multi-slot list of keys', async () => {
    const offered = new Set(cases.map(({ definition }) => definition.name));
    const all = new Set((await listCases()).map(({ definition }) => definition.name));
    const others = [...all].filter((name) => !offered.has(name));
    assert.deepEqual(others, ['node-handlersocket', 'ioredis-cluster', 'iovalkey-cluster']);
  });

  for (const { label, definition, profile, skip } of cases) {
    describe(label, { skip }, () => {
      const open = () =>
        openRows(definition, {
          address: definition.server === null ? {} : servers.address(definition.server),
          credentials: definition.server === null ? {} : servers.credentials(definition.server),
          profile,
          dataset,
          folder,
          names: MGET_PLACES,
        });

      /** @param {(read: (ids: number[]) => Promise<any[]>) => Promise<void>} work */
      const withReader = async (work) => {
        const handle = await open();
        try {
          await within(work(manyReader(handle, profile)), LIMIT_MS, label);
        } finally {
          await within(handle.close(), LIMIT_MS, `${label}: close`);
        }
      };

      it('returns the values in the order of the keys, whatever that is', () =>
        withReader(async (read) => {
          for (const ids of [[1], [400], [7, 3, 5], [400, 1, 200, 2], range(1, 400).reverse()]) {
            assert.deepEqual(await read(ids), ids.map(valueAt), `${ids.slice(0, 4)}`);
          }
        }));

      it('returns nothing for a missing key', () =>
        withReader(async (read) => {
          const ids = [2, 401, 1, 999_999, 400];
          const expected = [valueAt(2), undefined, valueAt(1), undefined, valueAt(400)];
          assert.deepEqual((await read(ids)).map(nothing), expected);
          assert.deepEqual((await read([401])).map(nothing), [undefined]);
          assert.deepEqual((await read([500, 401])).map(nothing), [undefined, undefined]);
        }));

      it('answers 200 requests at once, of 1 to 100 keys, each with its own values', () =>
        withReader(async (read) => {
          const lists = Array.from({ length: 200 }, (_, i) =>
            range(0, i % 100).map((k) => 1 + ((i * 31 + k * 7) % dataset.rows)),
          );
          const replies = await Promise.all(lists.map(read));
          replies.forEach((reply, i) => {
            assert.deepEqual(reply, lists[i].map(valueAt));
          });
        }));

      it('settles requests in flight when it is closed', async () => {
        const handle = await open();
        const read = manyReader(handle, profile);
        const settled = Promise.allSettled(range(1, 100).map((id) => read([id, 1 + (id % 9)])));
        await within(handle.close(), LIMIT_MS, `${label}: close`);
        for (const result of await within(settled, LIMIT_MS, `${label}: requests`)) {
          if (result.status === 'rejected') assert.ok(result.reason instanceof Error);
        }
      });
    });
  }

  for (const server of SERVERS) {
    it(`${server}: its rows and mark are removed, and those of the race stay`, async () => {
      const loader = await getLoader(server);
      const place = { address: servers.address(server), credentials: servers.credentials(server) };
      const at = { ...place, namespace };
      const remove = async () => {
        const handle = await openNamespace(server, namespace, place);
        return handle.release().finally(() => handle.close());
      };
      assert.equal(await remove(), dataset.rows);
      assert.equal(await remove(), 0, 'a second time there is nothing');
      const { rows, valueSize, seed } = race;
      const left = await loader.inspect(place);
      assert.deepEqual(left, { dataset: { rows, valueSize, seed }, notOurs: null });
      const again = await loader.seed({ ...at, dataset });
      assert.equal(again.rows, dataset.rows);
      assert.equal(again.written, true);
      assert.equal(await remove(), dataset.rows);
    });
  }
});

/** @param {any} value */
function nothing(value) {
  return value === null ? undefined : value;
}

/** @param {number} from @param {number} to inclusive */
function range(from, to) {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i);
}
