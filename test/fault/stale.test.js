/** Stale reads of a mix: from a real replica that lags, and none from a server alone. */
// Needs: redis

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import getPort from 'get-port';
import { Redis } from 'ioredis';
import { statusOf } from '../../cli/status.js';
import { getLoader } from '../../data/loaders/index.js';
import { run } from '../../index.js';
import { parseEndpoint } from '../../lib/address.js';
import { createDataset } from '../../lib/dataset.js';
import { eventually } from '../helpers/command-line.js';
import { withFolder } from '../helpers/folder.js';
import { redisAnswers, startRedis } from '../helpers/own-redis.js';

const DATASET = { rows: 20, valueSize: 64, seed: 1 };
const LAG_MS = 200;
const SPLIT = new URL('../helpers/split-storage.js', import.meta.url);

describe('reads of a mix', () => {
  const folder = withFolder();
  /** @type {number[]} */
  const pids = [];
  /** @type {net.Server} */
  let relay;
  let address = '';
  let lagMs = 0;

  before(async () => {
    const [master, replica] = [await getPort(), await getPort()];
    for (const name of ['master', 'replica']) mkdirSync(path.join(folder, name));
    address = `127.0.0.1:${master}`;
    pids.push(await startRedis(path.join(folder, 'master'), master));
    await redisAnswers(address);
    relay = net.createServer((socket) => {
      const upstream = net.connect(master, '127.0.0.1');
      socket.pipe(upstream);
      upstream.on('data', (bytes) => setTimeout(() => socket.write(bytes), lagMs));
      for (const one of [socket, upstream]) one.on('error', () => {});
      socket.on('close', () => upstream.destroy());
    });
    await new Promise((resolve) => relay.listen(0, '127.0.0.1', () => resolve(undefined)));
    const { port } = /** @type {net.AddressInfo} */ (relay.address());
    const words = ['--replicaof', '127.0.0.1', `${port}`, '--repl-diskless-load', 'swapdb'];
    pids.push(await startRedis(path.join(folder, 'replica'), replica, words));
    await redisAnswers(`127.0.0.1:${replica}`);
    await refill();
    const client = new Redis(replica, '127.0.0.1');
    await eventually(async () => (await client.dbsize()) > DATASET.rows, 'replicated');
    client.disconnect();
    const code = `import { splitStorage } from '${SPLIT}'; export default splitStorage(${replica});`;
    writeFileSync(path.join(folder, 'split.mjs'), code);
  });
  after(() => {
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    relay?.close();
  });

  /** Rows without versions: those of another run's writer are never known to be stale. */
  async function refill(shape = {}) {
    const client = new Redis(`redis://${address}`);
    await client.flushall();
    const { seed } = await getLoader('redis');
    const dataset = createDataset({ ...DATASET, ...shape });
    const main = parseEndpoint(address, '--redis');
    await seed({ address: { main }, credentials: {}, dataset });
    await client.wait(1, 10_000);
    client.disconnect();
  }

  /** @param {string} storage @param {Record<string, unknown>} [more] */
  async function mixOf(storage, more = {}) {
    const result = await run(
      /** @type {any} */ ({
        ...DATASET,
        storages: [storage],
        addresses: { redis: address },
        workload: 'mix',
        mix: 'get:70,set:30',
        inFlight: [8],
        ...(more['budget'] ? more : { ops: 4000, warmup: 0, ...more }),
      }),
    );
    const [{ rounds }] = result.benchmarks;
    return { result, round: rounds[0] };
  }

  test('from a lagging replica are stale, and reported', async () => {
    lagMs = LAG_MS;
    const { result, round } = await mixOf(path.join(folder, 'split.mjs'));
    lagMs = 0;
    const { outcomes, compared } = round;
    assert.ok(Number(compared?.stale) > 50, JSON.stringify(round));
    assert.equal(outcomes.mismatch, compared?.stale);
    assert.equal(statusOf(result), 5);
    const [warning] = result.warnings.filter(({ code }) => code === 'W_STALE');
    assert.match(warning.message, /^\d+ of \d+ reads were stale: older than the last acknowledged/);
  });

  test('by slices as well: with a separate count', async () => {
    await refill();
    lagMs = LAG_MS;
    const slices = { budget: 3000, rounds: 2 };
    const { result, round } = await mixOf(path.join(folder, 'split.mjs'), slices);
    lagMs = 0;
    const { outcomes, compared } = round;
    assert.ok(result.comparison !== undefined, 'by slices');
    assert.ok(Number(compared?.stale) > 0, JSON.stringify(round));
    assert.equal(outcomes.mismatch, compared?.stale);
    assert.equal(statusOf(result), 5);
    assert.ok(result.warnings.some(({ code }) => code === 'W_STALE'));
    const { result: fine, round: healthyRound } = await mixOf('ioredis', slices);
    assert.equal(statusOf(fine), 0, JSON.stringify(healthyRound));
    assert.equal(healthyRound.compared?.stale, 0);
  });

  for (const [what, more] of /** @type {[string, Record<string, unknown>][]} */ ([
    ['one process', {}],
    ['two processes that write the same rows', { processes: [2] }],
    ['values without a place for a version', { valueSize: 19, rows: 10 }],
  ])) {
    test(`from the server itself are not, by ${what}`, async () => {
      if (more['valueSize']) await refill(more);
      const { result, round } = await mixOf('ioredis', more);
      assert.equal(statusOf(result), 0, JSON.stringify(round));
      assert.equal(round.compared?.stale, more['valueSize'] ? undefined : 0);
    });
  }
});
