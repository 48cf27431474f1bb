/**
 * Schema of one round of a benchmark: what was counted and timed while it measured. See result.js.
 */

import { z } from 'zod';
import { fleetFields } from './fleet.js';
import { OUTCOMES } from './outcome.js';
import { count, nanoseconds, text } from './schema-parts.js';

export const bytes = z.number();
/** More would take hours to run, and gigabytes to read. */
const ROUNDS_MAX = 100_000;

const share = z.number().min(0).max(1);

const outcomes = z
  .object(
    /** @type {Record<import('./types.js').Outcome, typeof count>} */ (
      Object.fromEntries(OUTCOMES.map((name) => [name, count]))
    ),
  )
  .describe('scheduled = the sum of these; only ok counts as an operation');

export const sample = z.object({
  outcome: z.enum(/** @type {[string, ...string[]]} */ (/** @type {unknown} */ (OUTCOMES))),
  operation: count.describe('index of the operation within the load'),
  code: text.nullable().describe('error code, where there is one'),
  message: text,
});

export const latency = z.object({
  count,
  minNs: nanoseconds,
  maxNs: nanoseconds,
  meanNs: nanoseconds,
  p50Ns: nanoseconds.nullable(),
  p90Ns: nanoseconds.nullable(),
  p99Ns: nanoseconds.nullable().describe('null where fewer than 10 values lie above it'),
  p999Ns: nanoseconds.nullable().describe('null where fewer than 10 values lie above it'),
  histogram: text.describe('HdrHistogram V2, compressed, base64; unit 1 ns, 3 significant digits'),
});

const client = z.object({
  userNs: nanoseconds,
  systemNs: nanoseconds,
  rssBytesBefore: bytes,
  rssBytesAfter: bytes,
  rssBytesMax: bytes,
  voluntarySwitches: count
    .optional()
    .describe('context switches in which the process waited; absent: not counted'),
  involuntarySwitches: count.optional().describe('in which another one took its processor'),
  gcCount: count.nullable().describe('null: not observed, of slices'),
  gcNs: nanoseconds.nullable(),
  collections: z
    .array(z.object({ startNs: nanoseconds, ns: nanoseconds }))
    .optional()
    .describe('the longest of them, since measuring began; absent with several processes'),
});

const server = z.object({
  cpuNs: nanoseconds,
  rssBytes: bytes.nullable(),
  threadNsMax: nanoseconds.nullable().optional().describe('CPU time of its busiest thread'),
});

const open = z
  .object({
    offered: count.describe('operations that came due: sent + dropped'),
    sent: count,
    completed: count.describe('replies and errors, of whatever outcome'),
    dropped: count.describe('not sent, because as many as allowed were in flight'),
    late: count.describe('sent more than 1 ms after they were due'),
    lateNsMax: nanoseconds,
    service: latency.nullable().describe('from sending to completion, of the ok operations'),
  })
  .describe('of an open loop; offered + unsent = scheduled');

export const outage = z
  .object({
    startNs: nanoseconds.describe('since measuring began'),
    ns: nanoseconds.nullable().describe('until a row could be read again; null: to the end'),
    failed: count.describe('operations that failed in it'),
    reason: text.describe('what the first failed operation said'),
  })
  .describe('the connection was lost and opened again');

const kind = z.object({
  name: text,
  ok: count,
  latency: latency.nullable(),
});

export const conditions = z
  .object({
    canaryNs: nanoseconds
      .nullable()
      .describe('time of a fixed loop before the benchmark was opened'),
    canaryDrift: z
      .number()
      .nullable()
      .optional()
      .describe('of that, against the first of the run: 0.05 is 5 % slower'),
    stealShare: z
      .number()
      .nullable()
      .describe('steal time: processor time taken by the hypervisor'),
    busyShare: z.number().nullable().describe('of all processors, by all programs'),
    throttledCount: z.number().nullable().describe('periods throttled by a cgroup limit'),
    throttledNs: nanoseconds.nullable(),
    loadAverage: z.number().nullable(),
  })
  .describe('of the machine while measuring; null: unknown');

export const series = z
  .object({
    keys: count.nullable().describe('of each fetch; null: they differ, see keysOf'),
    warmup: z.boolean().describe('reported, not compared'),
    cycles: count,
    ok: count,
    medianNs: nanoseconds
      .nullable()
      .describe('exact: of an even number the mean of the middle two'),
    p90Ns: nanoseconds.nullable().describe('nearest rank; null where fewer than 10 lie above'),
    p99Ns: nanoseconds.nullable(),
    minNs: nanoseconds.nullable(),
    maxNs: nanoseconds.nullable(),
    durationNs: nanoseconds.describe('from the first call to the last reply'),
    throughput: z.number().nonnegative().describe('replies per second in that time'),
    inFlightMean: z.number().nonnegative().describe('time average in that interval: call to reply'),
    latenciesNs: z.array(nanoseconds).nullable().describe('call to reply, in the order of calls'),
    keysOf: z.array(count).optional().describe('keys of each of these'),
    latency: latency.optional().describe('of slices, which keep no times of single fetches'),
  })
  .describe('fetches alike, with as many in flight from the first to the last');

export const workloadMetrics = z
  .record(text, z.union([z.number(), text, z.boolean(), z.null(), z.array(z.number())]))
  .describe('metrics of the workload: rows inserted, connect times');

const compared = z
  .object({
    replies: count.describe('or values of them that were compared with what they must be'),
    bytes: bytes.describe(
      'compared in them; of a row: its tag, and in one reply of 31 the whole value',
    ),
    stale: count
      .optional()
      .describe('mix: mismatches, since older than the last acknowledged write of their key'),
  })
  .describe('replies that were compared with what they must be');

export const round = z.object({
  round: count.max(ROUNDS_MAX),
  position: count.describe('place in the order of this round'),
  state: z.enum(['measured', 'failed', 'aborted']),
  failure: z.object({ code: text, message: text }).nullable(),
  createdNs: nanoseconds.nullable().describe('until connected and the first read verified'),
  scheduled: count,
  outcomes,
  samples: z.array(sample).max(10),
  durationNs: nanoseconds,
  throughput: z.number().nonnegative().describe('ok operations per second'),
  inFlightMean: z.number().nonnegative().describe('counted, apart from the latencies'),
  inFlightSteady: z
    .number()
    .nonnegative()
    .optional()
    .describe('the same while every worker had one in flight; absent: not known'),
  conditions: conditions.optional(),
  compared: compared.optional(),
  redirects: z
    .record(text, count)
    .optional()
    .describe(
      'of a cluster client: replies that it handled itself by sending the request again, by kind: ' +
        'moved, ask, tryAgain, clusterDown; absent: the driver does not tell',
    ),
  poolWait: latency
    .nullable()
    .optional()
    .describe(
      'of a pool: from the request until it had a connection, a part of the latency; absent: no ' +
        'pool, or the driver does not show it',
    ),
  outages: z.array(outage).optional().describe('with --on-outage continue'),
  latency: latency
    .nullable()
    .describe('of the ok operations: service time; in an open loop response time, from when due'),
  open: open.optional(),
  ...fleetFields(latency.nullable()),
  kinds: z.array(kind).optional().describe('each kind of operation, where the workload mixes them'),
  series: z.array(series).optional().describe('of a workload that looks at each operation'),
  occupancy: z
    .object({ client: share.nullable(), server: share.nullable() })
    .optional()
    .describe(
      'of the main thread, and of the busiest thread of the server: run time as a share of the ' +
        'time in which it had not to wait for a processor; null: not known',
    ),
  client: client.nullable(),
  server: server.nullable().describe('null: embedded, remote or not readable'),
  others: z
    .record(text, server)
    .optional()
    .describe('further servers on the way, by name: a proxy; absent: none, or not readable'),
  metrics: workloadMetrics.optional(),
  pendingBytes: bytes.nullable().describe('burst: client memory for each pending request'),
  warmup: z.object({
    operations: count,
    durationNs: nanoseconds,
    curve: z.array(z.number()).describe('ok operations in each window'),
    windowNs: nanoseconds,
  }),
  timeline: z.object({
    windowNs: nanoseconds,
    operations: z.array(count).describe('ok operations that ended in each window'),
  }),
  processNs: nanoseconds.nullable().describe('wall time of the benchmark process, start to exit'),
  workNs: nanoseconds.nullable().describe('of that, open to close'),
});
