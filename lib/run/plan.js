/**
 * From options to cells, and the order of a round: pure. What can run here and now is decided in
 * targets.js; what a cell does, in cell.js.
 */

import { z } from 'zod';
import { DATASET_DEFAULTS } from '../dataset.js';
import { DragstripError } from '../errors.js';
import { createRandom, shuffled } from '../random.js';

export const OPERATIONS_DEFAULT = 50_000;
export const OPERATIONS_MAX = 1e9;
export const IN_FLIGHT_MAX = 1e6;
/** About a kilobyte of memory for each operation that is pending. */
export const BURST_MAX = 1e7;
/** Warm-up: enough for the compiler, the same for all storages. */
export const WARMUP_DEFAULT = 5000;

const whole = (/** @type {number} */ min, /** @type {number} */ max) =>
  z.number().int().min(min).max(max);

const loadOption = z
  .strictObject({
    kind: z.enum(['sync', 'window', 'burst']),
    inFlight: whole(1, IN_FLIGHT_MAX).optional(),
    operations: whole(1, OPERATIONS_MAX).optional(),
    durationMs: z.number().positive().max(86_400_000).optional(),
  })
  .refine((load) => load.kind === 'window' || load.inFlight === undefined, {
    message: 'inFlight belongs to a window',
  })
  .refine((load) => load.kind !== 'burst' || load.durationMs === undefined, {
    message: 'a burst has no duration: give it operations, or use a window',
  })
  .refine((load) => load.kind !== 'burst' || (load.operations ?? 0) <= BURST_MAX, {
    message: `all at once: at most ${BURST_MAX} operations; more need a window`,
  });

export const runOptionsSchema = z.strictObject({
  command: z.string().optional(),
  storages: z.array(z.string()).min(1).optional(),
  workload: z.string().optional(),
  loads: z.array(loadOption).min(1).optional(),
  rounds: whole(1, 1000).optional(),
  warmupOperations: whole(0, OPERATIONS_MAX).optional(),
  seed: whole(0, 2 ** 32 - 1).optional(),
  rows: whole(1, 2 ** 30 - 1).optional(),
  valueSize: whole(1, 2 ** 24).optional(),
  timeoutMs: z.number().positive().max(86_400_000).optional(),
  addresses: z.record(z.string(), z.string()).optional(),
  allowTargets: z.array(z.string()).optional(),
  home: z.string().optional(),
});

/** @typedef {z.infer<typeof runOptionsSchema>} RunOptions */
/** @typedef {z.infer<typeof loadOption>} LoadOption */

/**
 * @typedef {object} RunPlan options with nothing left open
 * @property {string} command
 * @property {string[] | null} storages null: all that can run, with their default profile
 * @property {string} workload
 * @property {import('../result.js').Load[]} loads
 * @property {number} rounds
 * @property {number} warmupOperations
 * @property {number} seed
 * @property {import('../types.js').DatasetOptions} dataset
 * @property {number} timeoutMs
 * @property {Record<string, string>} addresses by flag name: `{ redis: '127.0.0.1:6379' }`
 * @property {string[]} allowTargets
 * @property {string | undefined} home
 */

/**
 * @param {RunOptions} options
 * @returns {RunPlan}
 * @throws {DragstripError} E_USAGE for an option that is not known or out of range
 */
export function planRun(options) {
  const parsed = runOptionsSchema.safeParse(options);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new DragstripError('E_USAGE', `option ${issue.path.join('.')}: ${issue.message}`);
  }
  const given = parsed.data;
  const loads = (given.loads ?? [{ kind: 'window' }]).map(completeLoad);
  const seed = given.seed ?? DATASET_DEFAULTS.seed;
  return {
    command: given.command ?? 'run',
    storages: given.storages ?? null,
    workload: given.workload ?? 'get',
    loads,
    rounds: given.rounds ?? 1,
    warmupOperations: given.warmupOperations ?? WARMUP_DEFAULT,
    seed,
    dataset: {
      rows: given.rows ?? DATASET_DEFAULTS.rows,
      valueSize: given.valueSize ?? DATASET_DEFAULTS.valueSize,
      seed,
    },
    timeoutMs: given.timeoutMs ?? 10_000,
    addresses: given.addresses ?? {},
    allowTargets: given.allowTargets ?? [],
    home: given.home,
  };
}

/**
 * @param {LoadOption} load
 * @returns {import('../result.js').Load}
 */
function completeLoad(load) {
  const timed = load.durationMs !== undefined;
  return {
    kind: load.kind,
    inFlight: load.kind === 'burst' ? null : load.kind === 'sync' ? 1 : (load.inFlight ?? 100),
    operations: load.operations ?? (timed ? null : OPERATIONS_DEFAULT),
    durationNs: load.durationMs === undefined ? null : load.durationMs * 1e6,
  };
}

/**
 * @param {import('../result.js').Load} load
 * @returns {string} `sync`, `burst`, `window-100`: part of a cell's id
 */
export function loadLabel(load) {
  return load.kind === 'window' ? `window-${load.inFlight}` : load.kind;
}

/**
 * One round runs in the order given (the seed's). With more, the order is drawn from the seed for
 * each pair of rounds, and the second of a pair runs it backwards, so that drift cancels
 * (A B B A).
 * @param {number} cells
 * @param {number} round from 0
 * @param {number} rounds
 * @param {number} seed
 * @returns {number[]} indices of cells
 */
export function orderOfRound(cells, round, rounds, seed) {
  const order = Array.from({ length: cells }, (_, i) => i);
  if (rounds === 1) return order;
  const drawn = shuffled(order, createRandom(seed, 0x6f726400 + (round >>> 1)));
  return round % 2 === 0 ? drawn : drawn.reverse();
}
