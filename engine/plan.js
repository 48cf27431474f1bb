/**
 * From options to cells, and the order of a round: pure. What can run here and now is decided in
 * targets.js; what a cell does, in cell.js.
 */

import { z } from 'zod';
import { DATASET_DEFAULTS } from '../lib/dataset.js';
import { DragstripError } from '../lib/errors.js';
import { createRandom, shuffled } from '../lib/random.js';
import { parseKeys } from '../workloads/get/keys.js';
import { parseMix } from '../workloads/mix/index.js';
import { commandsOption } from './commands.js';
import { FETCH_DATASET, mgetOption, planFetchRun } from './fetches.js';
import {
  completeLoad,
  completeSearch,
  loadOption,
  OPERATIONS_MAX,
  searchOption,
  trialLoad,
} from './loads.js';

export { BURST_MAX, loadLabel } from './loads.js';

/** Warm-up: enough for the compiler, the same for all storages. */
export const WARMUP_DEFAULT = 5000;

const whole = (/** @type {number} */ min, /** @type {number} */ max) =>
  z.number().int().min(min).max(max);

const variantOption = z.strictObject({
  parameters: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
  /** absent: those of the run */
  loads: z.array(loadOption).min(1).optional(),
  /** those of the run that have it, as they are written there; absent: all */
  storages: z.array(z.string()).optional(),
});

export const runOptionsSchema = z.strictObject({
  command: z.string().optional(),
  storages: z.array(z.string()).min(1).optional(),
  workload: z.string().optional(),
  loads: z.array(loadOption).min(1).optional(),
  findMax: searchOption.optional(),
  keys: z.string().optional(),
  mix: z.string().optional(),
  mget: mgetOption.optional(),
  commands: commandsOption.optional(),
  variants: z.array(variantOption).min(1).optional(),
  redisDb: whole(0, 2 ** 31 - 1).optional(),
  against: z.array(z.string()).optional(),
  pin: z.boolean().optional(),
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

/**
 * @typedef {object} RunPlan options with nothing left open
 * @property {string} command
 * @property {string[] | null} storages null: all that can run, with their default profile
 * @property {string} workload
 * @property {string[]} [workloads] cells of each, where there are several
 * @property {{ keys?: string, mix?: string, mget?: import('../workloads/mget/index.js').MgetOptions
 *   , commands?: z.infer<typeof commandsOption> }} workloadOptions
 * @property {import('../lib/result.js').Load[]} loads the first one where a rate is searched; of
 *   all
 *   variants
 * @property {Variant[]} [variants] of the workload, where it has several
 * @property {import('./loads.js').SearchPlan | null} findMax
 * @property {string[]} against other versions of drivers, `ioredis@5`
 * @property {boolean} pin client and server on processors of their own
 * @property {number} rounds
 * @property {number} warmupOperations
 * @property {number} seed
 * @property {import('../lib/types.js').DatasetOptions} dataset
 * @property {number} timeoutMs
 * @property {Record<string, string>} addresses by flag name: `{ redis: '127.0.0.1:6379' }`
 * @property {number} [redisDb] Redis' logical database; absent: 0
 * @property {string[]} allowTargets
 * @property {string | undefined} home
 */

/**
 * @typedef {object} Variant
 * @property {import('../lib/types.js').Parameters} parameters
 * @property {import('../lib/result.js').Load[]} loads
 * @property {string[]} [storages] those that have it; absent: all
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
  const findMax = given.findMax === undefined ? null : completeSearch(given.findMax);
  if (findMax !== null && given.loads !== undefined) {
    throw new DragstripError('E_USAGE', 'findMax chooses the rates itself: leave out loads');
  }
  const own =
    findMax !== null
      ? [trialLoad(findMax, findMax.start)]
      : (given.loads ?? [{ kind: 'window' }]).map(completeLoad);
  const variants = given.variants?.map((one) => ({
    ...one,
    loads: one.loads?.map(completeLoad) ?? own,
  }));
  const loads = variants === undefined ? own : loadsOf(variants);
  const seed = given.seed ?? DATASET_DEFAULTS.seed;
  const fetches =
    given.mget !== undefined || given.workload === 'mget'
      ? planFetchRun(given.mget ?? {}, loads, given.rows)
      : null;
  const defaults = fetches === null ? DATASET_DEFAULTS : FETCH_DATASET;
  return {
    command: given.command ?? 'run',
    storages: given.storages ?? null,
    ...(fetches ?? { ...planWorkload(given), loads }),
    ...(variants && { variants }),
    findMax,
    against: given.against ?? [],
    pin: given.pin ?? false,
    rounds: given.rounds ?? 1,
    warmupOperations: given.warmupOperations ?? WARMUP_DEFAULT,
    seed,
    dataset: {
      rows: given.rows ?? defaults.rows,
      valueSize: given.valueSize ?? defaults.valueSize,
      seed,
    },
    timeoutMs: given.timeoutMs ?? 10_000,
    addresses: given.addresses ?? {},
    ...(given.redisDb && { redisDb: given.redisDb }),
    allowTargets: given.allowTargets ?? [],
    home: given.home,
  };
}

/**
 * @param {Variant[]} variants
 * @returns {import('../lib/result.js').Load[]} each once
 */
function loadsOf(variants) {
  const all = variants.flatMap(({ loads }) => loads);
  return [...new Map(all.map((load) => [JSON.stringify(load), load])).values()];
}

/**
 * @param {RunOptions} given
 * @returns {Pick<RunPlan, 'workload' | 'workloadOptions'>}
 * @throws {DragstripError} E_USAGE where keys or mix say nothing that is known
 */
function planWorkload({ workload, keys, mix, commands }) {
  if (keys !== undefined) parseKeys(keys);
  if (mix !== undefined) parseMix(mix);
  if (mix !== undefined && workload !== undefined && workload !== 'mix') {
    throw new DragstripError('E_USAGE', `a mix belongs to the workload mix, not to ${workload}`);
  }
  return {
    workload: workload ?? (mix === undefined ? 'get' : 'mix'),
    workloadOptions: { ...(keys && { keys }), ...(mix && { mix }), ...(commands && { commands }) },
  };
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
