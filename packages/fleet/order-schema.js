/**
 * Messages of the controller to agents: the data of a lease and the orders of a run. Names and
 * options only; unknown fields are refused.
 */

import { z } from 'zod';
import { load } from '../../lib/load-schema.js';
import {
  count,
  firstIssue,
  label,
  list,
  nanoseconds,
  number,
  partName,
  runId,
  signature,
} from './strict.js';

const AGENTS_MAX = 1000;
const CONTENDERS_MAX = 500;
const LOADS_MAX = 1000;
/**
 * Maximum segments per round; more would take hours, and agents compute the whole timetable at
 * once.
 */
const SLOTS_MAX = 200_000;
/** Maximum characters of an order; ten storages under ten loads need 60,000. */
const ORDER_LENGTH_MAX = 2 ** 22;
/** Workloads of a race that machines can share: they read and write rows of the dataset. */
const WORKLOADS = /** @type {const} */ (['get', 'mix']);

const seat = count.max(AGENTS_MAX - 1);
const step = count.min(1);

const endpoint = z.union([
  z.strictObject({
    host: z.string().min(1).max(255),
    port: count.min(1).max(65_535),
    db: count.optional(),
    tls: z.strictObject({ serverName: label.optional() }).optional(),
  }),
  z.strictObject({ path: z.string().min(1).max(255), db: count.optional() }),
]);
const address = z.record(partName, endpoint);
const pids = list(count, 1000);

const storage = z.strictObject({
  storage: label,
  profile: label,
  address,
  // Only workloads that cannot be shared have further servers.
  others: list(z.never(), 0).optional(),
  credentialVariables: z.null(),
  serverPids: pids,
  dataset: z.strictObject({
    rows: count,
    valueSize: count,
    valueSizes: label.optional(),
    seed: count,
  }),
  folder: z.literal(''),
  seed: count,
  round: count.optional(),
});

const task = z.strictObject({
  id: label,
  load: load.strict(),
  workload: z.enum(WORKLOADS),
  workloadOptions: z.strictObject({
    keys: label.optional(),
    mix: label.optional(),
    ttlMs: number.optional(),
  }),
  warm: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('level'), nsMax: nanoseconds }),
    z.strictObject({ kind: z.literal('operations'), operations: count }),
    z.strictObject({ kind: z.literal('none') }),
  ]),
  operations: count.optional(),
  slot: count,
  others: list(z.never(), 0),
  stallNs: nanoseconds,
});

const contender = z.strictObject({
  every: count.min(1),
  isLocal: z.boolean(),
  spec: z.strictObject({
    opener: z.enum(['storage', 'wire']),
    storage,
    tasks: list(task.nullable(), LOADS_MAX),
    isCopy: z.boolean().optional(),
    isLong: z.boolean().optional(),
    perSecond: z.boolean().optional(),
    live: z.boolean().optional(),
    wire: z.strictObject({ protocol: label, endpoint }).optional(),
  }),
});

/** Fields of every order; `number` counts the orders of the run. */
const ofRun = { run: runId, number: count.min(1) };

const play = z
  .strictObject({
    ...ofRun,
    type: z.literal('play'),
    step,
    seats: list(seat, AGENTS_MAX),
    keys: list(signature, AGENTS_MAX),
    contenders: list(contender, CONTENDERS_MAX),
    amount: z
      .strictObject({ operations: count.nullable(), durationNs: nanoseconds.nullable() })
      .optional(),
    processes: count.min(1).max(1000).optional(),
    timetable: z
      .strictObject({
        round: count,
        blocks: count.min(1),
        leadBlocks: count,
        orderSeed: count,
        segmentNs: nanoseconds,
        rampNs: nanoseconds,
        gapNs: nanoseconds,
      })
      .optional(),
  })
  .refine(
    ({ amount, timetable }) => (amount === undefined) !== (timetable === undefined),
    'an amount or a timetable',
  )
  .refine(({ contenders }) => contenders.length > 0, 'no contender')
  .refine(
    ({ contenders, timetable }) =>
      contenders.reduce((sum, { spec }) => sum + spec.tasks.length, 0) *
        (timetable === undefined ? 1 : timetable.blocks + timetable.leadBlocks) <=
      SLOTS_MAX,
    'too many segments',
  );

const order = z.discriminatedUnion('type', [
  play,
  z.strictObject({ ...ofRun, type: z.literal('start'), step, atNs: number }),
  z.strictObject({ ...ofRun, type: z.literal('stop') }),
  z.strictObject({ ...ofRun, type: z.literal('end') }),
]);

export const leaseSchema = z.strictObject({
  run: runId,
  seat,
  count: count.min(1).max(AGENTS_MAX),
  storages: list(z.string().regex(/^[a-z0-9:._-]{1,200}$/i), CONTENDERS_MAX),
  untilMs: number.describe('the coordinator’s time of day at which it ends if nobody has taken it'),
  signature,
});

/** @typedef {z.infer<typeof leaseSchema>} LeaseData */

/** @param {Omit<LeaseData, 'signature'>} lease @returns {string} signed text of a lease */
export function leaseText({ run, seat: number, count: of, storages, untilMs }) {
  return JSON.stringify([run, number, of, storages, untilMs]);
}

/**
 * @param {string} run
 * @param {number} number number in the run, from 1; each is accepted once
 * @param {import('./session.js').Order} of
 * @returns {string} signed text of an order
 */
export function orderText(run, number, of) {
  return JSON.stringify({ ...of, run, number });
}

// tsc fails here if a field of a contender exists in its type only, because agents would refuse it.
// Driver versions, runtimes and placement are not supported by agents.
/** @template {never} T @typedef {T} None */
/** @typedef {import('../../engine/contender.js').ContenderSpec} Spec */
/** @typedef {import('../../engine/contender.js').Task} Task */
/** @typedef {z.infer<typeof contender>['spec']} SentSpec */
/**
 * @typedef {None<Exclude<keyof Spec, keyof SentSpec | 'driver' | 'runtime' | 'cpus'>>} FieldsOfSpec
 */
/**
 * @typedef {'own' | 'share' | 'slot' | 'operations'} OfAgent not in a lease, or set by the agent
 */
/**
 * @typedef {None<Exclude<keyof Spec['storage'], keyof SentSpec['storage'] | OfAgent>>} OfStorage
 */
/** @typedef {None<Exclude<keyof Task, keyof NonNullable<SentSpec['tasks'][0]>>>} FieldsOfTask */

/**
 * @param {string | undefined} text
 * @returns {{ order: (import('./session.js').Order & { run: string, number: number }) | null, step:
 *   number | null, issue: string | null }} order: null if invalid; issue: the reason; step: step of
 *   an order to play
 */
export function readOrder(text) {
  if (text === undefined || text.length > ORDER_LENGTH_MAX) return noOrder('too long');
  let parsed;
  try {
    parsed = JSON.parse(text);
  } catch {
    return noOrder('not JSON');
  }
  const { success, data, error } = order.safeParse(parsed);
  if (success) return { order: data, step: null, issue: null };
  const number = parsed?.type === 'play' ? step.safeParse(parsed.step) : undefined;
  return noOrder(firstIssue(error), number?.data);
}

/** @param {string} issue @param {number} [of] */
function noOrder(issue, of) {
  return { order: null, step: of ?? null, issue };
}
