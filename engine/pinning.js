/**
 * Client and server on separate processors, by taskset (util-linux): otherwise the scheduler
 * moves both about and they take each other's caches. Only processes that Dragstrip started are
 * pinned; other servers stay unpinned, with a warning.
 *
 * Not for interrupts: what the kernel does for the network it does where it likes.
 */

import { readFileSync } from 'node:fs';
import { execa } from 'execa';

/**
 * @typedef {object} PinPlan
 * @property {number[]} client processors of the benchmarks' processes
 * @property {number[]} server processors of the servers
 * @property {boolean} shareCore both have threads of one physical core
 */

/** @typedef {NonNullable<import('../lib/result.js').Result['pinning']>} Pinning */
/** @typedef {import('../lib/result.js').Warning} Warning */

/**
 * Half of the physical cores for each side, more for the client where it has more processes; the
 * threads of one core stay together, because they share its units.
 * @param {{ allowed: readonly number[], coreOf: (cpu: number) => string, processes: number }}
 *   machine coreOf: the same text for threads of one core
 * @returns {PinPlan | null} null: there is one processor, and nothing to keep apart
 */
export function planPinning({ allowed, coreOf, processes }) {
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
  let taken = Math.floor(groups.length / 2);
  const count = () => groups.slice(0, taken).flat().length;
  while (count() < processes && taken < groups.length - 1) taken += 1;
  return {
    client: groups.slice(0, taken).flat(),
    server: groups.slice(taken).flat(),
    shareCore: false,
  };
}

/**
 * @param {string} list of the kernel, `0-3,8`
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
 * @returns {number[]} processors that it may run on; empty where that is not known
 */
export function allowedCpus(pid = 'self') {
  const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readText(`/proc/${pid}/status`))?.[1];
  return list === undefined ? [] : parseCpuList(list);
}

/** @param {number} cpu */
export function coreOfThisMachine(cpu) {
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
 * @typedef {object} Pinned
 * @property {Pinning} pinning for the result
 * @property {Warning[]} warnings
 * @property {() => Promise<void>} restore the servers may run where they could before
 */

/**
 * @template T
 * @param {{ pin: boolean, loads: readonly import('../lib/result.js').Load[] }} plan
 * @param {Parameters<typeof pinServers>[0]} servers
 * @param {import('../lib/result.js').Result} result gets what was pinned, and warnings
 * @param {(cpus: number[] | undefined) => Promise<T>} work cpus: those of the client
 * @returns {Promise<T>} of the work; afterwards the servers may run where they could before
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
 * Pins our own servers now; the benchmarks' processes are pinned when they start, to
 * `pinning.client`.
 * @param {readonly { name: string, source: string, pids: number[] }[]} servers
 * @param {number} processes of the load that has most
 * @param {{ taskset?: string, plan?: PinPlan | null }} [options] for tests
 * @returns {Promise<Pinned>}
 */
export async function pinServers(servers, processes, options = {}) {
  const { taskset = 'taskset' } = options;
  const allowed = allowedCpus();
  const plan =
    options.plan === undefined
      ? planPinning({ allowed, coreOf: coreOfThisMachine, processes })
      : options.plan;
  const missing = plan === null ? 'there is only one processor' : await missingFor(taskset);
  if (plan === null || missing !== null) return notPinned(servers, missing ?? '');
  /** @type {Pinning['servers']} */
  const outcomes = [];
  /** @type {(() => Promise<void>)[]} */
  const undo = [];
  for (const { name, source, pids } of servers) {
    const reason = source === 'dragstrip' ? null : 'Dragstrip did not start it';
    let pinned = reason === null && pids.length > 0;
    for (const pid of reason === null ? pids : []) {
      const before = allowedCpus(pid);
      pinned = (await setCpus(taskset, pid, plan.server)) && pinned;
      undo.push(async () => {
        if (before.length > 0) await setCpus(taskset, pid, before);
      });
    }
    outcomes.push({ name, pinned, reason: pinned ? null : (reason ?? 'taskset failed') });
  }
  return {
    pinning: { client: plan.client, server: plan.server, servers: outcomes, reason: null },
    warnings: pinWarnings(plan, processes, outcomes),
    restore: async () => {
      for (const step of undo) await step();
    },
  };
}

/**
 * @param {string} taskset
 * @returns {Promise<string | null>} why it cannot be used
 */
export async function missingFor(taskset) {
  const { failed } = await execa(taskset, ['--version'], { reject: false, stdio: 'ignore' });
  return failed ? 'taskset (util-linux) is not installed' : null;
}

/**
 * @param {string} taskset
 * @param {number} pid with all its threads
 * @param {readonly number[]} cpus
 */
export async function setCpus(taskset, pid, cpus) {
  const args = ['--all-tasks', '--pid', '--cpu-list', cpus.join(','), String(pid)];
  const { failed } = await execa(taskset, args, { reject: false, stdio: 'ignore' });
  return !failed;
}

/**
 * @param {readonly { name: string }[]} servers
 * @param {string} reason
 * @returns {Pinned}
 */
function notPinned(servers, reason) {
  return {
    pinning: {
      client: [],
      server: [],
      servers: servers.map(({ name }) => ({ name, pinned: false, reason })),
      reason,
    },
    warnings: [
      {
        code: 'W_NOT_PINNED',
        message: `--pin: nothing was pinned: ${reason}`,
        hint: 'run on a machine with two processors or more, with util-linux installed',
        benchmark: null,
      },
    ],
    restore: async () => {},
  };
}

/**
 * @param {PinPlan} plan
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
      `${processes} processes share ${client.length} processors, to leave one for the server`,
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
