/**
 * The contenders in the blocks of a comparison: the storages, the first of them a second time (its
 * ratio to itself is the check of all others), the ceiling of every server in use. Pure.
 */

import { labelOf } from '../../lib/label.js';
import { protocolOf } from '../../limits/wire/protocol.js';
import { isReadOnly } from '../own-data.js';

/** @typedef {import('../targets.js').StorageTarget} StorageTarget */
/** @typedef {import('./round.js').Entrant & { role: Role, of?: string, server: string | null,
 *   ceiling?: string, lasts?: number }} RoleEntrant lasts: as long as so many slices */
/** @typedef {'storage' | 'again' | 'ceiling' | 'overhead' | 'program'} Role */

/** What is no driver of a server runs less often: a coarse figure is enough. */
const EVERY_EMBEDDED = 4;
const EVERY_CEILING = 2;
/** A program of its own needs some 10 ms to start, and counts in whole milliseconds. */
const EVERY_PROGRAM = 8;
const PROGRAM_LASTS = 8;

/**
 * @typedef {object} EntrantContext
 * @property {string} folder
 * @property {number} round
 * @property {boolean} mixed some have a server
 * @property {readonly import('../targets.js').ServerTarget[]} others
 */

/** The workload whose requests the wire loops send. */
const CEILING_OF = 'get';

/** The storage with nothing behind it: what the harness itself costs. */
const OVERHEAD = 'memory';
const OVERHEAD_ROWS = 1000;

/** Endpoint of the server's address that a protocol is spoken at. */
const ENDPOINTS = Object.freeze({ handlersocket: 'read', mysql: 'sql' });

/**
 * @param {readonly StorageTarget[]} targets those that can run
 * @param {readonly import('./storage-contender.js').SliceLoad[]} loads
 * @param {import('../plan.js').RunPlan} plan
 * @param {{ folder: string, round: number,
 *   others?: readonly import('../targets.js').ServerTarget[], program?: string | null,
 *   overhead?: boolean }} how folder: of embedded stores; others: further servers; program: name of
 *   another program; overhead: the harness overhead takes part, where targets have rows
 * @returns {RoleEntrant[]}
 */
export function entrantsOf(targets, loads, plan, how) {
  if (targets.length === 0) return [];
  const { folder, round, others = [], program = null, overhead: wanted = true } = how;
  const mixed = targets.some(({ server }) => server !== null);
  const context = { folder, round, mixed, others };
  const all = targets.map((target) => storageEntrant(target, loads, plan, context));
  const first = all.find(({ server }) => server !== null) ?? all[0];
  const again = { ...first, name: `${first.name} (A/A)`, role: /** @type {Role} */ ('again') };
  /** @type {Map<string, StorageTarget>} */
  const ceilingTargets = new Map();
  for (const target of targets) {
    const name = hasCeiling(plan) ? ceilingOf(target) : null;
    if (name !== null && !ceilingTargets.has(name)) ceilingTargets.set(name, target);
  }
  const ceilings = [...ceilingTargets].map(([name, target]) =>
    ceilingEntrant(name, target, loads, plan),
  );
  // Contenders other than storages, such as codecs, call nothing that this would be the cost of.
  const ofRows = targets.every(({ definition }) => Object.hasOwn(definition, 'rows'));
  const lacksOverhead = wanted && ofRows && !all.some(({ role }) => role === 'overhead');
  const overhead = lacksOverhead ? [overheadEntrant(loads, plan, context)] : [];
  const entrants = [
    ...all,
    { ...again, spec: { ...again.spec, isCopy: true }, of: first.name },
    ...ceilings,
    ...overhead,
    ...(program === null ? [] : [programEntrant(program, all)]),
  ];
  // Numbers of their own for all variants of all of them.
  return entrants.map((one, i) => ({ ...one, spec: { ...one.spec, slot: i * loads.length } }));
}

/**
 * @param {{ every: number, lasts?: number }} entrant
 * @returns {number} slices of the usual length that it takes per load and block
 */
export function weightOf({ every, lasts = 1 }) {
  return lasts / every;
}

/**
 * Another program on the way of the storage that has most of the loads: that storage tries the
 * command and sets up the keys.
 * @param {string} name
 * @param {readonly RoleEntrant[]} storages
 * @returns {RoleEntrant}
 */
function programEntrant(name, storages) {
  const has = (/** @type {RoleEntrant} */ { spec }) =>
    spec.loads.filter((load) => load !== null).length;
  const like = storages.reduce((best, one) => (has(one) > has(best) ? one : best));
  const { server, serverPids, spec } = like;
  return {
    ...{ name, role: 'program', every: EVERY_PROGRAM, lasts: PROGRAM_LASTS, server, serverPids },
    spec: { ...spec, kind: 'program' },
  };
}

/**
 * @param {import('../plan.js').RunPlan} plan
 * @returns {boolean} the wire loops read rows of the dataset only
 */
function hasCeiling(plan) {
  return plan.workload === CEILING_OF && !isReadOnly(plan);
}

/**
 * @param {StorageTarget} target
 * @param {readonly import('./storage-contender.js').SliceLoad[]} loads
 * @param {import('../plan.js').RunPlan} plan
 * @param {EntrantContext} context
 * @returns {RoleEntrant}
 */
function storageEntrant(target, loads, plan, context) {
  const { definition, source, profile, server, driver, runtime } = target;
  const { name } = definition;
  const label = labelOf({ storage: name, profile });
  const ceiling = hasCeiling(plan) ? ceilingOf(target) : null;
  const isCoarse = server === null && (context.mixed || name === OVERHEAD);
  return {
    ...(ceiling !== null && { ceiling }),
    name: label,
    role: name === OVERHEAD ? 'overhead' : 'storage',
    every: isCoarse ? EVERY_EMBEDDED : 1,
    server: server?.name ?? null,
    serverPids: server?.pids ?? [],
    spec: {
      kind: 'storage',
      loads: loads.map((load) => (load.contenders?.includes(label) === false ? null : load)),
      benchmark: {
        storage: source,
        profile,
        workload: plan.workload,
        workloadOptions: plan.workloadOptions,
        load: plan.loads[0],
        address: server?.address ?? {},
        ...(context.others.length > 0 && {
          others: context.others.map(({ name: other, address, pids }) => ({
            ...{ name: other, address, pids },
          })),
        }),
        credentialVariables: server?.credentialVariables ?? null,
        serverPids: server?.pids ?? [],
        dataset: plan.dataset,
        ...(server?.own && { own: server.own }),
        folder: context.folder,
        seed: plan.seed + context.round * 16,
        round: context.round,
        warmupOperations: 1,
        stallNs: plan.timeoutMs * 1e6,
        ...(driver && { driver }),
        ...(runtime && { runtime }),
      },
    },
  };
}

/**
 * @param {readonly import('./storage-contender.js').SliceLoad[]} loads
 * @param {import('../plan.js').RunPlan} plan
 * @param {EntrantContext} context
 * @returns {RoleEntrant} where `memory` is no storage of the run
 */
function overheadEntrant(loads, plan, context) {
  const definition = /** @type {any} */ ({ name: OVERHEAD });
  const target = { definition, source: OVERHEAD, profile: 'default', server: null };
  const { rows } = plan.dataset;
  const dataset = { ...plan.dataset, rows: Math.min(OVERHEAD_ROWS, rows) };
  const own = loads.map(({ contenders: _those, ...load }) => load);
  return storageEntrant(/** @type {any} */ (target), own, { ...plan, dataset }, context);
}

/**
 * @param {StorageTarget} target
 * @returns {string | null} name of the ceiling of its protocol at its address; null: there is none
 */
function ceilingOf({ definition, server }) {
  const protocol = protocolOf(definition);
  if (protocol === null) return null;
  const of = server?.listed === undefined ? '' : ` of ${server.name}`;
  if (endpointOf(protocol, server)?.tls === undefined) return `${protocol} ceiling${of}`;
  // The wire loop of SQL cannot encrypt, which begins after the greeting.
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
 * @param {string} name
 * @param {StorageTarget} target
 * @param {readonly import('./storage-contender.js').SliceLoad[]} loads
 * @param {import('../plan.js').RunPlan} plan
 * @returns {RoleEntrant}
 */
function ceilingEntrant(name, { definition, server }, loads, plan) {
  const protocol = /** @type {string} */ (protocolOf(definition));
  const endpoint = endpointOf(protocol, server);
  return {
    name,
    role: 'ceiling',
    every: EVERY_CEILING,
    server: server?.name ?? null,
    serverPids: server?.pids ?? [],
    spec: {
      kind: 'wire',
      loads: [...loads],
      benchmark: /** @type {any} */ ({}),
      wire: {
        ...{ protocol, endpoint, connections: 1, depths: [], warmNs: 0, measureNs: 0 },
        credentialVariables: server?.credentialVariables ?? null,
        ...{ dataset: plan.dataset, stallMs: plan.timeoutMs, serverPids: [] },
      },
    },
  };
}
