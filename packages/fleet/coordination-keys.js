/**
 * Keys and times of the coordination. All keys have a common prefix, to which the coordinator
 * restricts its users.
 */

import { COORDINATOR_PREFIX } from '../../servers/coordinator.js';

/** BullMQ's prefix of each queue name. */
export const PREFIX = COORDINATOR_PREFIX;
/**
 * One job per agent and run: the lease of the agent, active from the first to the last benchmark.
 */
export const LEASES = 'leases';
/** Hash of all agents: name → JSON. */
export const AGENTS_KEY = `${PREFIX}:agents`;

/**
 * A lease ends this long after its last renewal. BullMQ renews it once or twice in RENEW_MS, and
 * checks for expired ones every STALLED_MS, in two steps: the event follows the last heartbeat
 * within LOCK_MS + 2 · STALLED_MS, which must be less than 4 s.
 */
export const LOCK_MS = 2200;
export const RENEW_MS = 700;
export const STALLED_MS = 500;

/** The dead-man key of a run: renewed by the controller, deleted if an agent is lost. */
export const ALIVE_MS = 2500;
export const ALIVE_RENEW_MS = 500;
/** Interval of the agents' checks of it. */
export const ALIVE_CHECK_MS = 400;

export const PRESENCE_MS = 500;
/** An agent inactive for this long is listed as silent, and not counted. */
export const SILENT_MS = 3000;
/** The entry of an agent inactive for this long is removed. */
export const FORGOTTEN_MS = 60_000;

/**
 * @param {string} run
 * @param {'orders' | 'alive' | `taken-${number}`} part orders: stream of the controller's messages
 *   to all agents; taken: marks the lease of a seat as taken
 * @returns {string} key
 */
export function runKey(run, part) {
  return `${PREFIX}:run:${run}:${part}`;
}

/**
 * @param {string} run
 * @returns {string} name of the queue of its uploads
 */
export function uploadsOf(run) {
  return `uploads-${run}`;
}
