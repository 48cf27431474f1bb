/**
 * The slices of a comparison as a result keeps them, and rounds of loads that ran whole: as entries
 * of standings, which are enough to make every interval of a report anew. Storages, the second
 * copy of the first one (A/A), server ceilings, harness overhead and
 * other programs stand in the same blocks.
 */

import { z } from 'zod';
import { count } from './schema-parts.js';

const share = z.number().min(0).max(1).nullable();
/** In memory; a stored result has them packed, see lib/packed-values.js. */
export const values = z.array(z.number().nullable());

const contenderRound = z.object({
  operations: count.describe('of all slices that are valid'),
  timePs: values.describe('of an operation, by block; null: no valid slice in this block'),
  clientCpuPs: values.describe('of an operation'),
  serverCpuPs: values.describe('of an operation'),
  medianNs: values.describe('of the latencies of a slice'),
  occupancy: z
    .object({ client: share, server: share })
    .optional()
    .describe(
      'of the main thread, and of the busiest thread of the server: run time as a share of the ' +
        'time in which it had not to wait for a processor',
    ),
});

/** Its contenders and blocks are bounded as those of a whole round. */
const unfinished = z
  .object({
    round: count,
    blocks: count.describe('that were complete'),
    loads: z.array(
      z.array(
        contenderRound.omit({ occupancy: true }).extend({
          name: z.string(),
          invalid: count.describe('slices with wrong replies or failed operations'),
        }),
      ),
    ),
  })
  .describe(
    'the round under way when the run was killed or aborted, by load and contender; it is in no ' +
      'interval and no mean, since rounds of unequal length cannot be compared',
  );

const contender = z.object({
  name: z.string(),
  group: z.enum(['networked', 'embedded', 'again', 'ceiling', 'overhead', 'program']),
  of: z.string().optional().describe('of the A/A copy: what it is a copy of'),
  ceiling: z.string().optional().describe('name of the ceiling of its protocol'),
  benchmark: z.string().nullable().describe('id; null: no storage of the run'),
  rounds: z.array(contenderRound),
});

const placement = z.object({
  kind: z.enum(['one-cpu', 'two-cpus', 'free', 'pinned']),
  client: z.array(count).describe('processors; empty: all'),
  server: z.array(count),
  reason: z.string().nullable().describe('why it is not as was asked'),
});

export const comparisonSchema = z.object({
  orderSeed: count.describe('of the order of contenders and loads, new in every run'),
  precision: z.number().positive(),
  budgetNs: z.number().positive(),
  sliceNs: z.number().positive(),
  stopped: z.enum(['precise', 'decided', 'budget', 'rounds', 'aborted', 'failed']).nullable(),
  spentNs: z.number().nonnegative(),
  blocks: z.array(count).describe('of each round'),
  unfinished: unfinished.optional(),
  failed: z.array(z.object({ name: z.string(), message: z.string() })),
  whole: z
    .array(z.object({ benchmark: z.string(), reason: z.string() }))
    .optional()
    .describe('benchmarks that ran whole, once per round, and why; absent: none'),
  loads: z.array(
    z.object({
      kind: z.enum(['sync', 'window', 'burst']),
      inFlight: count,
      parameters: z
        .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
        .optional()
        .describe('of the variant of the workload; absent: it has none'),
      part: z
        .object({ keys: count, warmup: z.boolean() })
        .optional()
        .describe('of its benchmarks, which have several; absent: they are whole'),
      workload: z.string().optional().describe('of these benchmarks, where there are several'),
      connections: count.optional().describe('that these are spread over; absent: 1'),
      valueSize: count.optional().describe('of the rows; absent: of the dataset'),
      processes: count.optional().describe('that share it; absent: 1'),
      operations: count.nullable().optional().describe('of a segment; absent: by its length'),
      durationNs: z.number().nullable().optional().describe('of a segment; absent: sliceNs'),
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
export function isOfLoad({ inFlight, parameters, ...stored }, { load, parameters: own }) {
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
    variant(parameters) === variant(own)
  );
}

/**
 * @param {StoredLoad} load
 * @param {{ without?: ReadonlySet<string> }} [options] without: names that are no contenders, since
 *   something is wrong with them
 * @returns {Entry[]} those with a figure
 */
export function entriesOf({ contenders }, { without = new Set() } = {}) {
  const hasFigure = (/** @type {StoredContender} */ { rounds }) =>
    rounds.some(({ timePs }) => timePs.some((value) => value !== null));
  return contenders
    .filter((one) => hasFigure(one) && !without.has(one.name))
    .map(({ name, group, of, ceiling, rounds: own }) => {
      const logs = (/** @type {'timePs' | 'clientCpuPs' | 'serverCpuPs' | 'medianNs'} */ field) => {
        const unit = field.endsWith('Ps') ? 1000 : 1;
        return own.map((round) => round[field].map((value) => logOf(value, unit)));
      };
      return {
        name,
        group,
        of,
        ceiling,
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
/** @typedef {(round: Round) => number | null | undefined} Witness amount of an operation */

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
 * @param {{ rounds?: number, witnesses?: Record<string, Witness> }} [options] rounds: later ones
 *   are left out, as where a run was ended before all contenders had them; default: all
 * @returns {Entry[]} a round that was not measured has no figure
 */
export function entriesOfRounds(contenders, { rounds, witnesses = WITNESSES } = {}) {
  const last = Math.max(-1, ...contenders.flatMap((one) => one.rounds.map(({ round }) => round)));
  const numbers = Array.from({ length: rounds ?? last + 1 }, (_, i) => i);
  return contenders.map(({ name, group, rounds: own }) => {
    const logs = (/** @type {Witness} */ of) =>
      numbers.map((number) => {
        const found = own.find(({ round, state }) => round === number && state === 'measured');
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
 * @param {number} unit as many make a nanosecond
 */
function logOf(value, unit) {
  const isFigure = value !== null && value > 0 && Number.isFinite(value);
  return isFigure ? Math.log(value / unit) : null;
}
