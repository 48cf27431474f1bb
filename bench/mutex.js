/**
 * The script handler compared with other locks for Node, on keys 1/1: same tests, driver and
 * server, in separate processes, alternately within one run (A B B A).
 */

import { openNamespace } from '../data/namespaces/index.js';
import { namespace } from '../workloads/mutex/namespace.js';
import { playAlone } from './alone.js';
import { measure } from './figures.js';
import { credentialsFor, variablesOf } from './login.js';

const TARGET = 1;
const PEERS = Object.freeze(['redlock', 'redis-semaphore']);
/** @type {readonly { test: string, name: string, load: Record<string, any> }[]} */
const CONTESTS = Object.freeze([
  {
    test: 'lock',
    name: 'Test 1, 1000 lock/unlock by 10 tasks',
    load: { kind: 'window', inFlight: 10, operations: 1000, durationNs: null },
  },
  {
    test: 'count',
    name: 'Test 2, sections of 100 tasks',
    load: { kind: 'window', inFlight: 100, operations: null, durationNs: 2e9 },
  },
]);

/**
 * @param {import('./figures.js').BenchContext} context
 * @returns {AsyncGenerator<import('./figures.js').Figure>}
 */
export async function* run({ smoke, servers }) {
  const address = servers['redis'];
  const credentials = await credentialsFor('redis');
  const handle = await openNamespace('redis', namespace, { address, credentials });
  await handle.claim();
  try {
    for (const contest of CONTESTS) {
      for (const peer of PEERS) yield* race(contest, peer, { address, smoke });
    }
  } finally {
    await handle.release();
    await handle.close();
  }
}

/**
 * @param {typeof CONTESTS[number]} contest
 * @param {string} peer
 * @param {{ address: import('../lib/types.js').Address, smoke: boolean }} options
 */
async function* race({ test, name, load }, peer, { address, smoke }) {
  const pairs = smoke ? 1 : 11;
  const rates = [];
  const cpu = [];
  for (let pair = 0; pair < pairs; pair += 1) {
    const ours = () => runOne('script', test, sized(load, smoke), address, pair);
    const theirs = () => runOne(peer, test, sized(load, smoke), address, pair);
    const inTurn = pair % 2 === 0 ? [ours, theirs] : [theirs, ours];
    const results = new Map();
    for (const each of inTurn) results.set(each, await each());
    rates.push(results.get(ours).rate / results.get(theirs).rate);
    cpu.push(results.get(theirs).cpuNs / results.get(ours).cpuNs);
  }
  const what = `script over ${peer}, keys 1/1, ${name}`;
  yield measure(`${what}: rate`, rates, { target: TARGET, better: 'higher', unit: '×' });
  yield measure(`${what}: client CPU saved`, cpu, { better: 'higher', unit: '×' });
}

/**
 * @param {Record<string, any>} load
 * @param {boolean} smoke
 * @returns {any} a load
 */
function sized(load, smoke) {
  if (!smoke) return load;
  return load['operations'] === null ? { ...load, durationNs: 2e8 } : { ...load, operations: 50 };
}

/**
 * @param {string} handler
 * @param {string} test
 * @param {any} load
 * @param {import('../lib/types.js').Address} address
 * @param {number} seed
 * @returns {Promise<{ rate: number, cpuNs: number }>} sections per second, CPU time per section
 */
async function runOne(handler, test, load, address, seed) {
  const { throughput, outcomes, client } = await playAlone({
    storage: 'ioredis',
    workload: 'mutex',
    workloadOptions: { parameters: { test, handler, keys: 1 } },
    load,
    address,
    credentialVariables: await variablesOf('redis'),
    dataset: { rows: 1, valueSize: 8, seed: 1 },
    seed,
    warmup: 200,
    stallNs: 60e9,
  });
  return { rate: throughput, cpuNs: (client.userNs + client.systemNs) / outcomes.ok };
}
