/**
 * The result document of a run: its schema. parse-result.js reads one from text. Everything that a
 * report shows is in here; a report computes, it does not measure.
 *
 * Times are nanoseconds, sizes bytes, throughput operations per second. Fields are added in later
 * versions, never given another meaning; SCHEMA_VERSION rises when a reader must know.
 */

import { z } from 'zod';
import { limitsSchema } from './ceilings.js';
import { comparisonSchema, values } from './comparison.js';
import { fleetFields, fleetSchema } from './fleet.js';
import { gatesSchema } from './gate.js';
import { load } from './load-schema.js';
import { OUTCOMES } from './outcome.js';
import { SCHEMA_NAME } from './schema-name.js';

export { SCHEMA_NAME };
export const SCHEMA_VERSION = 2;

const count = z.number().int().nonnegative();
/** More would take hours to run, and gigabytes to read. */
const ROUNDS_MAX = 100_000;
const nanoseconds = z.number().nonnegative();
const bytes = z.number();
const text = z.string();

const outcomes = z
  .object(
    /** @type {Record<import('./types.js').Outcome, typeof count>} */ (
      Object.fromEntries(OUTCOMES.map((name) => [name, count]))
    ),
  )
  .describe('scheduled = the sum of these; only ok counts as an operation');

const sample = z.object({
  outcome: z.enum(/** @type {[string, ...string[]]} */ (/** @type {unknown} */ (OUTCOMES))),
  operation: count.describe('index of the operation within the load'),
  code: text.nullable().describe('error code, where there is one'),
  message: text,
});

const latency = z.object({
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

const outage = z
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

const conditions = z
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

const series = z
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

const workloadMetrics = z
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

const round = z.object({
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
    .describe('the same without the begin and the end of each slice; absent: not by slices'),
  conditions: conditions.optional(),
  ...{ compared: compared.optional(), redirects: z.record(text, count).optional() },
  outages: z.array(outage).optional().describe('with --on-outage continue'),
  latency: latency
    .nullable()
    .describe('of the ok operations: service time; in an open loop response time, from when due'),
  open: open.optional(),
  ...fleetFields(latency.nullable()),
  kinds: z.array(kind).optional().describe('each kind of operation, where the workload mixes them'),
  series: z.array(series).optional().describe('of a workload that looks at each operation'),
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

const benchmark = z.object({
  id: text,
  storage: text,
  profile: text,
  workload: text,
  parameters: z
    .record(text, z.union([text, z.number(), z.boolean()]))
    .optional()
    .describe('the variant of the workload, where it has several'),
  load,
  state: z.enum(['planned', 'measured', 'skipped', 'failed', 'aborted']),
  reason: text.nullable().describe('why it was skipped or failed'),
  hint: text.nullable(),
  rounds: z.array(round),
});

const driver = z
  .object({
    version: text.nullable(),
    path: text.describe('of its folder, from the working folder where it is inside'),
    commit: text.nullable().describe('of its checkout; null: it is none'),
    changed: z.boolean().nullable().describe('the checkout has changes that are not committed'),
    integrity: text.nullable().describe('as npm recorded it when it installed the package'),
    hash: text.nullable().describe('SHA-256 of the files, without dependencies; null: too many'),
  })
  .describe('what the benchmark’s process resolved as its driver');

const storage = z.object({
  name: text,
  profile: text,
  summary: text,
  package: text.nullable(),
  version: text.nullable(),
  server: text.nullable(),
  base: text.optional().describe('the storage with the installed version of this driver'),
  driver: driver.optional(),
  runtime: text.optional().describe('of its processes: `bun 1.4.5`; absent: Node as of the run'),
  protocol: text.nullable().optional().describe('on the wire; null: embedded, or another'),
  calls: z.enum(['promise', 'callback', 'sync']),
  options: z.record(text, z.unknown()).describe('every driver option that is not its default'),
});

const serverInfo = z.object({
  name: text,
  version: text.nullable(),
  address: z.record(text, text),
  source: z.enum(['flag', 'env', 'dragstrip', 'default']),
  settings: z.record(text, text),
});

const environment = z.object({
  node: text,
  v8: text,
  platform: text,
  arch: text,
  os: text,
  cpu: text,
  cores: count,
  memoryBytes: bytes,
  governor: text.nullable().describe('null: unknown'),
  virtual: z.boolean().nullable(),
  loadAverage: z.array(z.number()).nullable(),
});

const pinning = z.object({
  client: z.array(count).describe('processors of the benchmarks’ processes'),
  server: z.array(count).describe('processors of the servers that Dragstrip started'),
  servers: z.array(z.object({ name: text, pinned: z.boolean(), reason: text.nullable() })),
  reason: text.nullable().describe('why nothing is pinned'),
});

const warning = z.object({
  code: text,
  message: text,
  hint: text.nullable(),
  benchmark: text.nullable(),
});

const harnessOverhead = z.object({
  load: z.enum(['sync', 'window', 'burst']),
  nsPerOperation: nanoseconds,
  n: count,
});

const point = z.object({
  rate: z.number().positive(),
  phase: z.enum(['double', 'halve', 'bisect', 'confirm', 'beyond', 'widen']),
  passed: z.boolean().describe('best 2 of 3'),
  trials: z.array(z.object({ passed: z.boolean(), latencyNs: nanoseconds.nullable() })),
  benchmark: text.describe('its trials are rounds of this benchmark'),
});

const search = z.object({
  storage: text,
  profile: text,
  workload: text,
  percentile: z.number().min(0).max(1),
  limitNs: nanoseconds,
  rate: z.number().positive().nullable().describe('the greatest within the limit; null: none'),
  confirmed: z.boolean().describe('it passed again, and 5 % above it failed'),
  reason: text.nullable().describe('why it is not confirmed'),
  points: z.array(point),
});

const ownData = z.object({
  server: text,
  source: z.enum(['scan', 'file', 'table']),
  keys: count.describe('drawn and read'),
  seen: count.describe('keys that they were drawn from'),
  leftOut: z.record(text, count).describe('of those drawn, by the reason'),
  valueBytes: z.object({ min: bytes, median: bytes, max: bytes }),
});

export const resultSchema = z.object({
  schema: z.literal(SCHEMA_NAME),
  schemaVersion: z.literal(SCHEMA_VERSION),
  dragstrip: text.describe('version of Dragstrip'),
  id: text,
  command: text,
  state: z.enum(['running', 'complete', 'aborted']),
  startedAt: text.describe('ISO 8601'),
  finishedAt: text.nullable(),
  options: z.record(text, z.unknown()),
  dataset: z.object({
    rows: count,
    valueSize: count.describe('characters; with valueSizes of the longest'),
    valueSizes: text.optional().describe('their distribution; absent: all have valueSize'),
    seed: count,
  }),
  ownData: ownData
    .optional()
    .describe('with --read-only: keys of the user in place of the dataset'),
  environment,
  servers: z.array(serverInfo),
  storages: z.array(storage),
  pinning: pinning.optional().describe('with --pin'),
  benchmarks: z.array(benchmark),
  searches: z.array(search).optional().describe('the greatest rate within a latency limit'),
  limits: limitsSchema.optional(),
  comparison: comparisonSchema.optional().describe('of a run by slices'),
  fleet: fleetSchema.optional(),
  gates: gatesSchema.optional(),
  harnessOverhead: z
    .array(harnessOverhead)
    .describe('harness overhead: the memory storage without a server'),
  warnings: z.array(warning),
  digest: text.optional().describe('of a stored file: SHA-256 of the rest, see lib/digest.js'),
});

/** @typedef {z.infer<typeof resultSchema>} Result */
/** @typedef {z.infer<typeof benchmark>} Benchmark */
/** @typedef {z.infer<typeof round>} Round */
/** @typedef {z.infer<typeof load>} Load */
/** @typedef {z.infer<typeof search>} Search */
/** @typedef {z.infer<typeof warning>} Warning */
/** @typedef {z.infer<typeof latency>} Latency */
/** @typedef {z.infer<typeof environment>} Environment */
/** @typedef {z.infer<typeof sample>} Sample */
/** @typedef {z.infer<typeof series>} SeriesResult */
/** @typedef {z.infer<typeof conditions>} Conditions */
/** @typedef {z.infer<typeof outage>} Outage */
/** @typedef {z.infer<typeof workloadMetrics>} WorkloadMetrics */

/**
 * @param {{ zodSchema: any, jsonSchema: any }} context values of slices are stored as a text, and
 *   were an array before
 */
function describePacked({ zodSchema, jsonSchema }) {
  if (zodSchema !== values && zodSchema._zod.parent !== values) return;
  const { type, items } = jsonSchema;
  for (const name of ['type', 'items']) delete jsonSchema[name];
  const packed = { type: 'string', contentEncoding: 'base64' };
  jsonSchema.anyOf = [packed, { type, items }];
}

/** @returns {object} JSON Schema (draft 2020-12) of the result document */
export function resultJsonSchema() {
  return {
    ...z.toJSONSchema(resultSchema, { override: describePacked }),
    title: 'Dragstrip result',
    description: 'The document of a run: environment, options, every benchmark of every round.',
  };
}
