/**
 * The agent of a load machine: waits for a lease, runs its share of the benchmarks, uploads, and
 * waits again. Generators are child processes, so that a blocked event loop of a generator does not
 * lose the lease. It prints nothing.
 */

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Queue, Worker } from 'bullmq';
import { refusedError } from '../../lib/errors.js';
import { identityOf, sourceDigest } from './configuration.js';
import {
  LEASES,
  LOCK_MS,
  PREFIX,
  RENEW_MS,
  runKey,
  STALLED_MS,
  uploadsOf,
} from './coordination-keys.js';
import { compareClocks, toNs } from './coordinator-clock.js';
import { connectCoordinator, connectionOptions } from './coordinator-connection.js';
import { leaseSchema, leaseText } from './order-schema.js';
import { announce, describeMachine, requireFreeName } from './presence.js';
import { createSeatKey, verifierOf } from './seat-key.js';
import { Session } from './session.js';
import { firstIssue } from './strict.js';

/** @typedef {import('./session.js').SessionContext} SessionContext */

/** Time limit to leave the list of agents. */
const CLOSE_MS = 2000;

/** Jobs run once, because an automatic repetition would be a different load. */
export const ONCE = Object.freeze({ attempts: 1, removeOnComplete: false, removeOnFail: false });

/**
 * @typedef {{ type: 'waiting', name: string }
 *   | { type: 'leased' | 'released', run: string, seat: number, count: number }
 *   | { type: 'cut', run: string, message: string }
 *   | { type: 'trouble', message: string }} AgentEvent
 */

/**
 * @param {object} options
 * @param {import('./coordinator-connection.js').Coordinator} options.coordinator
 * @param {string} options.name
 * @param {readonly string[]} options.allowTargets servers outside loopback that it may load
 * @param {string} options.home
 * @param {AbortSignal} options.signal stops it
 * @param {(event: AgentEvent) => void} options.onEvent
 * @param {SessionContext['play']} [options.play] instead of processes
 * @returns {Promise<void>} resolves when it was stopped
 * @throws {import('../../lib/errors.js').DragstripError} E_TARGET: no coordinator; E_USAGE: its
 *   name is in use
 */
export async function runAgent(options) {
  const { password, controller = password } = options.coordinator.credentials;
  const verifies = verifierOf(controller);
  const client = await connectCoordinator(options.coordinator);
  try {
    await serveLeases(client, { ...options, verifies });
  } finally {
    client.disconnect();
  }
}

/**
 * Another job with the same signed lease is refused until the lease ends. Removing this key gains
 * nothing, because orders contain the key of the agent of the seat.
 * @param {import('ioredis').Redis} client
 * @param {{ run: string, seat: number, leftMs: number }} lease
 * @returns {Promise<boolean>} false: it is in use
 */
async function takeSeat(client, { run, seat, leftMs }) {
  return (await client.set(runKey(run, `taken-${seat}`), '1', 'PX', leftMs, 'NX')) !== null;
}

/**
 * @param {import('ioredis').Redis} client
 * @param {Parameters<typeof runAgent>[0] & Pick<SessionContext, 'verifies'>} options
 */
async function serveLeases(client, options) {
  const { coordinator, name, allowTargets, home, signal, onEvent, play, verifies } = options;
  sourceDigest();
  let clock = await compareClocks(client);
  let busy = false;
  await requireFreeName(client, name);
  const id = randomUUID();
  const presence = announce(client, name, {
    id,
    clock: () => clock,
    state: () => (busy ? 'busy' : 'idle'),
  });
  /** @type {import('bullmq').Processor} */
  const serve = async (job, token = '') => {
    const { data, error: wrong } = leaseSchema.safeParse(job.data);
    if (wrong) throw refusedError(`invalid lease: ${firstIssue(wrong)}`, 'use the same version');
    const { run, seat, count, untilMs, signature } = data;
    const leftMs = untilMs - Math.floor(toNs(await client.time()) / 1e6);
    const issue =
      leftMs <= 0
        ? 'has ended'
        : !verifies(leaseText(data), signature)
          ? 'is not signed by the controller'
          : (await takeSeat(client, { run, seat, leftMs }))
            ? null
            : 'has already been used';
    if (issue !== null) {
      throw refusedError(`a lease ${issue}`, 'start agents with the token of this coordinator');
    }
    const { key, signed } = createSeatKey();
    busy = true;
    onEvent({ type: 'leased', run, seat, count });
    const uploads = new Queue(uploadsOf(run), { connection: client, prefix: PREFIX });
    const notify = (/** @type {Record<string, unknown>} */ message) =>
      job.updateProgress({ ...message, seat });
    const session = new Session({
      data,
      client,
      notify,
      verifies,
      key,
      signed: (step) => signed({ run, seat, step }),
      allowTargets,
      home,
      play,
      holdsLease: async () => Number(await job.extendLock(token, LOCK_MS)) === 1,
      async upload(step, payload) {
        const upload = { seat, step, payload, signature: signed({ run, seat, step, payload }) };
        await uploads.add('upload', upload, { ...ONCE, jobId: `${seat}-${step}` });
      },
      onClock(reading) {
        clock = reading;
      },
    });
    try {
      const identity = await identityOf(data.storages);
      clock = await compareClocks(client);
      session.clock = clock;
      await notify({ type: 'ready', name, identity, machine: describeMachine(), clock, key });
      await session.run();
      onEvent({ type: 'released', run, seat, count });
    } catch (error) {
      onEvent({ type: 'cut', run, message: String(error.message) });
      throw error;
    } finally {
      await uploads.close().catch(() => {});
      busy = false;
    }
  };
  const worker = new Worker(LEASES, serve, {
    connection: connectionOptions(coordinator),
    prefix: PREFIX,
    name,
    concurrency: 1,
    maxStalledCount: 0,
    lockDuration: LOCK_MS,
    lockRenewTime: RENEW_MS,
    stalledInterval: STALLED_MS,
    drainDelay: 2,
    runRetryDelay: 500,
  });
  worker.on('error', (error) => onEvent({ type: 'trouble', message: String(error.message) }));
  onEvent({ type: 'waiting', name });
  if (!signal.aborted) {
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  }
  // Without the coordinator neither of them resolves.
  const closed = Promise.all([presence.stop(), worker.close(true)]).catch(() => {});
  await Promise.race([closed, sleep(CLOSE_MS, null, { ref: false })]);
}
