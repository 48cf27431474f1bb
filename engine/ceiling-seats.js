/**
 * Shared parts of server and client ceilings: their contenders, the same as in a race, and the
 * figure of their rounds. Each schedules its own rounds.
 */

import { labelOf } from '../lib/label.js';
import { OK } from '../lib/outcome.js';
import { CONFIDENCE, figureOver } from '../stats/interval.js';
import { DEFAULT_WORKLOAD } from '../workloads/index.js';
import { contendersInBlocks, loadOfReads } from './roles.js';
import { clientCpuNs, lengthOf, spanOfValid } from './segment.js';

const WARM = /** @type {const} */ ({ kind: 'level', nsMax: 0.4e9 });

/** @typedef {import('../lib/result.js').Load} Load */
/** @typedef {import('./seat.js').Seat} Seat */
/** @typedef {import('./targets.js').StorageTarget} StorageTarget */
/** @typedef {ReturnType<typeof figureOf>} CeilingFigure */

/**
 * @typedef {object} CeilingRound round of a contender under one load
 * @property {number} opsPerSecond
 * @property {number} operations number of operations that the CPU times cover
 * @property {number | null} clientCpuNs null: unreadable
 * @property {number | null} serverCpuNs null: unreadable
 */

/**
 * @param {readonly StorageTarget[]} targets
 * @param {readonly Load[]} loads reads of rows, for every workload
 * @param {Pick<import('./plan.js').RunPlan, 'dataset' | 'seed' | 'timeoutMs'>} plan
 * @param {number} round
 * @returns {import('./roles.js').Contender[]} drivers in the order of the targets, then the wire
 *   loop of each protocol
 */
export function ceilingContenders(targets, loads, plan, round) {
  const contenders = targets.map(({ definition: { name }, profile }) =>
    labelOf({ storage: name, profile }),
  );
  const runLoads = loads.map((load) => loadOfReads(JSON.stringify(load), load, WARM, contenders));
  const all = contendersInBlocks(targets, runLoads, {
    plan: /** @type {any} */ ({ ...plan, workload: DEFAULT_WORKLOAD, workloadOptions: {} }),
    others: [],
    folder: '',
    round,
  });
  return all
    .filter(({ role }) => role === 'storage' || role === 'ceiling')
    .map((one) => ({ ...one, every: 1 }));
}

/**
 * @param {Seat} seat
 * @param {number} load
 * @returns {CeilingRound | null} null: nothing was measured; the seat has the failure
 */
export function roundOf(seat, load) {
  const { spanNs, operations } = spanOfValid(seat.segments[load]);
  const merged = seat.merged([load]);
  if (merged === null || operations === 0) return null;
  const cpu = merged.servers['']?.cpu;
  return {
    opsPerSecond: (operations / spanNs) * 1e9,
    operations: merged.outcomes[OK],
    clientCpuNs: clientCpuNs(merged),
    serverCpuNs: cpu === undefined ? null : lengthOf(cpu),
  };
}

/** @param {readonly CeilingRound[]} rounds */
export function figureOf(rounds) {
  const perSecond = rounds.map(({ opsPerSecond }) => opsPerSecond);
  const { value = null, low = null, high = null, spread = null } = figureOver(perSecond) ?? {};
  return {
    opsPerSecond: value,
    interval: { low, high, relativeHalfWidth: spread, confidence: CONFIDENCE },
    n: rounds.length,
    clientCpuNs: perOperation(rounds, 'clientCpuNs'),
    serverCpuNs: perOperation(rounds, 'serverCpuNs'),
    rounds: perSecond,
  };
}

/**
 * @param {readonly CeilingRound[]} rounds
 * @param {'clientCpuNs' | 'serverCpuNs'} field
 * @returns {number | null} null if it is unknown in any round
 */
function perOperation(rounds, field) {
  let [sum, all] = [0, 0];
  for (const { [field]: ns, operations } of rounds) {
    if (ns === null) return null;
    sum += ns;
    all += operations;
  }
  return all === 0 ? null : sum / all;
}
