/** Assignment of processors, and the message for too few processors. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCpuList, pinServers, pinWarnings, planCpus } from '../../../engine/placement.js';

const coreOf = (/** @type {number} */ cpu) => String(cpu);
/** Threads n and n + 4 are of one core, as on most machines with two threads a core. */
const paired = (/** @type {number} */ cpu) => String(cpu % 4);

test('half of the cores for each side; more for a client with more processes', () => {
  const of = (/** @type {number} */ cores, /** @type {number} */ processes) => {
    const allowed = Array.from({ length: cores }, (_, i) => i);
    const plan = planCpus({ allowed, coreOf, processes });
    return [plan?.client, plan?.server];
  };
  assert.deepEqual(of(2, 1), [[0], [1]]);
  assert.deepEqual(of(2, 8), [[0], [1]]);
  assert.deepEqual(of(4, 1), [
    [0, 1],
    [2, 3],
  ]);
  assert.deepEqual(of(4, 3), [[0, 1, 2], [3]]);
  assert.deepEqual(of(1, 1), [undefined, undefined]);
});

test('threads of one core stay on one side; a single core is shared, which is reported', () => {
  const allowed = [0, 1, 2, 3, 4, 5, 6, 7];
  assert.deepEqual(planCpus({ allowed, coreOf: paired, processes: 1 }), {
    client: [0, 4, 1, 5],
    server: [2, 6, 3, 7],
    shareCore: false,
  });
  const plan = planCpus({ allowed: [0, 4], coreOf: paired, processes: 1 });
  assert.deepEqual(plan, { client: [0], server: [4], shareCore: true });
  assert.match(
    pinWarnings({ client: [0], server: [4], shareCore: true }, 1, [])[0].message,
    /core/,
  );
});

test('only processors that this process may use are assigned', () => {
  const plan = planCpus({ allowed: [3, 5, 9], coreOf, processes: 1 });
  assert.deepEqual(plan, { client: [3], server: [5, 9], shareCore: false });
});

test('too few processors for the processes cause a warning with a hint', () => {
  const plan = { client: [0], server: [1], shareCore: false };
  const [{ message, hint }] = pinWarnings(plan, 2, []);
  assert.match(message, /2 processes share 1 processors/);
  assert.match(hint ?? '', /3 cores/);
  assert.deepEqual(pinWarnings({ ...plan, client: [0, 2] }, 2, []), []);
});

test("the kernel's lists are read", () => {
  assert.deepEqual(parseCpuList('0-3,8\n'), [0, 1, 2, 3, 8]);
  assert.deepEqual(parseCpuList('5'), [5]);
  assert.deepEqual(parseCpuList(''), []);
});

test('without taskset, or with one processor, nothing is pinned and the reason is given', async () => {
  const server = { name: 'redis', source: 'dragstrip', pids: [process.pid] };
  const plan = { client: [0], server: [1], shareCore: false };
  const missing = await pinServers([server], 1, { taskset: '/nonexistent/taskset', plan });
  assert.match(missing.pinning.reason ?? '', /taskset/);
  assert.deepEqual(missing.pinning.client, []);
  assert.equal(missing.pinning.servers[0].pinned, false);
  assert.equal(missing.warnings[0].code, 'W_NOT_PINNED');
  const single = await pinServers([server], 1, { plan: null });
  assert.match(single.pinning.reason ?? '', /one processor/);
  await single.restore();
});
