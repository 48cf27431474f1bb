/**
 * The contenders of a round: the storages; in blocks also the first storage a second time (its
 * ratio to itself validates all others), the ceiling of every server in use, the harness overhead,
 * another program. Pure: names and options, no process.
 */

import { labelOf } from '../lib/label.js';
import { protocolOf } from '../limits/wire/protocol.js';
import { isReadOnly } from './own-data.js';
import { OF_TRIAL } from './schedule/choose.js';

/** @typedef {import('./targets.js').StorageTarget} StorageTarget */
/** @typedef {import('./targets.js').ServerTarget} ServerTarget */
/** @typedef {import('./contender.js').ContenderSpec} ContenderSpec */
/** @typedef {import('./contender.js').Task} Task */
/** @typedef {'storage' | 'again' | 'ceiling' | 'overhead' | 'program'} Role */

/**
 * @typedef {object} Contender
 * @property {string} name
 * @property {Role} role
 * @property {string} [of] name of the contender that it copies
 * @property {string} [ceiling] name of the ceiling of its protocol
 * @property {string | null} server name; null: it is embedded
 * @property {number} every interval of blocks in which it runs: 1 for each, 4 if a coarse figure is
 *   sufficient
 * @property {number} lasts length of its segments in usual segments
 * @property {ContenderSpec} spec
 *
 * @typedef {object} RunLoad a load of a run, with its contenders
 * @property {string} id
 * @property {import('../lib/result.js').Load} load
 * @property {string} workload name, or path of a file
 * @property {Record<string, unknown>} workloadOptions
 * @property {import('../lib/types.js').Parameters} [parameters] parameters of the variant
 * @property {import('../lib/types.js').Part} [part] part of a row that has several loads
 * @property {boolean} isNamed several workloads are run, so stored loads name theirs
 * @property {import('./schedule/choose.js').LoadPlan['schedule']} schedule
 * @property {string | null} reason reason for a schedule other than blocks
 * @property {import('./schedule/choose.js').LoadPlan['warm']} warm
 * @property {import('./schedule/choose.js').LoadPlan['placement']} placement
 * @property {string[]} contenders names of the storages that have it
 * @property {string[]} others names of further servers that it uses
 *
 * @typedef {object} RoleContext
 * @property {import('./plan.js').RunPlan} plan
 * @property {readonly ServerTarget[]} others further servers
 * @property {string} folder folder of embedded stores
 * @property {number} round
 */

/** Contenders other than drivers run less often, since a coarse figure is sufficient. */
const EVERY_EMBEDDED = 4;
const EVERY_CEILING = 2;
/** A separate program needs about 10 ms to start, and counts in whole milliseconds. */
const EVERY_PROGRAM = 8;
const PROGRAM_LASTS = 8;
/** Keys of a round in blocks, shared by its variants; segments cycle through them. */
const KEYS = 262_144;
const KEYS_MIN = 16_384;

/** The workload whose requests the wire loops send. */
const CEILING_OF = 'get';
/** The storage without a server: it measures the harness overhead. */
const OVERHEAD = 'memory';
/** Few enough to stay in the processor's caches, so that the overhead is that of the loop. */
const OVERHEAD_ROWS = 1000;
/**
 * Per request of a burst: the slowest drivers issue 40,000 per second, and reply after the last.
 */
const BURST_REQUEST_NS = 50_000;

/** Endpoint of a protocol in the server's address. */
const ENDPOINTS = Object.freeze({ handlersocket: 'read', mysql: 'sql' });

/**
 * @param {string} id
 * @param {RunLoad['load']} load load of rows, for every workload
 * @param {RunLoad['warm']} warm
 * @param {string[]} [contenders] names of storages
 * @returns {RunLoad} a load of no benchmark
 */
export function loadOfReads(id, load, warm, contenders = []) {
  return {
    id,
    load,
    workload: CEILING_OF,
    workloadOptions: {},
    isNamed: false,
    ...OF_TRIAL,
    warm,
    contenders,
    others: [],
  };
}

/**
 * @param {readonly StorageTarget[]} targets targets that can run
 * @param {readonly RunLoad[]} loads loads in blocks
 * @param {RoleContext} context
 * @param {{ wantsOverhead?: boolean, program?: string | null }} [beside] wantsOverhead: the harness
 *   overhead takes part; program: name of another program that takes part
 * @returns {Contender[]}
 */
export function contendersInBlocks(targets, loads, context, beside = {}) {
  if (targets.length === 0 || loads.length === 0) return [];
  const { wantsOverhead = false, program = null } = beside;
  const isMixed = targets.some(({ server }) => server !== null);
  const all = targets.map((target) => storageContender(target, loads, context, isMixed));
  const first = all.find(({ server }) => server !== null) ?? all[0];
  /** @type {Contender} */
  const again = {
    ...first,
    name: `${first.name} (A/A)`,
    role: 'again',
    of: first.name,
    spec: { ...first.spec, isCopy: true },
  };
  const hasOverhead = all.some(({ role }) => role === 'overhead');
  const contenders = [
    ...all,
    again,
    ...ceilingsOf(targets, loads, context),
    ...(wantsOverhead && !hasOverhead ? [overheadContender(loads, context)] : []),
    ...(program === null ? [] : [programContender(program, all)]),
  ];
  const variants = new Set(
    loads.map(({ workload, parameters, part, load: { connections, valueSize } }) =>
      JSON.stringify([workload, parameters, part, connections, valueSize]),
    ),
  ).size;
  const operations = Math.max(KEYS_MIN, Math.floor(KEYS / variants));
  // A separate slot for every variant of every contender.
  return contenders.map((contender, i) => ({
    ...contender,
    spec: {
      ...contender.spec,
      tasks: contender.spec.tasks.map(
        (task, load) =>
          task && {
            ...task,
            operations: task.load.operations ?? operations,
            slot: i * loads.length + load,
          },
      ),
    },
  }));
}

/** @param {Pick<Contender, 'spec'>} contender @returns {number} loads that it has */
export function loadCount({ spec }) {
  return spec.tasks.filter((task) => task !== null).length;
}

/**
 * @param {readonly Pick<Contender, 'every' | 'lasts' | 'spec'>[]} contenders
 * @returns {number} segments of usual length in a block of all of them
 */
export function segmentsPerBlock(contenders) {
  return contenders.reduce((sum, one) => sum + (loadCount(one) * one.lasts) / one.every, 0);
}

/**
 * @param {StorageTarget} target
 * @param {readonly RunLoad[]} loads
 * @param {RoleContext} context
 * @param {boolean} [isMixed] other contenders have a server
 * @returns {Contender}
 */
export function storageContender(target, loads, context, isMixed = false) {
  const { plan, others, folder, round } = context;
  const { definition, source, profile, server, driver, runtime } = target;
  const { name } = definition;
  const label = labelOf({ storage: name, profile });
  const ceiling = hasCeiling(plan) ? ceilingOf(target) : null;
  const isCoarse = server === null && (isMixed || name === OVERHEAD);
  return {
    ...(ceiling !== null && { ceiling }),
    name: label,
    role: name === OVERHEAD ? 'overhead' : 'storage',
    every: isCoarse ? EVERY_EMBEDDED : 1,
    lasts: 1,
    server: server?.name ?? null,
    spec: {
      opener: 'storage',
      storage: {
        storage: source,
        profile,
        address: server?.address ?? {},
        others: others.map((one) => ({
          name: one.name,
          address: one.address,
          credentialVariables: one.credentialVariables,
          pids: one.pids,
        })),
        credentialVariables: server?.credentialVariables ?? null,
        serverPids: server?.pids ?? [],
        dataset: plan.dataset,
        ...(server?.own && { own: server.own }),
        folder,
        seed: plan.seed + round * 16,
        round,
      },
      tasks: loads.map((load) => (load.contenders.includes(label) ? taskOf(load, plan) : null)),
      ...(driver && { driver }),
      ...(runtime && { runtime }),
    },
  };
}

/**
 * @param {RunLoad} load
 * @param {import('./plan.js').RunPlan} plan
 * @returns {Task}
 */
function taskOf({ load, workload, workloadOptions, part, warm, others, id }, plan) {
  const { kind, operations } = load;
  const burstNs = kind === 'burst' ? (operations ?? 0) * BURST_REQUEST_NS : 0;
  return {
    id,
    load,
    workload,
    workloadOptions: { ...workloadOptions, ...(part && { part }) },
    warm,
    slot: 0,
    others,
    // Longer than the time limit, by the time that a burst may need until its first reply.
    stallNs: plan.timeoutMs * 1e6 + burstNs,
  };
}

/**
 * @param {readonly RunLoad[]} loads
 * @param {RoleContext} context
 * @returns {Contender} the overhead contender, unless `memory` is a storage of the run
 */
export function overheadContender(loads, context) {
  const definition = /** @type {any} */ ({ name: OVERHEAD });
  const target = { definition, source: OVERHEAD, profile: 'default', server: null };
  const { plan } = context;
  const rows = Math.min(OVERHEAD_ROWS, plan.dataset.rows);
  const own = loads.map((load) => ({ ...load, contenders: [OVERHEAD] }));
  const dataset = { ...plan.dataset, rows };
  return storageContender(/** @type {any} */ (target), own, {
    ...context,
    plan: { ...plan, dataset },
  });
}

/**
 * @param {readonly StorageTarget[]} targets
 * @param {readonly RunLoad[]} loads
 * @param {RoleContext} context
 * @returns {Contender[]} the ceiling of each server and protocol in use
 */
function ceilingsOf(targets, loads, { plan, folder, round }) {
  /** @type {Map<string, StorageTarget>} */
  const targetOf = new Map();
  for (const target of hasCeiling(plan) ? targets : []) {
    const name = ceilingOf(target);
    if (name !== null && !targetOf.has(name)) targetOf.set(name, target);
  }
  return [...targetOf].map(([name, { definition, server }]) => {
    const protocol = /** @type {string} */ (protocolOf(definition));
    return {
      name,
      role: /** @type {const} */ ('ceiling'),
      every: EVERY_CEILING,
      lasts: 1,
      server: server?.name ?? null,
      spec: {
        opener: /** @type {const} */ ('wire'),
        storage: {
          storage: name,
          profile: 'default',
          address: {},
          credentialVariables: server?.credentialVariables ?? null,
          serverPids: server?.pids ?? [],
          dataset: plan.dataset,
          folder,
          seed: plan.seed,
          round,
        },
        tasks: loads.map((load) => taskOf(load, plan)),
        wire: { protocol, endpoint: /** @type {any} */ (endpointOf(protocol, server)) },
      },
    };
  });
}

/**
 * Another program on the route of the storage with the most loads: that storage tests the command
 * and creates the keys.
 * @param {string} name
 * @param {readonly Contender[]} storages
 * @returns {Contender}
 */
export function programContender(name, storages) {
  const like = storages.reduce((best, one) => (loadCount(one) > loadCount(best) ? one : best));
  return {
    name,
    role: 'program',
    every: EVERY_PROGRAM,
    lasts: PROGRAM_LASTS,
    server: like.server,
    spec: { ...like.spec, opener: 'program' },
  };
}

/**
 * @param {import('./plan.js').RunPlan} plan
 * @returns {boolean} the wire loops only read rows of the dataset
 */
function hasCeiling(plan) {
  return plan.workload === CEILING_OF && !isReadOnly(plan);
}

/**
 * @param {StorageTarget} target
 * @returns {string | null} name of the ceiling of its protocol at its address; null: none
 */
function ceilingOf({ definition, server }) {
  const protocol = protocolOf(definition);
  if (protocol === null) return null;
  const of = server?.listed === undefined ? '' : ` of ${server.name}`;
  if (endpointOf(protocol, server)?.tls === undefined) return `${protocol} ceiling${of}`;
  // The wire loop of SQL does not support encryption, which begins after the greeting.
  return protocol === 'mysql' ? null : `${protocol} ceiling over TLS${of}`;
}

/**
 * @param {string} protocol
 * @param {StorageTarget['server']} server
 */
function endpointOf(protocol, server) {
  const { address = {} } = server ?? {};
  return address[/** @type {Record<string, string>} */ (ENDPOINTS)[protocol] ?? 'main'];
}

/**
 * @param {Pick<Contender, 'role' | 'server'>} contender
 * @returns {import('../lib/comparison.js').StoredContender['group']}
 */
export function groupOf({ role, server }) {
  if (role !== 'storage') return role;
  return server === null ? 'embedded' : 'networked';
}
