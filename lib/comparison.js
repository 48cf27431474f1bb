/**
 * The slices of a comparison as stored in results, and rounds of loads that ran whole: as entries
 * of standings, which are sufficient to recompute every interval of a report. Storages, the second
 * copy of the first one (A/A), server ceilings, harness overhead and other programs run in the same
 * blocks.
 */

import { z } from 'zod';
import { count } from './schema-parts.js';

const share = z.number().min(0).max(1).nullable();
/** In memory; a stored result has them packed, see lib/packed-values.js. */
export const values = z.array(z.number().nullable());

const contenderRound = z.object({
  operations: count.describe('total time of all valid segments'),
  timePs: values.describe('per operation, by block; null: no valid segment in this block'),
  clientCpuPs: values.describe('per operation'),
  serverCpuPs: values.describe('per operation'),
  medianNs: values.describe('median latency per segment'),
  charged: z
    .boolean()
    .optional()
    .describe(
      'for a load with own garbage: whether the segments of this process are charged with it',
    ),
  occupancy: z
    .object({ client: share, server: share, waiting: share.optional() })
    .optional()
    .describe(
      'main thread, and busiest thread of the server: run time as a share of the ' +
        'time in which it did not wait for a processor',
    ),
});

/** Its contenders and blocks are bounded like those of a whole round. */
const unfinished = z
  .object({
    round: count,
    blocks: count.describe('complete blocks'),
    loads: z.array(
      z.array(
        contenderRound.omit({ occupancy: true, charged: true }).extend({
          name: z.string(),
          invalid: count.describe('segments with wrong replies or failed operations'),
        }),
      ),
    ),
  })
  .describe(
    'the round that was running when the run was killed or aborted, by load and contender; it is not ' +
      'part of any interval or mean, since rounds of unequal length are not comparable',
  );

const contender = z.object({
  name: z.string(),
  group: z.enum(['networked', 'embedded', 'again', 'ceiling', 'overhead', 'program']),
  of: z.string().optional().describe('for the A/A copy: name of the original'),
  ceiling: z.string().optional().describe('name of the ceiling of its protocol'),
  benchmark: z.string().nullable().describe('id; null: not a storage of the run'),
  rounds: z.array(contenderRound),
});

const placement = z.object({
  kind: z.enum(['one-cpu', 'two-cpus', 'free', 'pinned']),
  client: z.array(count).describe('processors; empty: all'),
  server: z.array(count),
  reason: z.string().nullable().describe('reason why it differs from the request'),
});

export const comparisonSchema = z.object({
  orderSeed: count.describe('seed of the order of contenders and loads, new in every run'),
  precision: z.number().positive(),
  budgetNs: z.number().positive(),
  sliceNs: z.number().positive(),
  stopped: z.enum(['precise', 'decided', 'budget', 'rounds', 'aborted', 'failed']).nullable(),
  spentNs: z.number().nonnegative(),
  blocks: z.array(count).describe('number of blocks of each round'),
  loadAverages: z
    .array(z.number().nullable())
    .optional()
    .describe(
      'load average of the machine over one minute, after each round; absent: several machines',
    ),
  unfinished: unfinished.optional(),
  failed: z.array(z.object({ name: z.string(), message: z.string() })),
  whole: z
    .array(z.object({ benchmark: z.string(), reason: z.string() }))
    .optional()
    .describe('benchmarks that ran whole, once per round, with the reason; absent: none'),
  loads: z.array(
    z.object({
      kind: z.enum(['sync', 'window', 'burst']),
      inFlight: count,
      parameters: z
        .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
        .optional()
        .describe('parameters of the variant of the workload; absent: none'),
      part: z
        .object({ keys: count, warmup: z.boolean() })
        .optional()
        .describe('part of its benchmarks, which have several; absent: undivided'),
      workload: z
        .string()
        .optional()
        .describe('workload of these benchmarks, if there are several'),
      connections: count.optional().describe('number of connections for these; absent: 1'),
      valueSize: count.optional().describe('value size of the rows; absent: that of the dataset'),
      processes: count.optional().describe('number of processes that share it; absent: 1'),
      operations: count
        .nullable()
        .optional()
        .describe('operations of a segment; absent: determined by its length'),
      durationNs: z
        .number()
        .nullable()
        .optional()
        .describe('duration of a segment; absent: sliceNs'),
      garbage: z
        .literal('own')
        .optional()
        .describe(
          'each segment is charged with the garbage that it creates, except for processes ' +
            'without that figure (charged); absent: with the collections that occurred in it',
        ),
      measuredNs: z
        .number()
        .optional()
        .describe('wall time of the counted segments of all contenders; absent: unknown'),
      placement,
      contenders: z.array(contender),
    }),
  ),
});

/** @typedef {z.infer<typeof comparisonSchema>} StoredComparison */
/** @typedef {StoredComparison['loads'][number]} StoredLoad */
/** @typedef {StoredLoad['contenders'][number]} StoredContender */

/** @typedef {{ kind: string, connections?: number, valueSize?: number, processes?: number,
 *   operations?: number | null, durationNs?: number | null }} LoadShape */

/**
 * @param {LoadShape & { inFlight: number, parameters?: Record<string, unknown> }} stored
 * @param {{ load: LoadShape & { inFlight: number | null },
 *   parameters?: Record<string, unknown> }} benchmark
 * @returns {boolean} whether it was measured under that load, as that variant
 */
export function isOfLoad(
  { inFlight, parameters, ...stored },
  { load, parameters: loadParameters },
) {
  const variant = (/** @type {Record<string, unknown> | undefined} */ of) =>
    JSON.stringify(Object.entries(of ?? {}).sort());
  return (
    stored.kind === load.kind &&
    inFlight === (load.inFlight ?? 1) &&
    stored.connections === load.connections &&
    stored.valueSize === load.valueSize &&
    stored.processes === load.processes &&
    (stored.operations === undefined || stored.operations === load.operations) &&
    (stored.durationNs === undefined || stored.durationNs === load.durationNs) &&
    variant(parameters) === variant(loadParameters)
  );
}

/**
 * @param {StoredLoad} load
 * @param {{ without?: ReadonlySet<string> }} [options] without: names of benchmarks to exclude
 *   because of defects
 * @returns {Entry[]} entries with a figure
 */
export function entriesOf({ contenders, garbage }, { without = new Set() } = {}) {
  const hasFigure = (/** @type {StoredContender} */ { rounds }) =>
    rounds.some(({ timePs }) => timePs.some((value) => value !== null));
  return contenders
    .filter((one) => hasFigure(one) && !without.has(one.name))
    .map(({ name, group, of, ceiling, rounds: played }) => {
      const logs = (/** @type {'timePs' | 'clientCpuPs' | 'serverCpuPs' | 'medianNs'} */ field) => {
        const unit = field.endsWith('Ps') ? 1000 : 1;
        return played.map((round) => round[field].map((value) => logOf(value, unit)));
      };
      return {
        name,
        group,
        of,
        ceiling,
        ownGarbage: garbage === 'own' && played.every(({ charged }) => charged !== false),
        waiting: played.map(({ occupancy }) => occupancy?.waiting ?? null),
        time: logs('timePs'),
        witnesses: {
          clientCpu: logs('clientCpuPs'),
          serverCpu: logs('serverCpuPs'),
          latency: logs('medianNs'),
        },
      };
    });
}

/** @typedef {import('../stats/standings.js').Entry} Entry */
/** @typedef {import('./result.js').Round} Round */
/** @typedef {(round: Round) => number | null | undefined} Witness resource use per operation */

/** @satisfies {Record<string, Witness>} */
export const WITNESSES = Object.freeze({
  clientCpu: (/** @type {Round} */ { client, outcomes }) =>
    client && (client.userNs + client.systemNs) / outcomes.ok,
  serverCpu: (/** @type {Round} */ { server, outcomes }) => server && server.cpuNs / outcomes.ok,
  latency: (/** @type {Round} */ { latency }) => latency?.p50Ns,
});

/**
 * Loads that ran whole as entries with one segment per round.
 * @param {readonly { name: string, group: Entry['group'], rounds: readonly Round[] }[]} contenders
 * @param {{ rounds?: number, witnesses?: Record<string, Witness> }} [options] rounds: number of
 *   rounds to include, for a run that ended before all contenders had later ones; default: all
 * @returns {Entry[]} entries; a round that was not measured has no figure
 */
export function entriesOfRounds(contenders, { rounds, witnesses = WITNESSES } = {}) {
  const last = Math.max(-1, ...contenders.flatMap((one) => one.rounds.map(({ round }) => round)));
  const numbers = Array.from({ length: rounds ?? last + 1 }, (_, i) => i);
  return contenders.map(({ name, group, rounds: played }) => {
    const logs = (/** @type {Witness} */ of) =>
      numbers.map((number) => {
        const found = played.find(({ round, state }) => round === number && state === 'measured');
        return [found === undefined ? null : logOf(of(found) ?? null, 1)];
      });
    return {
      name,
      group,
      time: logs(({ throughput }) => 1e9 / throughput),
      witnesses: Object.fromEntries(
        Object.entries(witnesses).map(([witness, of]) => [witness, logs(of)]),
      ),
    };
  });
}

/**
 * @param {number | null} value
 * @param {number} unit number of units per nanosecond
 */
function logOf(value, unit) {
  const isFigure = value !== null && value > 0 && Number.isFinite(value);
  return isFigure ? Math.log(value / unit) : null;
}
