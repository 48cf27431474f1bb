/**
 * The schema of a run's result document. parse-result.js reads one from text. It contains
 * everything that a report shows; reports compute, but do not measure.
 *
 * Times are nanoseconds, sizes bytes, throughput operations per second. Later versions add fields,
 * but never change their meaning; SCHEMA_VERSION increases if readers must adapt.
 */

import { z } from 'zod';
import { limitsSchema } from './ceilings.js';
import { comparisonSchema, values } from './comparison.js';
import { fleetSchema } from './fleet.js';
import { gatesSchema } from './gate.js';
import { load } from './load-schema.js';
import { bytes, round } from './round-schema.js';
import { SCHEMA_NAME } from './schema-name.js';
import { count, nanoseconds, text } from './schema-parts.js';

export { SCHEMA_NAME };
export const SCHEMA_VERSION = 2;

const benchmark = z.object({
  id: text,
  storage: text,
  profile: text,
  workload: text,
  parameters: z
    .record(text, z.union([text, z.number(), z.boolean()]))
    .optional()
    .describe('the variant of the workload, if it has several'),
  load,
  state: z.enum(['planned', 'measured', 'skipped', 'failed', 'aborted']),
  reason: text.nullable().describe('reason why it was skipped or failed'),
  unranked: text.optional().describe('reason why its figure has no rank, although it was measured'),
  hint: text.nullable(),
  rounds: z.array(round),
});

const driver = z
  .object({
    version: text.nullable(),
    path: text.describe('path of its folder, relative to the working folder if inside it'),
    commit: text.nullable().describe('commit of its checkout; null: not a checkout'),
    changed: z.boolean().nullable().describe('the checkout has uncommitted changes'),
    integrity: text.nullable().describe('as recorded by npm at installation'),
    hash: text.nullable().describe('SHA-256 of the files, without dependencies; null: too many'),
  })
  .describe('driver resolved by the benchmark’s process');

const storage = z.object({
  name: text,
  profile: text,
  summary: text,
  package: text.nullable(),
  version: text.nullable(),
  server: text.nullable(),
  base: text.optional().describe('the storage with the installed version of this driver'),
  driver: driver.optional(),
  runtime: text
    .optional()
    .describe('runtime of its processes: `bun 1.4.5`; absent: Node of the run'),
  protocol: text.nullable().optional().describe('wire protocol; null: embedded, or another'),
  calls: z.enum(['promise', 'callback', 'sync']),
  options: z
    .record(text, z.unknown())
    .describe('every driver option that differs from its default'),
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
  semiSpaceMib: count
    .nullable()
    .optional()
    .describe('half of V8’s young generation in measured processes; null: set by NODE_OPTIONS'),
  oldSpaceMib: count
    .nullable()
    .optional()
    .describe(
      'old generation in measured processes before its first collection; null: set by NODE_OPTIONS',
    ),
  scavengeHelpers: z
    .boolean()
    .nullable()
    .optional()
    .describe(
      'helper threads collect the young generation of measured processes; null: set by NODE_OPTIONS',
    ),
  loadAverage: z.array(z.number()).nullable(),
});

const pinning = z.object({
  client: z.array(count).describe('processors of the benchmarks’ processes'),
  server: z.array(count).describe('processors of the servers that Dragstrip started'),
  servers: z.array(z.object({ name: text, pinned: z.boolean(), reason: text.nullable() })),
  reason: text.nullable().describe('reason why nothing is pinned'),
});

const warning = z.object({
  code: text,
  message: text,
  hint: text.nullable(),
  benchmark: text.nullable(),
});

const harnessOverhead = z.object({
  load: z.enum(['sync', 'window', 'burst']),
  inFlight: count.optional().describe('for a window'),
  nsPerOperation: nanoseconds,
  n: count,
});

const point = z.object({
  rate: z.number().positive(),
  phase: z.enum(['double', 'halve', 'bisect', 'confirm', 'beyond', 'widen']),
  passed: z.boolean().describe('best 2 of 3'),
  trials: z.array(z.object({ passed: z.boolean(), latencyNs: nanoseconds.nullable() })),
  benchmark: text.describe('benchmark whose rounds are its trials'),
});

const search = z.object({
  storage: text,
  profile: text,
  workload: text,
  percentile: z.number().min(0).max(1),
  limitNs: nanoseconds,
  rate: z.number().positive().nullable().describe('the highest rate within the limit; null: none'),
  confirmed: z.boolean().describe('it passed again, and 5 % above it failed'),
  reason: text.nullable().describe('reason why it is not confirmed'),
  points: z.array(point),
});

const ownData = z.object({
  server: text,
  source: z.enum(['scan', 'file', 'table']),
  keys: count.describe('number of keys drawn and read'),
  seen: count.describe('number of keys from which they were drawn'),
  leftOut: z.record(text, count).describe('number of drawn keys that were skipped, by reason'),
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
    valueSize: count.describe('characters; with valueSizes the maximum'),
    valueSizes: text.optional().describe('their distribution; absent: all have valueSize'),
    seed: count,
  }),
  ownData: ownData
    .optional()
    .describe('with --read-only: keys of the user that replace the dataset'),
  environment,
  servers: z.array(serverInfo),
  storages: z.array(storage),
  pinning: pinning.optional().describe('with --pin'),
  benchmarks: z.array(benchmark),
  searches: z.array(search).optional().describe('the highest rate within a latency limit'),
  limits: limitsSchema.optional(),
  comparison: comparisonSchema.optional().describe('comparison of a run in blocks'),
  fleet: fleetSchema.optional(),
  gates: gatesSchema.optional(),
  counting: z
    .object({ spentNs: nanoseconds, share: z.number().nonnegative() })
    .optional()
    .describe('time spent on reading counts of servers, and its share of the run'),
  harnessOverhead: z
    .array(harnessOverhead)
    .describe('harness overhead: the memory storage without a server'),
  warnings: z.array(warning),
  digest: text.optional().describe('in a stored file: SHA-256 of the rest, see lib/digest.js'),
});

/** @typedef {z.infer<typeof resultSchema>} Result */
/** @typedef {z.infer<typeof benchmark>} Benchmark */
/** @typedef {z.infer<typeof import('./round-schema.js').round>} Round */
/** @typedef {z.infer<typeof load>} Load */
/** @typedef {z.infer<typeof search>} Search */
/** @typedef {z.infer<typeof warning>} Warning */
/** @typedef {z.infer<typeof import('./round-schema.js').latency>} Latency */
/** @typedef {z.infer<typeof environment>} Environment */
/** @typedef {z.infer<typeof import('./round-schema.js').sample>} Sample */
/** @typedef {z.infer<typeof import('./round-schema.js').series>} SeriesResult */
/** @typedef {z.infer<typeof import('./round-schema.js').conditions>} Conditions */
/** @typedef {z.infer<typeof import('./round-schema.js').outage>} Outage */
/** @typedef {z.infer<typeof import('./round-schema.js').workloadMetrics>} WorkloadMetrics */

/**
 * @param {{ zodSchema: any, jsonSchema: any }} context values of slices are stored as a text, and
 *   were an array in earlier versions
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
