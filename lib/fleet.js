/**
 * What a result has of several load machines: the agents, and of each round what came of each.
 * The figures of a round itself are those of all agents together.
 */

import { z } from 'zod';
import { count, nanoseconds, text } from './schema-parts.js';

export const fleetSchema = z
  .object({
    coordinator: text,
    configuration: text.describe('SHA-256 of what has to be equal on all agents'),
    onLoss: z.enum(['invalid', 'truncate']),
    agents: z.array(
      z.object({
        name: text,
        host: text,
        node: text,
        platform: text,
        cpu: text,
        cores: count,
        clock: z.object({
          offsetNs: z.number().describe('coordinator minus the agent’s monotonic clock, at first'),
          roundTripNs: nanoseconds.describe('the smallest to the coordinator'),
          exchanges: count,
          driftNs: z.number().nullable().describe('of the offset until the end; null: not known'),
        }),
        targets: z
          .record(text, nanoseconds.nullable())
          .describe('smallest time to open a connection to each server; null: not measured'),
      }),
    ),
    lost: z
      .object({
        agent: text,
        reason: text,
        round: count.optional().describe('absent: before a round ended'),
        position: count.optional(),
      })
      .optional()
      .describe('an agent that was lost, and in which benchmark'),
  })
  .describe('with --agents: the load machines');

/**
 * @template {import('zod').ZodType} T
 * @param {T} latency schema of the latencies of a round
 */
function roundAgentSchema(latency) {
  return z.object({
    agent: text,
    scheduled: count,
    ok: count,
    durationNs: nanoseconds,
    throughput: nanoseconds.describe('ok operations per second'),
    latency,
    lateNs: z
      .number()
      .describe('when its first process began, after the common start; of slices the greatest'),
    slices: z
      .object({
        ns: nanoseconds.describe('how long one is'),
        count: count.describe('those after the warm-up'),
        late: count.describe('begun more than 10 ms late'),
        invalid: count.describe('begun more than 50 ms late, or before the one before had ended'),
      })
      .optional()
      .describe('by slices'),
    processes: count,
    clientCpuNs: nanoseconds.nullable(),
    open: z
      .object({ dropped: count, late: count, lateNsMax: nanoseconds })
      .nullable()
      .describe('null: a closed loop'),
  });
}

const secondSchema = z
  .object({
    ok: count,
    p50Ns: nanoseconds.nullable(),
    p99Ns: nanoseconds.nullable(),
    maxNs: nanoseconds,
  })
  .describe('operations that ended in one second, of all agents');

/**
 * @template {import('zod').ZodType} T
 * @param {T} latency schema
 * @returns fields of a round
 */
export function fleetFields(latency) {
  return {
    seconds: z.array(secondSchema).optional().describe('with --agents'),
    agents: z
      .array(roundAgentSchema(latency))
      .optional()
      .describe('with --agents: what came of each; the round is all of them together'),
  };
}

/** @typedef {z.infer<typeof fleetSchema>} Fleet */
/** @typedef {NonNullable<import('./result.js').Round['agents']>[number]} RoundAgent */
