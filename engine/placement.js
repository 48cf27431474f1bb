/**
 * Placement of client and server on processors, by taskset (util-linux). It affects figures more
 * than the choice of a driver does: with one in flight a round trip takes 17 µs on one processor
 * and 75 to 100 µs on two, and a process keeps its placement for a while. Only processes started by
 * Dragstrip are moved.
 *
 * - Per load, in every schedule: with one in flight, client and server never run at the same time
 * and share a processor; in a window they have separate processors, so that their work overlaps as
 * it does for users. The client's main thread stays; servers move between loads.
 * - With --pin for the whole run, all threads of both; other servers stay unpinned, with a warning.
 *
 * Does not cover interrupts: the kernel may process network interrupts on any CPU.
 */

import { readFileSync } from 'node:fs';
import { bindToCpus, missingTaskset } from '../lib/taskset.js';

/** @typedef {import('../lib/comparison.js').StoredLoad['placement']} StoredPlacement */
/** @typedef {import('./schedule/choose.js').LoadPlan['placement']} PlacementKind */
/** @typedef {{ id: string }} OfLoad */
/** @typedef {NonNullable<import('../lib/result.js').Result['pinning']>} Pinning */
/** @typedef {import('../lib/result.js').Warning} Warning */
/** @typedef {{ name: string, source: string, pids: number[] }} PlacedServer */

/**
 * @typedef {object} CpuPlan
 * @property {number[]} client processors of the benchmark processes
 * @property {number[]} server processors of the servers
 * @property {boolean} shareCore whether both have threads of one physical core
 *
 * @typedef {object} Placement
 * @property {(load: OfLoad) => StoredPlacement} of
 * @property {(tasks: readonly (OfLoad | null)[]) => readonly number[]} clientOf processors of the
 *   main thread of a contender with these loads; empty: any
 * @property {(load: OfLoad | null) => Promise<void>} apply call before segments of that load
 * @property {() => Promise<void>} restore let servers run where they could before
 */

/**
 * Assigns half of the physical cores to each side, more to a client with more processes; threads of
 * one core stay together, because they share its units.
 * @param {{ allowed: readonly number[], coreOf: (cpu: number) => string, processes: number }}
 *   machine coreOf: equal for threads of one core
 * @returns {CpuPlan | null} null: there is only one processor
 */
export function planCpus({ allowed, coreOf, processes }) {
  if (allowed.length < 2) return null;
  /** @type {Map<string, number[]>} */
  const cores = new Map();
  for (const cpu of allowed) {
    const core = coreOf(cpu);
    cores.set(core, [...(cores.get(core) ?? []), cpu]);
  }
  const groups = [...cores.values()];
  if (groups.length === 1) {
    const half = Math.ceil(allowed.length / 2);
    return { client: allowed.slice(0, half), server: allowed.slice(half), shareCore: true };
  }
  let clientCores = Math.floor(groups.length / 2);
  const count = () => groups.slice(0, clientCores).flat().length;
  while (count() < processes && clientCores < groups.length - 1) clientCores += 1;
  return {
    client: groups.slice(0, clientCores).flat(),
    server: groups.slice(clientCores).flat(),
    shareCore: false,
  };
}

/**
 * @param {string} list processor list of the kernel, `0-3,8`
 * @returns {number[]}
 */
export function parseCpuList(list) {
  return list
    .trim()
    .split(',')
    .filter((part) => part !== '')
    .flatMap((part) => {
      const [from, to = from] = part.split('-').map(Number);
      return Array.from({ length: to - from + 1 }, (_, i) => from + i);
    });
}

/**
 * @param {number | 'self'} pid
 * @returns {number[]} processors that it may run on; empty if unknown
 */
export function allowedCpus(pid = 'self') {
  const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readText(`/proc/${pid}/status`))?.[1];
  return list === undefined ? [] : parseCpuList(list);
}

/** @param {number} cpu */
function coreOfThisMachine(cpu) {
  const siblings = readText(`/sys/devices/system/cpu/cpu${cpu}/topology/thread_siblings_list`);
  return siblings.trim() || String(cpu);
}

/** @param {string} file */
function readText(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/**
 * @param {readonly number[]} pids processes, each with all its threads
 * @param {string} taskset
 */
function movable(pids, taskset) {
  const before = pids.map((pid) => allowedCpus(pid));
  const move = (/** @type {readonly number[]} */ some, /** @type {readonly number[]} */ cpus) =>
    bindToCpus(some, cpus, { taskset, isWhole: true });
  return {
    /** @param {readonly number[]} cpus @returns whether all of them were moved */
    moveTo: (cpus) => move(pids, cpus),
    /** Restores the previous processors. */
    async restore() {
      const known = pids.flatMap((pid, i) => (before[i].length > 0 ? move([pid], before[i]) : []));
      await Promise.all(known);
    },
  };
}

/**
 * @param {readonly (OfLoad & { placement: PlacementKind,
 *   load: { processes?: number } })[]} loads
 * @param {readonly PlacedServer[]} servers
 * @param {{ pinned?: number[], taskset?: string, allowed?: number[], reason?: string }} [options]
 *   pinned: processors of the client, if --pin has placed both; reason: why there is no placement
 * @returns {Promise<Placement>}
 */
export async function placeFor(loads, servers, options = {}) {
  const { pinned, taskset = 'taskset', allowed = allowedCpus() } = options;
  const wantsPlace = loads.some(({ placement }) => placement !== 'free' && placement !== 'pinned');
  const reason = options.reason ?? (wantsPlace ? await whyFree(servers, allowed, taskset) : null);
  const processes = Math.max(...loads.map(({ load }) => load.processes ?? 1));
  const plan = planCpus({ allowed, coreOf: coreOfThisMachine, processes });
  const client = plan?.client.slice(-processes) ?? [];
  /** @type {(load: { placement: PlacementKind }) => StoredPlacement} */
  const storedOf = ({ placement: kind }) => {
    if (pinned !== undefined) return { kind: 'pinned', client: pinned, server: [], reason: null };
    if (kind === 'free' || kind === 'pinned' || reason !== null || plan === null) {
      const why = kind === 'free' ? null : reason;
      return { kind: 'free', client: [], server: [], reason: why };
    }
    return { kind, client, server: kind === 'one-cpu' ? client : plan.server, reason: null };
  };
  const stored = new Map(loads.map((load) => [load.id, storedOf(load)]));
  const isMoved = [...stored.values()].some(({ server }) => server.length > 0);
  const pids = isMoved ? [...new Set(servers.flatMap((server) => server.pids))] : [];
  const held = movable(pids, taskset);
  const of = (/** @type {OfLoad} */ { id }) => /** @type {StoredPlacement} */ (stored.get(id));
  let now = '';
  return {
    of,
    clientOf(tasks) {
      const places = tasks.flatMap((task) => (task === null ? [] : (stored.get(task.id) ?? [])));
      return places.find((place) => place.client.length > 0)?.client ?? [];
    },
    async apply(load) {
      const server = (load && stored.get(load.id)?.server) ?? [];
      if (server.join() === now) return;
      now = server.join();
      await (server.length === 0 ? held.restore() : held.moveTo(server));
    },
    restore: held.restore,
  };
}

/**
 * @param {readonly PlacedServer[]} servers
 * @param {readonly number[]} allowed
 * @param {string} taskset
 * @returns {Promise<string | null>} reason why there is no placement
 */
async function whyFree(servers, allowed, taskset) {
  if (allowed.length < 2) return 'there is only one processor, or their number is unknown';
  const other = servers.find(({ source, pids }) => source !== 'dragstrip' || pids.length === 0);
  if (other !== undefined) return `Dragstrip did not start ${other.name}`;
  return missingTaskset(taskset);
}

/**
 * @template T
 * @param {{ pin: boolean, loads: readonly import('../lib/result.js').Load[] }} plan
 * @param {Parameters<typeof pinServers>[0]} servers
 * @param {import('../lib/result.js').Result} result receives the pinning and warnings
 * @param {(cpus: number[] | undefined) => Promise<T>} work cpus: processors of the client
 * @returns {Promise<T>} result of the work; afterwards the servers may run where they could before
 */
export async function withPinning({ pin, loads }, servers, result, work) {
  if (!pin) return work(undefined);
  const processes = Math.max(...loads.map((load) => load.processes ?? 1));
  const { pinning, warnings, restore } = await pinServers(servers, processes);
  result.pinning = pinning;
  result.warnings.push(...warnings);
  try {
    return await work(pinning.client);
  } finally {
    await restore();
  }
}

/**
 * Pins Dragstrip's servers now; benchmark processes are pinned to `pinning.client` when they start.
 * @param {readonly PlacedServer[]} servers
 * @param {number} processes maximum processes of a load
 * @param {{ taskset?: string, plan?: CpuPlan | null }} [options] overrides for tests
 * @returns {Promise<{ pinning: Pinning, warnings: Warning[], restore: () => Promise<void> }>}
 */
export async function pinServers(servers, processes, options = {}) {
  const { taskset = 'taskset' } = options;
  const { plan = planCpus({ allowed: allowedCpus(), coreOf: coreOfThisMachine, processes }) } =
    options;
  const missing = plan === null ? 'there is only one processor' : await missingTaskset(taskset);
  const { client, server } = missing === null && plan !== null ? plan : { client: [], server: [] };
  /** @type {Pinning['servers']} */
  const outcomes = [];
  /** @type {(() => Promise<void>)[]} */
  const undo = [];
  for (const { name, source, pids } of servers) {
    const reason = missing ?? (source === 'dragstrip' ? null : 'Dragstrip did not start it');
    const held = movable(reason === null ? pids : [], taskset);
    undo.push(held.restore);
    const pinned = reason === null && pids.length > 0 && (await held.moveTo(server));
    outcomes.push({ name, pinned, reason: pinned ? null : (reason ?? 'taskset failed') });
  }
  return {
    pinning: { client, server, servers: outcomes, reason: missing },
    warnings:
      missing === null && plan !== null
        ? pinWarnings(plan, processes, outcomes)
        : [notPinnedWarning(missing ?? '')],
    restore: async () => {
      for (const step of undo) await step();
    },
  };
}

/**
 * @param {string} reason
 * @returns {Warning}
 */
function notPinnedWarning(reason) {
  return {
    code: 'W_NOT_PINNED',
    message: `--pin: nothing was pinned: ${reason}`,
    hint: 'run on a machine with two processors or more, with util-linux installed',
    benchmark: null,
  };
}

/**
 * @param {CpuPlan} plan
 * @param {number} processes
 * @param {Pinning['servers']} servers
 * @returns {Warning[]}
 */
export function pinWarnings({ client, shareCore }, processes, servers) {
  /** @type {Warning[]} */
  const warnings = [];
  const warn = (/** @type {string} */ message, /** @type {string} */ hint) =>
    warnings.push({ code: 'W_PIN', message, hint, benchmark: null });
  if (shareCore) {
    warn(
      'client and server share a physical core: each slows the other down',
      'run on a machine with two cores or more',
    );
  }
  if (client.length < processes) {
    warn(
      `${processes} processes share ${client.length} processors, since one is reserved for the server`,
      `run on ${processes + 1} cores or more, or with fewer --processes`,
    );
  }
  for (const { name, pinned, reason } of servers) {
    if (pinned) continue;
    warn(
      `${name} was not pinned: ${reason}; it may run on the client's processors`,
      'use npx dragstrip servers start, or pin it yourself: taskset -a -p -c LIST PID',
    );
  }
  return warnings;
}
