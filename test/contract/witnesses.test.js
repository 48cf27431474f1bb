/** Reads and writes of drivers on a real server, as the kernel counts them, and gates on them. */
// Needs: redis

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { statusOf } from '../../cli/status.js';
import { getLoader } from '../../data/loaders/index.js';
import { report, run } from '../../index.js';
import { createDataset } from '../../lib/dataset.js';
import { CHEAT } from '../helpers/cheats.js';
import { assertAllOk } from '../helpers/run-here.js';
import { withServers } from '../helpers/servers.js';

const ROWS = { rows: 500, valueSize: 64, seed: 2 };

const KEYS = ['reads', 'writes', 'read_bytes', 'written_bytes'];

describe('reads and writes of an operation', () => {
  const servers = withServers(['redis']);
  const shared = () => ({ ...ROWS, home: servers.home(), workload: 'race', warmup: 200 });

  before(async () => {
    const [address, credentials] = [servers.address('redis'), servers.credentials('redis')];
    const { seed } = await getLoader('redis');
    await seed({ address, credentials, dataset: createDataset(ROWS) });
  });

  it('are those of the driver, which pass a gate; unknown ones decide none', async () => {
    const storages = ['ioredis', 'redis', 'valkey-glide', 'lmdb'];
    const failIf = ['writes>1.02'];
    const result = await run({ ...shared(), storages, ops: 4000, rounds: 1, failIf });
    assertAllOk(result);
    assert.equal(statusOf(result), 0);
    const reason = 'does not receive its replies by read(2), or their number is unknown';
    for (const gate of result.gates ?? []) {
      const [name] = gate.benchmark.split(':');
      const isCounted = name === 'ioredis' || name === 'redis';
      assert.equal(gate.outcome, isCounted ? 'passed' : 'undecided', gate.benchmark);
      assert.equal(gate.reason, isCounted ? null : `${name} ${reason}`);
    }
    assert.equal(result.gates?.length, 8);
    const [{ tables }] = JSON.parse(await report(result, 'json'));
    const rows = tables.flatMap((/** @type {any} */ one) => one.rows);
    /** @param {string} id @returns {(number | undefined)[]} counts in the order of KEYS */
    const countsOf = (id) => {
      const { values } = rows.find((/** @type {any} */ { keys }) => keys.id === id);
      return KEYS.map((key) => values[key].value);
    };
    const [reads, writes, readBytes, writtenBytes] = countsOf('ioredis:default/get/sync');
    assert.equal(Number(reads).toFixed(2), '1.00');
    assert.equal(Number(writes).toFixed(2), '1.00');
    // $64, the value, and two ends of lines.
    assert.equal(Math.round(Number(readBytes)), 5 + 64 + 2);
    assert.ok(Number(writtenBytes) > 20 && Number(writtenBytes) < 60, String(writtenBytes));
    assert.equal(Number(countsOf('ioredis:default/get/window-100')[1]).toFixed(1), '1.0');
    assert.ok(Number(countsOf('redis:default/get/window-100')[1]) < 0.2);
    for (const { id, storage, rounds } of result.benchmarks) {
      if (storage !== 'valkey-glide' && storage !== 'lmdb') continue;
      assert.deepEqual(
        countsOf(id),
        KEYS.map(() => undefined),
        id,
      );
      const { client } = rounds[0];
      assert.deepEqual([client?.reads, client?.writes, client?.readBytes], [null, null, null], id);
    }
    assert.match(
      await report(result),
      /Not batched, 100 in flight: ioredis 1\.0\d writes per operation, against redis 0\.0\d+\n/,
    );
    const csv = await report(result, 'csv');
    assert.match(csv, /reads_per_op,writes_per_op,read_bytes_per_op,written_bytes_per_op/);
    assert.match(csv, /client_reads,client_writes,client_read_bytes,client_written_bytes/);
  });

  it('fail a gate after the first round: a storage that writes twice', async () => {
    const result = await run({
      ...shared(),
      storages: [`${CHEAT}:doubles`],
      budget: 30_000,
      anyway: true,
      failIf: ['writes>1.02'],
    });
    assert.equal(statusOf(result), 6);
    assert.deepEqual(
      result.benchmarks.map(({ rounds }) => rounds.length),
      [1, 1],
    );
    for (const { outcome, value, n, benchmark } of result.gates ?? []) {
      assert.equal(outcome, 'failed');
      assert.equal(n, 1);
      const measured = result.benchmarks.find(({ id }) => id === benchmark);
      const ok = Number(measured?.rounds[0].outcomes.ok);
      const wakeUps = (Number(value) - 2) * ok;
      assert.ok(wakeUps > -0.01 && wakeUps < 16, `${value} of ${ok}`);
    }
    assert.match(
      await report(result),
      /failed: writes>1\.02, cheat:doubles, sync: 2\.\d\d writes per operation \(counted, n 1\)/,
    );
  });
});
