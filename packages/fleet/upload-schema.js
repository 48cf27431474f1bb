/**
 * Messages of an agent to the controller: readiness, waiting for a start, and the result of a step.
 * Unknown fields are refused.
 */

import { z } from 'zod';
import { outage, round, sample, series } from '../../lib/round-schema.js';
import { flawOf } from '../../measure/histogram.js';
import {
  count,
  failure,
  intervals,
  known,
  label,
  list,
  MACHINE,
  message,
  nanoseconds,
  number,
  numbers,
  record,
  signature,
} from './strict.js';

/** Maximum length of a list that is otherwise limited only by the size of the upload. */
const MANY = 1_000_000;
const CONTENDERS_MAX = 500;
const LOADS_MAX = 1000;

const clock = z.strictObject({
  offsetNs: number,
  roundTripNs: nanoseconds,
  exchanges: count,
});

const histogram = z
  .strictObject({
    sparse: numbers(MANY),
    count,
    min: nanoseconds,
    max: nanoseconds,
    sum: nanoseconds,
  })
  .refine((one) => flawOf(one) === null, 'not a histogram')
  .nullable();
const counters = record(known);

const segment = z.strictObject({
  state: z.enum(['measured', 'failed', 'aborted']),
  failure: failure.nullable(),
  refused: z.boolean(),
  scheduled: count,
  outcomes: numbers(100),
  samples: list(sample.strict(), 100),
  wall: intervals,
  inFlightAreaNs: known,
  steady: intervals,
  steadyAreaNs: known,
  histograms: record(histogram, 200_000),
  open: counters.nullable(),
  client: counters.nullable(),
  collections: list(z.strictObject({ startNs: number, ns: number }), 1000),
  servers: record(
    z.strictObject({ cpu: intervals, rssBytes: known, threads: record(intervals, 10_000) }),
  ),
  occupation: z
    .strictObject({ wallNs: number, runNs: known, waitNs: known, server: numbers(10_000) })
    .nullable(),
  conditions: counters.nullable(),
  counters: record(counters.nullable()),
  pending: counters.nullable(),
  outages: list(outage.strict(), MANY).nullable(),
  metrics: record(
    z.strictObject({
      rule: z.enum(['sum', 'max', 'min', 'one', 'list']),
      value: z.union([number, message, z.boolean(), z.null(), numbers(MANY)]),
    }),
  ),
  series: list(series.strict(), LOADS_MAX),
  timeline: round.shape.timeline.strict().nullable(),
  process: counters.nullable(),
  warmup: round.shape.warmup.strict().nullable(),
  // The controller computes the figures of each agent.
  agents: z.array(z.never()).max(0),
  figures: z
    .strictObject({
      spanNs: known,
      spanOperations: known,
      medianNs: known,
      valid: z.boolean(),
      lateNs: known,
      latency: histogram,
    })
    .nullable(),
});

/** @template {never} T @typedef {T} None a field of a segment that exists in its type only */
/** @typedef {keyof import('../../engine/segment.js').Segment} Field */
/** @typedef {None<Exclude<Field, keyof z.infer<typeof segment>>>} FieldsOfSegment */

const byLoad = list(list(segment, MANY), LOADS_MAX);
const seat = z.strictObject({
  segments: list(list(segment.nullable(), MANY), LOADS_MAX),
  leads: byLoad,
  kept: byLoad,
  processRecords: list(segment, 10_000),
  failure: failure.nullable(),
});

/** Result of one step on one agent. */
export const uploadSchema = z.strictObject({
  seats: list(seat.nullable(), CONTENDERS_MAX),
  failure: failure.nullable(),
  clock,
  targets: record(nanoseconds.nullable()),
});

/** Maximum bytes of an upload, and characters of its encoding. */
export const UPLOAD_MAX = 128 * 2 ** 20;

/** The job of an upload. */
export const jobSchema = z.strictObject({
  seat: count,
  step: count,
  payload: z.string().max(UPLOAD_MAX),
  signature,
});

/** Progress of a lease. */
export const progressSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('ready'),
    seat: count,
    name: label.min(1),
    identity: z.strictObject({
      dragstrip: label,
      node: label,
      arch: label,
      drivers: record(label),
      configuration: label,
    }),
    machine: z.strictObject(MACHINE),
    clock,
    key: signature,
  }),
  z.strictObject({ type: z.literal('barrier'), seat: count, step: count, signature }),
]);
