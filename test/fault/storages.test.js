/**
 * Servers that die or stop while they are read: everything in flight settles with a coded error in
 * bounded time, nothing reconnects and sends again behind the reader's back, and nothing is thrown
 * out of the event loop (node:test fails a file for that).
 */
// Needs: redis, mariadb, tarantool

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { getLoader } from '../../data/loaders/index.js';
import { createDataset } from '../../lib/dataset.js';
import { isGone } from '../../lib/error-code.js';
import { withServers } from '../helpers/servers.js';
import { listCases, openRows, reader, within } from '../helpers/storage-cases.js';

/** @typedef {import('../../lib/types.js').RowsHandle} RowsHandle */
/** @typedef {import('../helpers/storage-cases.js').StorageCase} StorageCase */

const DEPTH = 500;
/** Right reads of each storage before its workers wait for those of the others. */
const ENOUGH = 1000;
const SETTLE_LIMIT_MS = 10_000;

const dataset = createDataset({ rows: 300, valueSize: 1000, seed: 5 });
const cases = await listCases();

/**
 * @typedef {object} Runner one storage that keeps DEPTH requests in flight
 * @property {string} label
 * @property {RowsHandle} handle
 * @property {(id: number) => Promise<string | undefined>} read
 * @property {Promise<void>[]} workers
 * @property {{ right: number, wrong: number, errors: any[], enough: () => void,
 *   gate: Promise<void> }} seen
 */

for (const server of /** @type {const} */ (['redis', 'mariadb', 'tarantool'])) {
  const onServer = cases.filter(({ definition, skip }) => definition.server === server && !skip);

  describe(server, () => {
    const servers = withServers([server]);
    const where = () => ({
      address: servers.address(server),
      credentials: servers.credentials(server),
    });

    before(async () => {
      const loader = await getLoader(server);
      await loader.seed({ ...where(), dataset });
    });

    describe(`is stopped with ${DEPTH} requests in flight on each storage`, () => {
      /** @type {{ closed: Promise<unknown>, settled: Promise<unknown> }[]} */
      const closings = [];

      // All at once, because several drivers wait for the server for some seconds.
      before(async () => {
        const readers = [];
        for (const storage of onServer) {
          const handle = await openRows(storage.definition, contextOf(storage, where()));
          const read = reader(handle, storage.profile);
          await read(1);
          readers.push({ handle, read, label: storage.label });
        }
        process.kill(servers.running(server).pid, 'SIGSTOP');
        for (const { handle, read, label } of readers) {
          const requests = Promise.allSettled(Array.from({ length: DEPTH }, () => read(1)));
          await new Promise(setImmediate); // they are written
          const closed = within(handle.close(), SETTLE_LIMIT_MS, `${label}: close`);
          const settled = within(requests, SETTLE_LIMIT_MS, `${label}: requests`);
          for (const one of [closed, settled]) one.catch(() => {}); // fails its test
          closings.push({ closed, settled });
        }
      });

      after(() => process.kill(servers.running(server).pid, 'SIGCONT'));

      onServer.forEach(({ label }, i) => {
        it(`${label}: it closes while the server is stopped, and all in flight settle`, async () => {
          await closings[i].closed;
          await closings[i].settled;
        });
      });
    });

    describe(`is killed with ${DEPTH} requests in flight on each storage`, () => {
      /** @type {Runner[]} */
      const runners = [];

      before(async () => {
        // Each alone at first, because a slow driver starves beside a fast one; then all together.
        let openGate = () => {};
        const gate = /** @type {Promise<void>} */ (new Promise((resolve) => (openGate = resolve)));
        for (const one of onServer) runners.push(await startRunner(one, where(), gate));
        openGate();
        await new Promise(setImmediate);
        process.kill(servers.running(server).pid, 'SIGKILL');
      });

      onServer.forEach(({ label }, i) => {
        it(`${label}: all in flight settle, the lost ones with a code`, async () => {
          const { workers, seen } = runners[i];
          await within(Promise.all(workers), SETTLE_LIMIT_MS, label);
          assert.equal(seen.wrong, 0);
          assert.ok(seen.right >= ENOUGH);
          assert.equal(seen.errors.length, DEPTH); // each worker ends by one
          for (const error of seen.errors) {
            assert.ok(error instanceof Error);
            // GLIDE waits for a new connection up to the time limit of a request; node-redis' pool
            // does not reject those that wait for one of its connections, but after its own limit.
            const waits = label.startsWith('valkey-glide') || label === 'redis:pool';
            const isLate = waits && /timed? ?out/i.test(String(error));
            assert.ok(isGone(error) || isLate, String(error));
            assert.equal(typeof (/** @type {any} */ (error).code), 'string', String(error));
          }
        });

        it(`${label}: requests after the loss fail too, and it closes`, async () => {
          const { read, handle } = runners[i];
          const late = await within(
            Promise.allSettled(Array.from({ length: 50 }, (_, id) => read(id + 1))),
            SETTLE_LIMIT_MS,
            `${label}: late requests`,
          );
          assert.ok(late.every(({ status }) => status === 'rejected'));
          await within(handle.close(), SETTLE_LIMIT_MS, `${label}: close`);
        });
      });
    });
  });
}

/**
 * @typedef {object} Where
 * @property {import('../../lib/types.js').Address} address
 * @property {import('../../lib/types.js').Credentials} credentials
 */

/** @param {StorageCase} one @param {Where} where */
function contextOf({ profile }, where) {
  return { ...where, profile, dataset, folder: '' };
}

/**
 * @param {StorageCase} one
 * @param {Where} where
 * @param {Promise<void>} gate
 * @returns {Promise<Runner>} once it has made ENOUGH reads
 */
async function startRunner(one, where, gate) {
  const handle = await openRows(one.definition, contextOf(one, where));
  const read = reader(handle, one.profile);
  /** @type {Runner['seen']} */
  const seen = { right: 0, wrong: 0, errors: [], enough() {}, gate };
  const enough = /** @type {Promise<void>} */ (new Promise((resolve) => (seen.enough = resolve)));
  const workers = Array.from({ length: DEPTH }, (_, i) => work(read, seen, i));
  await within(enough, SETTLE_LIMIT_MS, `${one.label}: the first reads`);
  return { label: one.label, handle, read, workers, seen };
}

/**
 * One of DEPTH in flight: it reads until its first error.
 * @param {Runner['read']} read
 * @param {Runner['seen']} seen
 * @param {number} start
 */
async function work(read, seen, start) {
  for (let turn = start; ; turn += DEPTH) {
    const id = 1 + (turn % dataset.rows);
    try {
      if ((await read(id)) === dataset.value(id)) seen.right += 1;
      else seen.wrong += 1;
      if (seen.right === ENOUGH) seen.enough();
      if (seen.right >= ENOUGH) await seen.gate;
    } catch (error) {
      seen.errors.push(error);
      return;
    }
  }
}
