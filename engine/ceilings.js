/**
 * The limits around a race: the wire of each server that the storages talk to, and each driver
 * against a fake server. A ceiling that cannot be measured is an entry with its reason, not an
 * error: the others are measured all the same.
 */

import { createDataset } from '../lib/dataset.js';
import { DragstripError } from '../lib/errors.js';
import { findHome } from '../lib/home.js';
import { loadProtocol, protocolOf } from '../limits/wire/protocol.js';
import { sweepWire } from '../limits/wire/sweep.js';
import { systemClock } from '../measure/clock.js';
import { measureClientCeilings } from './client-ceilings.js';
import { LIMIT_DEFAULTS, limitLoads } from './limit-options.js';
import { planRun } from './plan.js';
import { emptyResult } from './runner.js';
import { resolveTargets } from './targets.js';

/** Of all ceilings, and of them what those of the servers take, about. */
const BUDGET_MS = 60_000;
const SERVER_SHARE = 0.4;
/** Where the number is not given and they take longer than that. */
const ROUNDS_LEAST = 3;
/** Of a round of the wire loop. */
const MEASURE_MS = 150;
/** A step of four is enough to find the best depth: around it the curve is flat. */
const DEPTHS = Object.freeze([1, 4, 16, 64, 256, 1024, 4096]);

/** @typedef {import('../lib/ceilings.js').Limits} Limits */
/** @typedef {import('../lib/ceilings.js').ServerCeiling} ServerCeiling */
/** @typedef {import('../lib/ceilings.js').ClientCeiling} ClientCeiling */
/** @typedef {import('./plan.js').RunPlan} RunPlan */
/** @typedef {import('./targets.js').StorageTarget} StorageTarget */
/** @typedef {import('./targets.js').ServerTarget} ServerTarget */

/**
 * @typedef {object} LimitContext
 * @property {number} [measureMs] of a round of the wire loop; default 150
 * @property {number} [budgetMs] of all ceilings, about; default one minute
 * @property {AbortSignal} [signal]
 * @property {(text: string, share: number) => void} [onProgress]
 * @property {(limit: ServerCeiling | ClientCeiling) => void} [onLimit]
 * @property {Pick<import('../limits/wire/sweep.js').SweepOptions, 'connections' | 'depths'>}
 *   [sweep]
 *   another range than the default one
 */

/**
 * `dragstrip limit`: a result without benchmarks, whose limits are what was measured.
 * @param {import('./plan.js').RunOptions} options as of a run; loads: of the client ceilings
 * @param {LimitContext} [context]
 * @returns {Promise<import('../lib/result.js').Result>}
 * @throws {DragstripError} E_USAGE, E_TARGET (a storage that was named cannot run), E_REFUSED
 */
export async function runLimits(options, context = {}) {
  const { rounds = LIMIT_DEFAULTS.rounds, loads = limitLoads() } = options;
  const plan = planRun({ command: 'limit', ...options, loads, rounds });
  createDataset(plan.dataset); // refuses what is out of range before anything is opened
  const home = plan.home ?? findHome();
  const targets = await resolveTargets({ ...plan, home }, { needs: ['get'] });
  const storages = targets.storages.filter(({ server }) => server !== null);
  const result = await emptyResult(plan, { ...targets, storages }, {});
  result.benchmarks = [];
  const isFixed = loads.some(({ kind, operations }) => kind !== 'burst' && operations);
  const roundsLeast = options.rounds === undefined ? ROUNDS_LEAST : rounds;
  const ceilings = { ...plan, isFixed, roundsLeast };
  result.limits = await measureLimits(ceilings, storages, context);
  result.state = context.signal?.aborted ? 'aborted' : 'complete';
  result.finishedAt = systemClock.date();
  return result;
}

/**
 * @param {import('./client-ceilings.js').CeilingPlan} plan loads: of the client ceilings
 * @param {readonly StorageTarget[]} storages
 * @param {LimitContext} [context]
 * @returns {Promise<Limits>} what was measured until then, where the signal stopped it
 */
export async function measureLimits(plan, storages, context = {}) {
  /** @type {Limits} */
  const limits = { source: null, wire: [], driver: [] };
  /** @type {Map<string, StorageTarget[]>} */
  const byProtocol = new Map();
  for (const target of storages) {
    const name = protocolOf(target.definition);
    if (name === null || target.server === null || isEncrypted(target.server)) continue;
    byProtocol.set(name, [...(byProtocol.get(name) ?? []), target]);
  }
  const { budgetMs = BUDGET_MS } = context;
  let done = 0;
  for (const [name, targets] of byProtocol) {
    if (context.signal?.aborted) break;
    const at = (/** @type {number} */ share) => (SERVER_SHARE * (done + share)) / byProtocol.size;
    const limit = await serverCeiling(plan, name, targets, {
      ...context,
      budgetMs: (budgetMs * SERVER_SHARE) / byProtocol.size,
      onProgress: (text, share) =>
        context.onProgress?.(`server ceiling of ${name}: ${text}`, at(share)),
    });
    done += 1;
    if (limit === null) continue;
    limits.wire.push(limit);
    context.onLimit?.(limit);
  }
  if (context.signal?.aborted || byProtocol.size === 0) return limits;
  limits.driver = await measureClientCeilings(plan, byProtocol, {
    budgetNs: budgetMs * 1e6 * (1 - SERVER_SHARE),
    signal: context.signal,
    onProgress: (text, share) =>
      context.onProgress?.(text, SERVER_SHARE + (1 - SERVER_SHARE) * share),
  });
  for (const limit of limits.driver) context.onLimit?.(limit);
  return limits;
}

/**
 * @param {Pick<import('./client-ceilings.js').CeilingPlan, 'rounds' | 'roundsLeast' | 'dataset'
 *   | 'timeoutMs'>} plan
 * @param {string} name
 * @param {readonly StorageTarget[]} targets
 * @param {LimitContext} context
 * @returns {Promise<ServerCeiling | null>} null: stopped
 */
async function serverCeiling(plan, name, targets, context) {
  const protocol = await loadProtocol(name);
  const server = /** @type {ServerTarget} */ (targets[0].server);
  const endpoint = server.address[protocol.endpoint];
  const unavailable = server.unavailable?.reason ?? null;
  /** @type {ServerCeiling} */
  const limit = {
    protocol: /** @type {ServerCeiling['protocol']} */ (name),
    server: server.name,
    version: server.version,
    transport: endpoint?.path === undefined ? 'tcp' : 'unix',
    opsPerSecond: null,
    interval: null,
    n: 0,
    depth: null,
    connections: null,
    clientCpuNs: null,
    serverCpuNs: null,
    rounds: [],
    points: [],
    reason: endpoint === undefined ? `no address of its endpoint "${protocol.endpoint}"` : null,
  };
  limit.reason ??= unavailable;
  if (limit.reason !== null) return limit;
  const target = {
    protocol: name,
    endpoint,
    credentialVariables: server.credentialVariables,
    dataset: plan.dataset,
    stallMs: plan.timeoutMs,
    serverPids: server.pids,
  };
  try {
    const figure = await sweepWire(target, {
      depths: DEPTHS,
      ...context.sweep,
      rounds: plan.rounds,
      measureNs: measureNsOf(context),
      budgetNs: (context.budgetMs ?? BUDGET_MS) * 1e6,
      roundsLeast: plan.roundsLeast,
      signal: context.signal,
      onProgress: context.onProgress,
    });
    return { ...limit, ...figure };
  } catch (error) {
    if (context.signal?.aborted) return null;
    if (!(error instanceof DragstripError)) throw error;
    return { ...limit, reason: error.message };
  }
}

/**
 * @param {ServerTarget} server
 * @returns {boolean} ceilings are those of plain connections: fake servers do not encrypt
 */
function isEncrypted({ address: { main, sql } }) {
  return (main ?? sql)?.tls !== undefined;
}

/** @param {LimitContext} context */
function measureNsOf({ measureMs = MEASURE_MS }) {
  return measureMs * 1e6;
}
