/**
 * The ceilings of a result: server ceilings, and the client ceiling of each driver, measured
 * against a fake server. Their schema, and whether ceilings of one result may be used for another.
 * engine/ceilings.js measures them.
 */

import { z } from 'zod';
import { usageError } from './errors.js';
import { count, nanoseconds, text } from './schema-parts.js';
import { sizesOf } from './value-sizes.js';

/** Below this headroom the fake server itself, not the driver, may have been the bottleneck. */
export const HEADROOM_MIN = 2;

const interval = z
  .object({
    low: z.number().nullable(),
    high: z.number().nullable(),
    relativeHalfWidth: z.number().nullable(),
    confidence: z.number(),
  })
  .describe('interval of the mean over the rounds');

const serverCeiling = z.object({
  protocol: z.enum(['redis', 'handlersocket', 'tarantool', 'mysql']),
  server: text,
  version: text.nullable(),
  transport: z.enum(['tcp', 'unix']),
  opsPerSecond: z.number().nonnegative().nullable().describe('geometric mean; null: see reason'),
  interval: interval.nullable(),
  n: count.describe('number of rounds, each in a fresh process'),
  depth: count.nullable().describe('requests in flight per connection at the best point'),
  connections: count.nullable(),
  clientCpuNs: nanoseconds.nullable().describe('per reply'),
  serverCpuNs: nanoseconds.nullable().describe('per reply; null: unreadable'),
  rounds: z.array(z.number()),
  points: z
    .array(z.object({ connections: count, depth: count, opsPerSecond: z.number() }))
    .describe('the sweep: one short measurement per point; not a result'),
  reason: text.nullable().describe('reason for the missing figure'),
});

const clientCeiling = z.object({
  storage: text,
  profile: text,
  protocol: text,
  load: z.object({
    kind: z.enum(['sync', 'window', 'burst']),
    inFlight: count.nullable().describe('null: all at once'),
    operations: count.nullable(),
  }),
  opsPerSecond: z.number().nonnegative().nullable().describe('geometric mean; null: see reason'),
  interval: interval.nullable(),
  n: count,
  clientCpuNs: nanoseconds.nullable().describe('of the driver, per operation'),
  fakeServerCpuNs: nanoseconds.nullable().describe('of the fake server, per operation'),
  fakeServerOpsPerSecond: z
    .number()
    .nullable()
    .describe('the wire loop against the fake server, with as many in flight on one connection'),
  headroom: z.number().nullable().describe('capacity divided by the throughput of the driver'),
  rounds: z.array(z.number()),
  reason: text.nullable().describe('reason for the missing figure'),
});

export const limitsSchema = z.object({
  source: text
    .nullable()
    .describe('id of the result that contains the measurements; null: this one'),
  wire: z.array(serverCeiling),
  driver: z.array(clientCeiling),
});

/** @typedef {z.infer<typeof limitsSchema>} Limits */
/** @typedef {z.infer<typeof serverCeiling>} ServerCeiling */
/** @typedef {z.infer<typeof clientCeiling>} ClientCeiling */

/**
 * Ceilings of a stored result for another run: only if row size, machine and Node are the same,
 * since otherwise "of the limit" would be a share of a different quantity.
 * @param {import('./result.js').Result} stored
 * @param {{ dataset: import('./types.js').DatasetOptions,
 *   environment: Pick<import('./result.js').Environment, 'cpu' | 'cores' | 'node'> }} run
 * @param {string} file file name for messages
 * @returns {Limits}
 * @throws {import('./errors.js').DragstripError} E_USAGE: it has no ceilings, or of another kind
 */
export function limitsFrom(stored, { dataset, environment }, file) {
  const hint = 'measure again: npx dragstrip limit --json FILE, or --limits without a file';
  if (stored.limits === undefined)
    throw usageError(`--limits ${file}: it contains no ceilings`, hint);
  /** @type {[string, unknown, unknown][]} */
  const pairs = [
    ['value size', sizesOf(stored.dataset), sizesOf(dataset)],
    ['processor', stored.environment.cpu, environment.cpu],
    ['number of cores', stored.environment.cores, environment.cores],
    ['Node', stored.environment.node, environment.node],
  ];
  for (const [what, theirs, ours] of pairs) {
    if (theirs === ours) continue;
    throw usageError(
      `--limits ${file}: measured with a different ${what} (${theirs}, this run has ${ours})`,
      hint,
    );
  }
  return { ...stored.limits, source: stored.limits.source ?? stored.id };
}

/**
 * @param {Limits | undefined} limits
 * @param {string | null} protocol
 * @returns {number | null} operations per second; null: unknown
 */
export function serverCeilingOf(limits, protocol) {
  const found = limits?.wire.find((limit) => limit.protocol === protocol);
  return found?.opsPerSecond ?? null;
}

/**
 * @param {Limits | undefined} limits
 * @param {{ storage: string, profile: string, load: { kind: string, inFlight: number | null,
 *   operations: number | null } }} benchmark
 * @returns {number | null} operations per second under the same load; null: unknown
 */
export function clientCeilingOf(limits, { storage, profile, load }) {
  const found = limits?.driver.find(
    (limit) =>
      limit.storage === storage &&
      limit.profile === profile &&
      limit.load.kind === load.kind &&
      limit.load.inFlight === load.inFlight &&
      // A burst's speed depends on its size.
      (load.kind !== 'burst' || limit.load.operations === load.operations),
  );
  return found?.opsPerSecond ?? null;
}
