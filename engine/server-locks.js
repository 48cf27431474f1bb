/**
 * Locks of the servers of a command, between commands of a user on this machine. Runs on the
 * dataset's rows share the lock with other readers, with a warning; a run with its own data, and a
 * command that writes the dataset's rows, hold it exclusively. A command does not wait for a run:
 * it may take long, and both would disturb each other’s figures. A reader of the user's own data
 * (--read-only) takes no lock.
 */

import { formatEndpoint, formatPlace } from '../lib/address.js';
import { readCredentials } from '../lib/credentials.js';
import { refusedError, targetError } from '../lib/errors.js';
import { processScope } from '../lib/process-identity.js';
import { machineLock, withLock } from '../servers/lock.js';
import { missingRows } from './targets.js';

/** @typedef {import('../servers/lock.js').Holder} Holder */
/** @typedef {import('../lib/result.js').Warning} Warning */
/** @typedef {import('./targets.js').ServerTarget} ServerTarget */
/** @typedef {Pick<ServerTarget, 'name' | 'address' | 'assumed'>} Server */

/**
 * @typedef {object} LockContext
 * @property {string} home the state folder
 * @property {string} [purpose] name of the run; absent: a command that fills servers, for which
 *   others wait
 * @property {boolean} [shared] shares the lock with other readers
 * @property {AbortSignal} [signal]
 * @property {(event: { type: 'waiting', what: string }) => void} [onEvent] called when waiting for
 *   a command that fills a server
 * @property {(server: Server, other: Holder) => void} [onMeet] called once per other process
 */

/**
 * @template T
 * @param {readonly Server[]} servers
 * @param {LockContext} context
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 * @throws {import('../lib/errors.js').DragstripError} E_REFUSED: a run uses a server
 */
export async function withServerLocks(servers, { home, onMeet, onEvent, ...context }, work) {
  /** @type {Map<string, Server>} */
  const locks = new Map();
  for (const server of servers) {
    for (const lock of locksOf(server, home)) locks.set(lock, server);
  }
  /** @type {Set<string>} */
  const met = new Set();
  // All commands lock in the same order, to prevent deadlocks.
  const locked = [...locks].sort().reduceRight(
    (inner, [lock, server]) =>
      () => {
        const options = {
          ...context,
          onWait: () => onEvent?.({ type: 'waiting', what: 'another command that fills a server' }),
          refuse: (/** @type {Holder} */ holder, /** @type {string} */ file) =>
            refuseRun(server, holder, file),
          onMeet(/** @type {Holder} */ other) {
            const who = `${server.name} ${other.pid} ${other.startTicks}`;
            if (!met.has(who)) onMeet?.(server, other);
            met.add(who);
          },
        };
        return withLock(lock, options, inner);
      },
    work,
  );
  return locked();
}

/**
 * A server is locked under each of its addresses, since another command may use a different one, or
 * another node of a cluster. Assumed ports may belong to any server of the kind, and would make
 * commands on two servers wait for each other.
 * @param {Server} server
 * @param {string} home
 * @returns {string[]} argument of withLock
 */
function locksOf({ address, assumed = [] }, home) {
  const named = Object.entries(address).filter(([which]) => !assumed.includes(which));
  const places = named.map(([, endpoint]) =>
    formatPlace(endpoint).replace(/^(localhost|\[::1\]):/, '127.0.0.1:'),
  );
  return places.map((place) => machineLock(`server@${place}`, home));
}

/**
 * @param {Server} server
 * @param {Holder} holder
 * @param {string} file
 * @throws {import('../lib/errors.js').DragstripError} E_REFUSED if the holder is a run
 */
function refuseRun(server, holder, file) {
  if (holder.purpose === undefined) return;
  throw refusedError(
    `${describe(server)}: another run is using it: ${describeProcess(holder)}`,
    holder.scope === processScope()
      ? 'wait until it has ended, or use another server'
      : `wait until it has ended; if it was killed, remove ${file}`,
  );
}

/** @param {Server} server */
function describe({ name, address }) {
  return `${name} ${formatEndpoint(Object.values(address)[0])}`;
}

/** @param {Holder} holder */
function describeProcess({ pid, purpose = 'seed' }) {
  return `process ${pid} of this machine (dragstrip ${purpose})`;
}

/**
 * Prevents replacement of the servers' rows while `work` runs.
 * @param {{ plan: import('./plan.js').RunPlan, home: string,
 *   storages: readonly import('./targets.js').StorageTarget[], signal?: AbortSignal,
 *   onEvent?: LockContext['onEvent'] }} run
 * @param {() => Promise<unknown>} work
 * @returns {Promise<Warning[]>} other commands that used the servers meanwhile
 * @throws {import('../lib/errors.js').DragstripError} E_REFUSED: a run with its own data uses a
 *   server; E_TARGET: the rows were replaced before the lock was taken
 */
export async function withRows({ plan, home, storages, signal, onEvent }, work) {
  const servers = serversOf(storages);
  /** @type {Warning[]} */
  const warnings = [];
  const onMeet = (/** @type {Server} */ server, /** @type {Holder} */ other) => {
    warnings.push({
      code: 'W_OTHER_RUN',
      message: `${describe(server)} was used by ${describeProcess(other)} at the same time`,
      hint: 'run one after the other, since they disturb each other’s figures',
      benchmark: null,
    });
  };
  const context = { home, purpose: plan.command, shared: true, signal, onEvent, onMeet };
  await withServerLocks(servers, context, async () => {
    for (const server of servers) await requireRows(server, plan);
    await work();
  });
  return warnings;
}

/**
 * @param {readonly import('./targets.js').StorageTarget[]} storages
 * @returns {ServerTarget[]} unique keys
 */
export function serversOf(storages) {
  const used = storages.filter(({ unavailable }) => unavailable === null);
  return [...new Set(used.flatMap(({ server }) => server ?? []))];
}

/**
 * @param {ServerTarget} server
 * @param {import('./plan.js').RunPlan} plan
 */
async function requireRows(server, plan) {
  const credentials = await readCredentials(server.credentialVariables);
  const missing = await missingRows(server, credentials, plan);
  if (missing === null) return;
  throw targetError(`${missing.reason}; its rows have just been replaced`, missing.hint);
}
