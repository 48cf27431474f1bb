/**
 * Several load machines, and the loss of one: killed, stopped, or its link down. A real
 * coordinator, agents as processes, real faults.
 */
// Needs: coordinator

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { childrenOf, startCommand, startTurns } from '../../../../test/helpers/command-line.js';
import {
  contenderOf,
  listenAsLink,
  measure,
  secondsOf,
  until,
} from '../../../../test/helpers/fleet.js';
import { withFolder } from '../../../../test/helpers/folder.js';
import { withFleet } from '../../../../test/helpers/load-machines.js';
import { withServers } from '../../../../test/helpers/servers.js';

/** Time from the last heartbeat to the event, as guaranteed by coordination-keys.js. */
const NOTICED_MS = 4000;
/**
 * Time for the others to stop: the dead-man key is checked every 400 ms, plus a second for
 * outstanding replies.
 */
const STOPPED_MS = 4000;
/** Operations of the kept seconds that ended later: a tenth of a second. */
const LACKING_MAX = 6;
/** Per second and agent; it sleeps between such rare arrivals. */
const RATE = 30;
const LONG = Object.freeze({ rate: 3 * RATE, durationNs: 30e9 });

describe('a lost agent', () => {
  const servers = withServers(['coordinator']);
  const { agents, server, reach, open, start } = withFleet(servers, ['a', 'b']);

  /** @param {number} ms @returns {Promise<number>} GETs per second at the server now */
  const rateNow = async (ms = 400) => {
    const before = server.count();
    await sleep(ms);
    return ((server.count() - before) / ms) * 1000;
  };

  /** @param {number} [rate] */
  const underLoad = async (rate = 1.5 * RATE) =>
    assert.ok(await until(async () => (await rateNow()) > rate), 'the load has begun');

  const quiet = async () =>
    assert.ok(await until(async () => (await rateNow()) === 0, STOPPED_MS), 'the load has ended');

  /**
   * @param {(lost: import('../../../../test/helpers/fleet.js').AgentProcess) => void} fault
   * @param {{ onLoss?: 'invalid' | 'truncate', address?: string, beforeMs?: number }} [how]
   */
  async function lose(fault, { onLoss, address = reach().address, beforeMs = 0 } = {}) {
    const lost = await start('lost', { address });
    const fleet = await open(3, { onLoss }).catch(async (error) => {
      await lost.stop();
      throw error;
    });
    try {
      server.forget();
      const running = measure(fleet, contenderOf(server.port, LONG));
      await underLoad();
      await sleep(beforeMs);
      const turnsMs = startTurns(); // file of the controller, which is this process
      fault(lost);
      const isNoticed = await until(() => fleet.lost !== null, 60_000);
      const noticedMs = turnsMs();
      assert.ok(isNoticed, 'the loss is noticed');
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

  test('killed before the first step: the run fails and names the agent', async () => {
    const lost = await start('lost');
    const fleet = await open(3);
    try {
      lost.child.kill('SIGKILL');
      assert.ok(await until(() => fleet.lost !== null, 10_000), 'the loss is noticed');
      const { failure } = await measure(fleet, contenderOf(server.port, LONG));
      assert.equal(failure?.code, 'E_AGENT_LOST');
      assert.match(String(failure?.message), /^agent lost was lost: /);
      assert.ok(fleet.signal.aborted, 'the run goes no further');
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
      // The next run can use it.
      const next = await open(3);
      await next.close();
    } finally {
      await fleet.close();
      await lost.stop();
    }
  });

  test('its link is down: it stops by itself as well', async () => {
    const { port } = /** @type {any} */ (servers.address('coordinator')['main']);
    const link = await listenAsLink(port);
    const address = `127.0.0.1:${link.port}`;
    const { fleet, lost, execution } = await lose(() => link.cut(), { address });
    try {
      assert.equal(execution.failure?.code, 'E_AGENT_LOST');
      await quiet();
      // It stops by itself 2.5 s after the link went down, possibly later than the others.
      const isGone = () => pidsOf(lost).length === 0;
      assert.ok(await until(isGone, NOTICED_MS), 'its generator has ended');
    } finally {
      await fleet.close();
      await lost.stop();
      await link.close();
    }
  });

  /** @returns {Promise<number>} operations missing in the kept seconds; two thirds are due */
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
      return seconds * 2 * RATE - segment.scheduled;
    } finally {
      await fleet.close();
      await lost.stop();
    }
  }

  test('truncate keeps the other agents’ seconds in which all agents were alive', async () => {
    // Operations that end in a later second are missing, so late replies on a busy machine require
    // another attempt.
    let lacking = await truncated();
    for (let more = 2; more > 0 && lacking > LACKING_MAX; more -= 1) lacking = await truncated();
    assert.ok(Math.abs(lacking) <= LACKING_MAX, `${lacking} operations are not there`);
  });

  test('a generator that is killed fails the round by its agent’s name', async () => {
    const fleet = await open(2);
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
    const busy = await start('busy', { env: { LATENCY_BY_OPERATION: '1', BLOCK_MS: '4000' } });
    const fleet = await open(3);
    try {
      const load = { rate: 300, durationNs: 1e9 };
      const { failure } = await measure(fleet, contenderOf(server.port, load));
      assert.equal(fleet.lost, null);
      assert.equal(failure?.code, 'E_AGENT_LATE');
      assert.match(String(failure?.message), /^agent busy sent \d+ of 100 operations too late/);
    } finally {
      await fleet.close();
      await busy.stop();
    }
  });

  test('the controller is killed: the agents stop by the dead-man key and are free', async (t) => {
    const folder = withFolder(t);
    const { credentials = {} } = servers.running('coordinator');
    const how = {
      coordinator: reach().address,
      token: credentials['controller'],
      agents: 2,
      server: `127.0.0.1:${server.port}`,
      loads: [{ ...LONG, durationNs: 60e9 }],
    };
    const words = ['test/helpers/run-fleet.js', JSON.stringify(how)];
    const race = startCommand(folder, words);
    try {
      server.forget();
      await underLoad();
      race.child.kill('SIGKILL');
      await race.ended;
      assert.ok(await until(async () => (await rateNow()) === 0, 8000), 'the load has ended');
      const fleet = await open(2);
      await fleet.close();
    } finally {
      race.child.kill('SIGKILL');
      await race.ended;
    }
  });

  test('the coordinator is killed: the run ends, and the agents stop', async () => {
    const fleet = await open(2);
    server.forget();
    const running = measure(fleet, contenderOf(server.port, LONG));
    await underLoad();
    process.kill(servers.running('coordinator').pid, 'SIGKILL');
    assert.ok(await until(() => fleet.lost !== null, 20_000), 'it is noticed');
    const { failure } = await running;
    assert.match(String(failure?.message), /coordinator unreachable/);
    await fleet.close();
    assert.ok(await until(async () => (await rateNow()) === 0, 8000), 'the load has ended');
  });
});
