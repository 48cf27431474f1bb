/**
 * Several load machines, and one of them is lost: killed, stopped, or its link down. A real
 * coordinator, agents as processes, faults as they are.
 */

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { childrenOf, startCommand } from '../../../../test/helpers/command-line.js';
import {
  contenderOf,
  listenAndKeep,
  listenAsLink,
  measure,
  NODE_OPTIONS,
  secondsOf,
  startAgent,
  until,
} from '../../../../test/helpers/fleet.js';
import { withServers } from '../../../../test/helpers/servers.js';
import { openFleet } from '../../controller.js';

/** From the last sign of life to the event, as coordination-keys.js promises it. */
const NOTICED_MS = 4000;
/** The others stop: the dead-man key is looked for every 400 ms, and a second for open replies. */
const STOPPED_MS = 4000;
const LONG = Object.freeze({ rate: 600, durationNs: 30e9 });

describe('a lost agent', () => {
  const servers = withServers(['coordinator']);
  /** @type {import('../../../../test/helpers/fleet.js').Asked} */
  let server;
  /** @type {import('../../../../test/helpers/fleet.js').AgentProcess[]} */
  let agents = [];
  const optionsBefore = process.env['NODE_OPTIONS'];

  const reach = () => {
    const { address, credentials = {} } = servers.running('coordinator');
    return { address: address['main'], token: credentials['password'] };
  };
  const open = (/** @type {Partial<import('../../controller.js').FleetOptions>} */ options) =>
    openFleet({
      coordinator: {
        endpoint: servers.address('coordinator')['main'],
        credentials: servers.credentials('coordinator'),
      },
      agents: 3,
      storages: ['ioredis'],
      waitMs: 20_000,
      ...options,
    });

  before(async () => {
    process.env['NODE_OPTIONS'] = NODE_OPTIONS;
    server = await listenAndKeep();
    agents = await Promise.all(['a', 'b'].map((name) => startAgent(name, reach())));
  });

  after(async () => {
    if (optionsBefore === undefined) delete process.env['NODE_OPTIONS'];
    else process.env['NODE_OPTIONS'] = optionsBefore;
    await Promise.all(agents.map((agent) => agent.stop()));
    await server?.close();
  });

  /** @param {number} ms @returns {Promise<number>} GETs per second that the server sees now */
  const rateNow = async (ms = 400) => {
    const before = server.count();
    await sleep(ms);
    return ((server.count() - before) / ms) * 1000;
  };

  /** @param {number} [rate] */
  const underLoad = async (rate = 300) =>
    assert.ok(await until(async () => (await rateNow()) > rate), 'the load has begun');

  const quiet = async () =>
    assert.ok(await until(async () => (await rateNow()) === 0, STOPPED_MS), 'the load has ended');

  /**
   * @param {(lost: import('../../../../test/helpers/fleet.js').AgentProcess) => void} fault
   * @param {{ onLoss?: 'invalid' | 'truncate', address?: string, beforeMs?: number }} [how]
   */
  async function lose(fault, { onLoss, address = reach().address, beforeMs = 0 } = {}) {
    const lost = await startAgent('lost', { ...reach(), address });
    const fleet = await open({ onLoss }).catch(async (error) => {
      await lost.stop();
      throw error;
    });
    try {
      server.forget();
      const running = measure(fleet, contenderOf(server.port, LONG));
      await underLoad();
      await sleep(beforeMs);
      const startMs = Date.now();
      fault(lost);
      assert.ok(await until(() => fleet.lost !== null, 10_000), 'the loss is noticed');
      const noticedMs = Date.now() - startMs;
      assert.ok(noticedMs < NOTICED_MS, `noticed after ${noticedMs} ms`);
      assert.equal(fleet.lost?.agent, 'lost');
      const execution = await running;
      assert.ok(fleet.signal.aborted, 'the run goes no further');
      assert.equal(
        (await measure(fleet, contenderOf(server.port, LONG))).failure?.code,
        'E_ABORTED',
      );
      return { fleet, lost, execution, noticedMs };
    } catch (error) {
      await fleet.close();
      await lost.stop();
      throw error;
    }
  }

  /** @param {import('../../../../test/helpers/fleet.js').AgentProcess} lost */
  const pidsOf = (lost) => childrenOf(Number(lost.child.pid));

  test('killed: its round is invalid, nothing is rebalanced, the others stop', async (t) => {
    const { fleet, lost, execution, noticedMs } = await lose(({ child }) => child.kill('SIGKILL'));
    try {
      t.diagnostic(`noticed after ${noticedMs} ms`);
      assert.equal(execution.segment, null);
      assert.equal(execution.failure?.code, 'E_AGENT_LOST');
      assert.match(String(execution.failure?.message), /^agent lost was lost: /);
      await quiet();
    } finally {
      await fleet.close();
      await lost.stop();
    }
  });

  test('stopped: noticed, its upload is refused when it goes on, then it is free', async () => {
    const { fleet, lost, execution } = await lose(({ child }) => {
      for (const pid of [...childrenOf(Number(child.pid)), Number(child.pid)]) {
        process.kill(pid, 'SIGSTOP');
      }
    });
    try {
      assert.equal(execution.failure?.code, 'E_AGENT_LOST');
      for (const pid of [...pidsOf(lost), Number(lost.child.pid)]) process.kill(pid, 'SIGCONT');
      await lost.says(/ended early: the run was ended/, 15_000);
      await quiet();
      assert.equal(await fleet.uploads.getJobCounts('completed').then((n) => n['completed']), 2);
      const seat = fleet.leases.all.find(({ agent }) => agent === 'lost')?.seat;
      const upload = await fleet.uploads.getJob(`${seat}-1`);
      assert.equal(upload?.id, undefined, 'of the lost agent nothing has come');
      await fleet.close();
      // It has no debts: the next run takes it.
      const next = await open({});
      await next.close();
    } finally {
      await fleet.close();
      await lost.stop();
    }
  });

  test('its link is down: it stops by itself, too', async () => {
    const { port } = /** @type {any} */ (servers.address('coordinator')['main']);
    const link = await listenAsLink(port);
    const address = `127.0.0.1:${link.port}`;
    const { fleet, lost, execution } = await lose(() => link.cut(), { address });
    try {
      assert.equal(execution.failure?.code, 'E_AGENT_LOST');
      await quiet();
      // By itself, 2.5 s after the link went down: possibly later than the others have noticed.
      const isGone = () => pidsOf(lost).length === 0;
      assert.ok(await until(isGone, NOTICED_MS), 'its generator has ended');
    } finally {
      await fleet.close();
      await lost.stop();
      await link.close();
    }
  });

  /** @returns {Promise<number>} operations that the kept seconds lack: two thirds are due */
  async function truncated() {
    const how = { onLoss: /** @type {const} */ ('truncate'), beforeMs: 2600 };
    const { fleet, lost, execution } = await lose(({ child }) => child.kill('SIGKILL'), how);
    try {
      const { segment } = execution;
      assert.ok(segment, execution.failure?.message);
      const seconds = secondsOf(segment).length;
      assert.ok(seconds >= 1 && seconds <= 12, `${seconds} s`);
      const names = segment.agents.map(({ agent }) => agent).sort();
      assert.deepEqual(names, ['a', 'b']);
      assert.equal(segment.histograms['latency']?.count, segment.scheduled);
      return seconds * 400 - segment.scheduled;
    } finally {
      await fleet.close();
      await lost.stop();
    }
  }

  test('truncate keeps the seconds in which all were there, of the others', async () => {
    // What ends in a later second is not in them: on a busy machine that is as much as replies are
    // late. Then it is tried again.
    let lacking = await truncated();
    for (let more = 2; more > 0 && lacking > 40; more -= 1) lacking = await truncated();
    assert.ok(Math.abs(lacking) <= 40, `${lacking} operations are not there`);
  });

  test('a generator that is killed fails the round by its agent’s name', async () => {
    const fleet = await open({ agents: 2 });
    try {
      server.forget();
      const running = measure(fleet, contenderOf(server.port, LONG));
      await underLoad();
      process.kill(pidsOf(agents[1])[0], 'SIGKILL');
      const { failure } = await running;
      assert.equal(failure?.code, 'E_BENCHMARK_PROCESS');
      assert.match(
        String(failure?.message),
        /^agent b: the benchmark process was killed by SIGKILL/,
      );
      await quiet();
      assert.equal(fleet.lost, null);
    } finally {
      await fleet.close();
    }
  });

  test('a generator with a full event loop does not cost its agent the lease', async () => {
    const busy = await startAgent('busy', {
      ...reach(),
      env: { LATENCY_BY_OPERATION: '1', BLOCK_MS: '4000' },
    });
    const fleet = await open({ agents: 3 });
    try {
      const load = { ...LONG, durationNs: 1e9 };
      const { failure } = await measure(fleet, contenderOf(server.port, load));
      assert.equal(fleet.lost, null);
      assert.equal(failure?.code, 'E_AGENT_LATE');
      assert.match(String(failure?.message), /^agent busy sent \d+ of 200 operations too late/);
    } finally {
      await fleet.close();
      await busy.stop();
    }
  });

  test('the controller is killed: the agents stop by the dead-man key and are free', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'dragstrip-fleet-'));
    const { address, token } = reach();
    const how = {
      coordinator: address,
      token,
      agents: 2,
      server: `127.0.0.1:${server.port}`,
      loads: [{ ...LONG, durationNs: 60e9 }],
    };
    const words = ['test/helpers/run-fleet.js', JSON.stringify(how)];
    const race = startCommand(folder, words, { env: { NODE_OPTIONS } });
    try {
      server.forget();
      await underLoad();
      race.child.kill('SIGKILL');
      await race.ended;
      assert.ok(await until(async () => (await rateNow()) === 0, 8000), 'the load has ended');
      const fleet = await open({ agents: 2 });
      await fleet.close();
    } finally {
      race.child.kill('SIGKILL');
      await race.ended;
      await rm(folder, { recursive: true, force: true });
    }
  });

  test('the coordinator is killed: the run ends, and the agents stop', async () => {
    const fleet = await open({ agents: 2 });
    server.forget();
    const running = measure(fleet, contenderOf(server.port, LONG));
    await underLoad();
    process.kill(servers.running('coordinator').pid, 'SIGKILL');
    assert.ok(await until(() => fleet.lost !== null, 20_000), 'it is noticed');
    const { failure } = await running;
    assert.match(String(failure?.message), /the coordinator is away/);
    await fleet.close();
    assert.ok(await until(async () => (await rateNow()) === 0, 8000), 'the load has ended');
  });
});
