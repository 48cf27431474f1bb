/**
 * Schema of one round of a benchmark: its counts and times. See result.js.
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
  code: text.nullable().describe('error code, if any'),
  message: text,
});

export const latency = z.object({
  count,
  minNs: nanoseconds,
  maxNs: nanoseconds,
  meanNs: nanoseconds,
  p50Ns: nanoseconds.nullable(),
  p90Ns: nanoseconds.nullable(),
  p99Ns: nanoseconds.nullable().describe('null if fewer than 10 values lie above it'),
  p999Ns: nanoseconds.nullable().describe('null if fewer than 10 values lie above it'),
  histogram: text.describe('HdrHistogram V2, compressed, base64; unit 1 ns, 3 significant digits'),
});

const client = z.object({
  userNs: nanoseconds,
  systemNs: nanoseconds,
  rssBytesBefore: bytes,
  rssBytesAfter: bytes,
  rssBytesMax: bytes,
  keptBytes: bytes
    .optional()
    .describe(
      'heap after all operations of the process and a collection, minus the heap before them',
    ),
  keptOperations: count.optional().describe('operations of all loads of the process'),
  voluntarySwitches: count.optional().describe('voluntary context switches; absent: not counted'),
  involuntarySwitches: count.optional().describe('involuntary context switches'),
  reads: count
    .nullable()
    .optional()
    .describe('system calls read(2) and similar; null: not used for its replies, or unknown'),
  writes: count.nullable().optional().describe('write(2) and similar; absent: not counted'),
  readBytes: bytes
    .nullable()
    .optional()
    .describe('bytes of those calls: network traffic, except for files'),
  writtenBytes: bytes.nullable().optional(),
  loopTurns: count.optional().describe('iterations of the event loop; absent: not counted'),
  gcCount: count.nullable().describe('null: not observed; in blocks those that began in a segment'),
  gcNs: nanoseconds
    .nullable()
    .describe('in blocks the share of the process total by allocated bytes; null: unknown'),
  allocatedBytes: bytes
    .optional()
    .describe('in blocks: heap bytes allocated by all operations; absent: unknown'),
  collections: z
    .array(z.object({ startNs: nanoseconds, ns: nanoseconds }))
    .optional()
    .describe(
      'the longest ones, times since the start of measurement; absent with several processes',
    ),
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
    completed: count.describe('replies and errors of any outcome'),
    dropped: count.describe('not sent, because the maximum was in flight'),
    late: count.describe('sent more than 1 ms after their due time'),
    lateNsMax: nanoseconds,
    service: latency.nullable().describe('from sending to completion, of the ok operations'),
  })
  .describe('for an open loop; offered + unsent = scheduled');

export const outage = z
  .object({
    startNs: nanoseconds.describe('time since the start of measurement'),
    ns: nanoseconds
      .nullable()
      .describe('time until a row could be read again; null: until the end'),
    failed: count.describe('operations that failed during it'),
    reason: text.describe('error of the first failed operation'),
  })
  .describe('the connection was lost and reopened');

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
      .describe('relative to the first of the run: 0.05 is 5 % slower'),
    stealShare: z
      .number()
      .nullable()
      .describe('steal time: processor time taken by the hypervisor'),
    busyShare: z.number().nullable().describe('share of all processors used by all programs'),
    throttledCount: z.number().nullable().describe('periods throttled by a cgroup limit'),
    throttledNs: nanoseconds.nullable(),
    loadAverage: z.number().nullable(),
  })
  .describe('conditions of the machine while measuring; null: unknown');

export const series = z
  .object({
    keys: count.nullable().describe('keys per fetch; null: they differ, see keysOf'),
    warmup: z.boolean().describe('reported, not compared'),
    cycles: count,
    ok: count,
    medianNs: nanoseconds
      .nullable()
      .describe('exact: for an even number the mean of the middle two'),
    p90Ns: nanoseconds.nullable().describe('nearest rank; null if fewer than 10 lie above'),
    p99Ns: nanoseconds.nullable(),
    minNs: nanoseconds.nullable(),
    maxNs: nanoseconds.nullable(),
    durationNs: nanoseconds.describe('from the first call to the last reply'),
    throughput: z.number().nonnegative().describe('replies per second in that time'),
    inFlightMean: z.number().nonnegative().describe('time average in that interval: call to reply'),
    latenciesNs: z.array(nanoseconds).nullable().describe('call to reply, in the order of calls'),
    keysOf: z.array(count).optional().describe('keys of each fetch'),
    latency: latency.optional().describe('in blocks, which keep no times of single fetches'),
  })
  .describe('similar fetches, with a constant number in flight from the first to the last');

export const workloadMetrics = z
  .record(text, z.union([z.number(), text, z.boolean(), z.null(), z.array(z.number())]))
  .describe('metrics of the workload: rows inserted, connect times');

const compared = z
  .object({
    replies: count.describe('verified replies or values'),
    bytes: bytes.describe(
      'verified bytes: of a row its tag, and in `whole` replies the full value',
    ),
    length: bytes.optional().describe('total bytes of these replies or values; absent: unknown'),
    whole: count.optional().describe('replies that were compared in full; absent: not counted'),
    stale: count
      .optional()
      .describe('mix: mismatches with a value older than the last acknowledged write of their key'),
  })
  .describe('verification of replies');

const counted = z
  .object({
    replies: count.describe('replies received by the contender in the counted segments'),
    due: count.describe('minimum operations of the server for them'),
    operations: count.describe('operations of the server, by its own count'),
    lookups: count.nullable().describe('keys or rows read by it; null: not counted'),
    errors: count.nullable().describe('error replies sent by it; null: not counted'),
    lost: count.describe('segments after which the server did not respond'),
    restarts: count.describe('segments in which the server was restarted'),
  })
  .describe(
    'read from the server before and after segments without a failed operation; absent: not counted',
  );

export const round = z.object({
  round: count.max(ROUNDS_MAX),
  position: count.describe('position in the order of this round'),
  state: z.enum(['measured', 'failed', 'aborted']),
  failure: z.object({ code: text, message: text }).nullable(),
  createdNs: nanoseconds.nullable().describe('time until connected, with the first read verified'),
  scheduled: count,
  outcomes,
  samples: z.array(sample).max(10),
  durationNs: nanoseconds,
  throughput: z.number().nonnegative().describe('ok operations per second'),
  inFlightMean: z.number().nonnegative().describe('measured separately from the latencies'),
  inFlightSteady: z
    .number()
    .nonnegative()
    .optional()
    .describe('the same while every worker had one in flight; absent: unknown'),
  conditions: conditions.optional(),
  compared: compared.optional(),
  redirects: z
    .record(text, count)
    .optional()
    .describe(
      'for a cluster client: replies that it handled by resending the request, by kind: ' +
        'moved, ask, tryAgain, clusterDown; absent: not reported by the driver',
    ),
  counted: counted.optional(),
  poolWait: latency
    .nullable()
    .optional()
    .describe(
      'for a pool: wait of a request for a connection, a part of the latency; absent: no ' +
        'pool, or not reported by the driver',
    ),
  outages: z.array(outage).optional().describe('with --on-outage continue'),
  latency: latency
    .nullable()
    .describe(
      'of the ok operations: service time; in an open loop response time from the due time',
    ),
  open: open.optional(),
  ...fleetFields(latency.nullable()),
  kinds: z.array(kind).optional().describe('per kind of operation, if the workload mixes them'),
  series: z.array(series).optional().describe('for a workload that analyses each operation'),
  occupancy: z
    .object({
      client: share.nullable(),
      server: share.nullable(),
      waiting: share.nullable().optional(),
    })
    .optional()
    .describe(
      'main thread, and busiest thread of the server: run time as a share of the ' +
        'time in which it did not wait for a processor; null: unknown',
    ),
  client: client.nullable(),
  server: server.nullable().describe('null: embedded, remote or unreadable'),
  others: z
    .record(text, server)
    .optional()
    .describe('further servers on the route, by name: a proxy; absent: none, or unreadable'),
  metrics: workloadMetrics.optional(),
  pendingBytes: bytes.nullable().describe('burst: client memory per pending request'),
  warmup: z.object({
    operations: count,
    durationNs: nanoseconds,
    curve: z.array(z.number()).describe('ok operations per window'),
    windowNs: nanoseconds,
  }),
  timeline: z.object({
    windowNs: nanoseconds,
    operations: z.array(count).describe('ok operations that ended in each window'),
  }),
  processNs: nanoseconds.nullable().describe('wall time of the benchmark process, start to exit'),
  workNs: nanoseconds.nullable().describe('part of that from open to close'),
});
