/**
 * The limits around a race: the wire ceiling of each server in use, and each driver against a fake
 * server. A ceiling that cannot be measured becomes an entry with its reason; the others are still
 * measured.
 */

import { createDataset } from '../lib/dataset.js';
import { findHome } from '../lib/home.js';
import { protocolOf } from '../limits/wire/protocol.js';
import { systemClock } from '../measure/clock.js';
import { measureClientCeilings } from './client-ceilings.js';
import { LIMIT_DEFAULTS, limitLoads } from './limit-options.js';
import { planRun } from './plan.js';
import { emptyResult } from './runner.js';
import { measureServerCeiling } from './server-ceilings.js';
import { withRows } from './server-locks.js';
import { resolveTargets } from './targets.js';

/** Approximate duration of all ceilings, and the share of the server ceilings. */
const BUDGET_MS = 60_000;
const SERVER_SHARE = 0.4;
/** Rounds if the option is absent and more would take longer than that. */
const ROUNDS_LEAST = 3;

/** @typedef {import('../lib/ceilings.js').Limits} Limits */
/** @typedef {import('./plan.js').RunPlan} RunPlan */
/** @typedef {import('./targets.js').StorageTarget} StorageTarget */
/** @typedef {import('./targets.js').ServerTarget} ServerTarget */

/**
 * @typedef {object} LimitContext
 * @property {number} [budgetMs] approximate time for all ceilings; default one minute
 * @property {AbortSignal} [signal]
 * @property {(text: string, share: number) => void} [onProgress]
 */

/**
 * `dragstrip limit`: a result without benchmarks whose limits are the measurements.
 * @param {import('./plan.js').RunOptions} options same as for a run; loads: of the client ceilings
 * @param {LimitContext} [context]
 * @returns {Promise<import('../lib/result.js').Result>}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE, E_TARGET (a named storage cannot
 *   run), E_REFUSED
 */
export async function runLimits(options, context = {}) {
  const { rounds = LIMIT_DEFAULTS.rounds, loads = limitLoads() } = options;
  const plan = planRun({ command: 'limit', ...options, loads, rounds });
  createDataset(plan.dataset); // refuses invalid values before anything is opened
  const home = plan.home ?? findHome();
  const targets = await resolveTargets({ ...plan, home }, { needs: ['get'] });
  const storages = targets.storages.filter(({ server }) => server !== null);
  const result = await emptyResult(plan, { ...targets, storages }, {});
  result.benchmarks = [];
  const isFixed = loads.some(({ kind, operations }) => kind !== 'burst' && operations);
  const roundsLeast = options.rounds === undefined ? ROUNDS_LEAST : rounds;
  const ceilings = { ...plan, isFixed, roundsLeast };
  const { signal } = context;
  const warnings = await withRows({ plan, home, storages, signal }, async () => {
    result.limits = await measureLimits(ceilings, storages, context);
  });
  result.warnings.push(...warnings);
  result.state = context.signal?.aborted ? 'aborted' : 'complete';
  result.finishedAt = systemClock.date();
  return result;
}

/**
 * @param {import('./client-ceilings.js').CeilingPlan} plan loads: of the client ceilings
 * @param {readonly StorageTarget[]} storages
 * @param {LimitContext} [context]
 * @returns {Promise<Limits>} measurements so far, if the signal aborted it
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
    const ceiling = await measureServerCeiling(plan, name, targets[0], {
      signal: context.signal,
      budgetNs: (budgetMs * 1e6 * SERVER_SHARE) / byProtocol.size,
      onProgress: (text, share) =>
        context.onProgress?.(`server ceiling of ${name}: ${text}`, at(share)),
    });
    done += 1;
    if (ceiling !== null) limits.wire.push(ceiling);
  }
  if (context.signal?.aborted || byProtocol.size === 0) return limits;
  limits.driver = await measureClientCeilings(plan, byProtocol, {
    budgetNs: budgetMs * 1e6 * (1 - SERVER_SHARE),
    signal: context.signal,
    onProgress: (text, share) =>
      context.onProgress?.(text, SERVER_SHARE + (1 - SERVER_SHARE) * share),
  });
  return limits;
}

/**
 * @param {ServerTarget} server
 * @returns {boolean} plain connections only, since fake servers do not encrypt
 */
function isEncrypted({ address: { main, sql } }) {
  return (main ?? sql)?.tls !== undefined;
}
