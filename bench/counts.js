/**
 * Cost of reading a server's count of executed operations (data/counts/): `node bench/counts.js
 * [server …]` starts each server, reads its count 2,000 times in sequence, and prints the median
 * time at the client and the server's CPU time per reading.
 */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openCounter } from '../data/counts/index.js';
import { parseEndpoint } from '../lib/address.js';
import { findHome } from '../lib/home.js';
import { systemClock } from '../measure/clock.js';
import { createServerUsage } from '../measure/usage.js';
import { startServers } from '../servers/index.js';
import { measure, showFigures } from './figures.js';
import { credentialsFor, shareCredentials } from './login.js';
import { isMain } from './main.js';

const READINGS = 2000;
const PASSES = 5;

/**
 * @param {readonly string[]} names names of servers
 * @returns {AsyncGenerator<import('./figures.js').Figure>}
 */
export async function* run(names) {
  const home = await mkdtemp(join(tmpdir(), 'dragstrip-'));
  const started = await startServers(names, { home, packagesHome: findHome(), owned: true });
  try {
    if (started.failures.length > 0) throw started.failures[0].error;
    await shareCredentials(started.servers);
    for (const running of started.servers) yield* readingsOf(running);
  } finally {
    await started.stop();
    await rm(home, { recursive: true, force: true });
  }
}

/** @param {import('../lib/types.js').RunningServer} running */
async function* readingsOf({ name, address, pid, nodes = [{ pid, startTicks: 0 }] }) {
  const counter = await openCounter(name, {
    address: Object.fromEntries(
      Object.entries(address).map(([endpoint, text]) => [endpoint, parseEndpoint(text)]),
    ),
    credentials: await credentialsFor(name),
  });
  if (counter === null) return;
  const pids = nodes.map((node) => node.pid);
  const usage = createServerUsage();
  /** @type {number[]} */
  const times = [];
  /** @type {number[]} */
  const loads = [];
  for (let pass = 0; pass < PASSES; pass += 1) {
    const before = usage(pids);
    for (let reading = 0; reading < READINGS; reading += 1) {
      const startNs = systemClock.now();
      await counter.read();
      times.push((systemClock.now() - startNs) / 1000);
    }
    const cpuNs = Number(usage(pids)?.cpuNs) - Number(before?.cpuNs);
    loads.push(cpuNs / READINGS / 1000);
  }
  counter.close();
  yield measure(`${name}: a reading`, times, { better: 'lower', unit: 'µs' });
  yield measure(`${name}: CPU of the server`, loads, { better: 'lower', unit: 'µs' });
}

if (isMain(import.meta.filename)) {
  const figures = [];
  for await (const figure of run(process.argv.slice(2))) figures.push(figure);
  console.log(showFigures(figures));
}
