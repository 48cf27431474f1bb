/**
 * The part of a result about several load machines: the agents, and their outcome per round. The
 * figures of a round itself cover all agents together.
 */

import { z } from 'zod';
import { count, nanoseconds, text } from './schema-parts.js';

export const fleetSchema = z
  .object({
    coordinator: text,
    configuration: text.describe('SHA-256 of the files that must be equal on all agents'),
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
          roundTripNs: nanoseconds.describe('minimum round trip to the coordinator'),
          exchanges: count,
          driftNs: z
            .number()
            .nullable()
            .describe('change of the offset until the end; null: unknown'),
        }),
        targets: z
          .record(text, nanoseconds.nullable())
          .describe('minimum time to open a connection to each server; null: not measured'),
      }),
    ),
    lost: z
      .object({
        agent: text,
        reason: text,
        round: count.optional().describe('absent: not in a round'),
        position: count.optional(),
      })
      .optional()
      .describe('a lost agent, with the benchmark'),
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
      .describe(
        'start of its first process after the common start; for segments in blocks the maximum',
      ),
    slices: z
      .object({
        ns: nanoseconds.describe('duration of one'),
        count: count.describe('number after the warm-up'),
        late: count.describe('segments that began more than 10 ms late'),
        invalid: count.describe(
          'segments that began more than 50 ms late, or before the end of the previous one',
        ),
      })
      .optional()
      .describe('in blocks'),
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
  .describe('operations of all agents that ended in one second');

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
      .describe('with --agents: outcome of each; the round merges all of them'),
  };
}

/** @typedef {z.infer<typeof fleetSchema>} Fleet */
/** @typedef {NonNullable<import('./result.js').Round['agents']>[number]} RoundAgent */
