/** CPU time of servers whose threads come and go, such as a JVM's compiler threads. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { ThreadClocks } from '../../../measure/schedstat.js';
import { createServerUsage, endedThreadsNs } from '../../../measure/usage.js';

const MS = 1e6;
const BURN_MS = 200;

/** A thread of this process that has used BURN_MS of CPU time and goes on to live. */
function burningThread() {
  const worker = new Worker(
    `const { parentPort, workerData } = require('node:worker_threads');
    const cpu = process.cpuUsage();
    for (;;) {
      const { user, system } = process.cpuUsage(cpu);
      if (user + system > workerData * 1000) break;
    }
    parentPort.postMessage('done');
    setInterval(() => {}, 1000);`,
    { eval: true, workerData: BURN_MS },
  );
  return new Promise((resolve, reject) => {
    worker.once('message', () => resolve(worker));
    worker.once('error', reject);
  });
}

describe('the time of ended threads', () => {
  test('is unchanged while the same threads exist, whatever the ticks', () => {
    const before = { endedNs: 50 * MS, threads: { 1: 100 * MS } };
    assert.equal(endedThreadsNs(before, 160 * MS, { 1: 105 * MS }), 50 * MS);
    assert.equal(endedThreadsNs(before, 170 * MS, { 1: 105 * MS, 2: 3 * MS }), 50 * MS);
  });

  test('is their last seen time, or more if the process total is greater', () => {
    const before = { endedNs: 50 * MS, threads: { 1: 100 * MS, 2: 10_000 * MS } };
    assert.equal(endedThreadsNs(before, 10_150 * MS, { 1: 105 * MS }), 10_050 * MS);
    assert.equal(endedThreadsNs(before, 10_455 * MS, { 1: 105 * MS }), 10_350 * MS);
  });

  test('includes threads that were never seen', () => {
    const before = { endedNs: 0, threads: { 1: 100 * MS } };
    assert.equal(endedThreadsNs(before, 900 * MS, { 1: 100 * MS }), 800 * MS);
    assert.equal(endedThreadsNs(undefined, 900 * MS, { 1: 100 * MS }), 800 * MS);
  });
});

describe('CPU time of a process', { skip: process.platform !== 'linux' }, () => {
  test('does not fall when a thread ends that had used some', async () => {
    const usage = createServerUsage();
    const read = () => /** @type {any} */ (usage([process.pid])).cpuNs;
    const startNs = read();
    const worker = await burningThread();
    const livingNs = read();
    // Its CPU time and that of this thread beside it; both are the process's.
    assert.ok(livingNs - startNs > (BURN_MS / 2) * MS, `${livingNs - startNs}`);
    await worker.terminate();
    const endedNs = read();
    assert.ok(endedNs >= livingNs, `${endedNs} after ${livingNs}`);
    assert.ok(read() >= endedNs);
  });

  test('includes threads that started and ended between two readings', async () => {
    const usage = createServerUsage();
    const read = () => /** @type {any} */ (usage([process.pid])).cpuNs;
    const startNs = read();
    await (await burningThread()).terminate();
    assert.ok(read() - startNs > (BURN_MS / 2) * MS);
  });

  test('read often, keeps the time of an ended thread', async () => {
    const worker = await burningThread();
    const clocks = new ThreadClocks([process.pid]);
    const before = clocks.read();
    await worker.terminate();
    const after = clocks.read();
    clocks.close();
    assert.ok(before !== null && after !== null);
    assert.ok(after.runNs >= before.runNs, `${after.runNs} after ${before.runNs}`);
    assert.ok(after.waitNs >= before.waitNs);
  });
});
