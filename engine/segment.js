/**
 * The record of a segment: operations of one load, run without a pause in one process, with their
 * counts and times. `merge` combines several records into one: blocks of a round, processes or
 * machines that share a load, loads of one row.
 *
 * Times are intervals of whole nanoseconds. Their union is the sum for segments in sequence and the
 * span for segments side by side, so that one rule serves both. Percentiles and throughputs are
 * derived later (engine/to-round.js).
 */

import { OK, OUTCOMES } from '../lib/outcome.js';
import { SAMPLES_MAX } from '../load/recorder.js';
import { Histogram } from '../measure/histogram.js';
import { COLLECTIONS_MAX } from '../measure/usage.js';
import { mergeOutages } from './outages.js';

/** @typedef {ReturnType<Histogram['toMessage']>} HistogramMessage */
/** @typedef {[fromNs: number, toNs: number]} Interval interval in whole nanoseconds */
/** @typedef {Record<string, number | null>} Counters null: unknown */
/** @typedef {{ code: string, message: string }} Failure */
/** @typedef {import('../lib/types.js').MetricRule} MetricRule */
/** @typedef {import('../lib/types.js').WorkloadMetrics[string]} MetricValue */
/** @typedef {import('../lib/result.js').Round} Round */

/**
 * @typedef {object} ServerUse use of one server during a segment
 * @property {Interval[]} cpu its CPU time since it started, before and after
 * @property {number | null} rssBytes
 * @property {Record<string, Interval[]>} threads CPU time of each thread, if available
 *
 * @typedef {object} Occupation run and wait times of threads in nanoseconds, summed over segments
 * @property {number} wallNs
 * @property {number | null} runNs run time of the client's main thread
 * @property {number | null} waitNs time in which the same thread was runnable without a processor
 * @property {number[]} server run time and wait time of each thread of the server in turn
 *
 * @typedef {object} Figures figures of a single segment; never merged
 * @property {number} spanNs basis of its time per operation
 * @property {number} spanOperations
 * @property {number | null} medianNs median latency
 * @property {boolean} valid every operation was verified
 * @property {number} lateNs delay of its start after the common start
 * @property {HistogramMessage | null} latency latency of a segment that several machines run
 *   together
 */

/**
 * @typedef {object} Segment
 * @property {'measured' | 'failed' | 'aborted'} state
 * @property {Failure | null} failure
 * @property {boolean} refused the server refused every operation, which is not a failure of the run
 * @property {number} scheduled
 * @property {number[]} outcomes by code of lib/outcome.js
 * @property {import('../lib/result.js').Sample[]} samples operation: index among all shares
 * @property {Interval[]} wall on the system's monotonic clock
 * @property {number} inFlightAreaNs integral of the number in flight over time
 * @property {Interval[]} steady part of the wall time in which every worker has one in flight
 * @property {number} steadyAreaNs the integral over that part
 * @property {Record<string, HistogramMessage | null>} histograms `latency`, `service` of an open
 *   loop, `poolWait`, `kind NAME` of a mix, `second N`; null: nothing was recorded
 * @property {Counters | null} open counters of an open loop
 * @property {Counters | null} client CPU time, memory and garbage of the process
 * @property {{ startNs: number, ns: number }[]} collections the longest collection since the
 *   segment began
 * @property {Record<string, ServerUse>} servers by name; '' is the server of the storage
 * @property {Occupation | null} occupation
 * @property {Counters | null} conditions conditions of the machine
 * @property {Record<string, Counters | null>} counters stored unchanged, by the field name of the
 *   round: `compared` (replies, bytes), `redirects` of a cluster client by kind
 * @property {Counters | null} pending bytes of memory, and the number of outstanding requests at
 *   that time
 * @property {import('../lib/result.js').Outage[] | null} outages
 * @property {Record<string, { rule: MetricRule, value: MetricValue }>} metrics metrics of the
 *   workload
 * @property {import('../lib/result.js').SeriesResult[]} series
 * @property {Round['timeline'] | null} timeline
 * @property {Counters | null} process createdNs, workNs, rssBytesMax, keptBytes and keptOperations
 *   of the whole process
 * @property {Round['warmup'] | null} warmup
 * @property {import('../lib/fleet.js').RoundAgent[]} agents records of several load machines
 * @property {Figures | null} figures null once merged
 */

/** Counters whose maximum is kept; others are summed. */
const GREATEST = new Set(['lateNsMax', 'createdNs', 'workNs']);

/**
 * How each field of several segments is merged: each rule is commutative and associative, except
 * for the order of equal elements.
 * @type {{ [Field in keyof Segment]: (values: Segment[Field][]) => Segment[Field] }}
 */
export const RULES = Object.freeze({
  state: (values) =>
    values.find((one) => one === 'failed') ?? values.find((one) => one === 'aborted') ?? 'measured',
  failure: firstKnown,
  refused: (values) => values.some(Boolean),
  scheduled: sum,
  outcomes: (values) => OUTCOMES.map((_, code) => sum(values.map((one) => one[code] ?? 0))),
  samples: (values) =>
    values
      .flat()
      .sort((a, b) => a.operation - b.operation)
      .slice(0, SAMPLES_MAX),
  wall: union,
  inFlightAreaNs: sum,
  steady: union,
  steadyAreaNs: sum,
  histograms: (values) => byKey(values, addHistograms),
  open: addCounters,
  client: addCounters,
  collections: (values) =>
    values
      .flat()
      .sort((a, b) => b.ns - a.ns)
      .slice(0, COLLECTIONS_MAX)
      .sort((a, b) => a.startNs - b.startNs),
  servers: (values) => byKey(values, addServers),
  occupation: addOccupations,
  // Every process sees the same machine, so sums would count it several times.
  conditions: (values) => counters(values, () => greatest),
  counters: (values) => byKey(values, addCounters),
  pending: addCounters,
  outages: (values) => {
    const known = values.filter((one) => one !== null);
    return known.length === 0 ? null : mergeOutages(known.flat());
  },
  metrics: (values) => byKey(values, addMetrics),
  series: (values) => values.flat(),
  timeline: addTimelines,
  process: addCounters,
  warmup: addWarmups,
  agents: (values) => values.flat(),
  figures: () => null,
});

/** @returns {Segment} identity element: merging it changes nothing */
export function emptySegment() {
  return mergeAll([]);
}

/**
 * @param {readonly Segment[]} segments
 * @returns {Segment | null} the record of one process that ran all of them; null: none
 */
export function merge(segments) {
  return segments.length === 0 ? null : mergeAll(segments);
}

/** @param {readonly Segment[]} segments @returns {Segment} */
function mergeAll(segments) {
  const merged = Object.entries(RULES).map(([field, rule]) => [
    field,
    /** @type {any} */ (rule)(segments.map((one) => one[/** @type {keyof Segment} */ (field)])),
  ]);
  return Object.fromEntries(merged);
}

/**
 * Combines figures of segments that ran side by side: their throughputs are summed.
 * @param {readonly Segment[]} segments segments of one load at one time, each with figures
 * @returns {Figures}
 */
export function parallel(segments) {
  const all = segments.flatMap(({ figures }) => figures ?? []);
  const [first] = all;
  if (all.length === 1) return { ...first, latency: null };
  const perNs = sum(all.map(({ spanOperations, spanNs }) => spanOperations / spanNs));
  const spanNs = Math.max(...all.map((one) => one.spanNs));
  const known = all.map(({ latency }) => latency);
  const latency = known.includes(null) ? null : addHistograms(known);
  const medians = all.flatMap(({ medianNs }) => medianNs ?? []);
  return {
    spanNs,
    spanOperations: perNs * spanNs,
    medianNs: latency === null ? meanOf(medians) : Histogram.fromSparse(latency).percentile(0.5),
    valid: all.every(({ valid }) => valid),
    lateNs: Math.max(...all.map(({ lateNs }) => lateNs)),
    latency: null,
  };
}

/**
 * @param {readonly Interval[]} intervals disjoint, as merged
 * @returns {number} total nanoseconds
 */
export function lengthOf(intervals) {
  return intervals.reduce((all, [from, to]) => all + to - from, 0);
}

/**
 * @param {readonly (Segment | null)[]} segments
 * @returns {{ spanNs: number, operations: number }} figures of segments in which every operation
 *   was verified
 */
export function spanOfValid(segments) {
  const valid = segments.flatMap((one) => (one?.figures?.valid ? one.figures : []));
  return {
    spanNs: sum(valid.map(({ spanNs }) => spanNs)),
    operations: sum(valid.map(({ spanOperations }) => spanOperations)),
  };
}

/** @param {Pick<Segment, 'client'>} segment @returns {number | null} CPU time of its process */
export function clientCpuNs({ client }) {
  const { userNs = null, systemNs = null } = client ?? {};
  return userNs === null || systemNs === null ? null : userNs + systemNs;
}

/**
 * @param {Pick<Segment, 'metrics'> | null} segment
 * @returns {import('../lib/types.js').WorkloadMetrics}
 */
export function metricsOf(segment) {
  const all = Object.entries(segment?.metrics ?? {});
  return Object.fromEntries(all.map(([name, { value }]) => [name, value]));
}

/**
 * The segment of a contender that only counts correct replies.
 * @param {number} operations
 * @param {Interval} wall
 * @param {Omit<Figures, 'latency'>} figures
 * @returns {Segment}
 */
export function countedSegment(operations, [fromNs, toNs], figures) {
  const segment = emptySegment();
  segment.scheduled = operations;
  segment.outcomes[OK] = operations;
  segment.wall = [[Math.round(fromNs), Math.round(toNs)]];
  segment.figures = { ...figures, latency: null };
  return segment;
}

/** @param {readonly number[]} values */
function sum(values) {
  return values.reduce((all, value) => all + value, 0);
}

/** @param {readonly number[]} values */
function greatest(values) {
  return Math.max(...values);
}

/** @param {readonly number[]} values */
function meanOf(values) {
  return values.length === 0 ? null : sum(values) / values.length;
}

/**
 * @template T
 * @param {readonly (T | null)[]} values
 * @returns {T | null}
 */
function firstKnown(values) {
  return values.find((one) => one !== null) ?? null;
}

/**
 * @param {readonly (readonly Interval[])[]} lists
 * @returns {Interval[]} ascending; touching intervals are joined
 */
function union(lists) {
  /** @type {Interval[]} */
  const merged = [];
  for (const [from, to] of lists.flat().sort((a, b) => a[0] - b[0])) {
    const last = merged.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
    else merged.push([from, to]);
  }
  return merged;
}

/**
 * @template T
 * @param {readonly Readonly<Record<string, T>>[]} records
 * @param {(values: T[]) => T} rule
 * @returns {Record<string, T>} the keys of all, in order of first occurrence
 */
function byKey(records, rule) {
  /** @type {Map<string, T[]>} */
  const all = new Map();
  for (const record of records) {
    for (const [key, value] of Object.entries(record)) {
      all.set(key, [...(all.get(key) ?? []), value]);
    }
  }
  return Object.fromEntries([...all].map(([key, values]) => [key, rule(values)]));
}

/**
 * @param {readonly (Counters | null)[]} values
 * @param {(key: string) => (values: number[]) => number} ruleOf
 * @returns {any} null if none is known
 */
function counters(values, ruleOf) {
  const known = values.filter((one) => one !== null);
  if (known.length === 0) return null;
  /** @type {Map<string, number[]>} */
  const all = new Map();
  for (const one of known) {
    for (const [key, value] of Object.entries(one)) {
      const numbers = all.get(key) ?? [];
      all.set(key, numbers);
      if (value !== null) numbers.push(value);
    }
  }
  return Object.fromEntries(
    [...all].map(([key, numbers]) => [key, numbers.length === 0 ? null : ruleOf(key)(numbers)]),
  );
}

/** @param {readonly (Counters | null)[]} values @returns {any} */
function addCounters(values) {
  return counters(values, (key) => (GREATEST.has(key) ? greatest : sum));
}

/**
 * @param {readonly (HistogramMessage | null)[]} messages
 * @returns {HistogramMessage | null}
 */
function addHistograms(messages) {
  const known = messages.filter((message) => message !== null);
  if (known.length < 2) return known[0] ?? null;
  const merged = new Histogram();
  for (const message of known) merged.mergeSparse(message);
  return merged.toMessage();
}

/** @param {ServerUse[]} uses @returns {ServerUse} */
function addServers(uses) {
  const memory = uses.flatMap(({ rssBytes }) => rssBytes ?? []);
  return {
    cpu: union(uses.map(({ cpu }) => cpu)),
    rssBytes: memory.length === 0 ? null : greatest(memory),
    threads: byKey(
      uses.map(({ threads }) => threads),
      union,
    ),
  };
}

/** @param {readonly (Occupation | null)[]} values @returns {Occupation | null} */
function addOccupations(values) {
  const known = values.filter((one) => one !== null);
  if (known.length < 2) return known[0] ?? null;
  const add = (/** @type {(number | null)[]} */ numbers) =>
    numbers.reduce((all, one) => (all === null || one === null ? null : all + one), 0);
  const threads = Math.max(...known.map(({ server }) => server.length));
  return {
    wallNs: sum(known.map(({ wallNs }) => wallNs)),
    runNs: add(known.map(({ runNs }) => runNs)),
    waitNs: add(known.map(({ waitNs }) => waitNs)),
    server: Array.from({ length: threads }, (_, i) =>
      sum(known.map(({ server }) => server[i] ?? 0)),
    ),
  };
}

/** @type {Readonly<Record<MetricRule, (values: any[]) => any>>} */
const METRICS = Object.freeze({
  sum,
  max: greatest,
  min: (values) => Math.min(...values),
  one: (values) => values[0],
  list: (values) => values.flat(),
});

/** @param {Segment['metrics'][string][]} values @returns {Segment['metrics'][string]} */
function addMetrics(values) {
  const [{ rule }] = values;
  const known = values.flatMap(({ value }) => (value === null ? [] : [value]));
  return { rule, value: known.length === 0 ? null : METRICS[rule](known) };
}

/**
 * All began at the same moment, within about a millisecond; windows are joined in pairs when there
 * are too many, so their lengths differ by powers of two.
 * @param {readonly (Round['timeline'] | null)[]} values
 * @returns {Round['timeline'] | null}
 */
function addTimelines(values) {
  const known = values.filter((one) => one !== null);
  if (known.length < 2) return known[0] ?? null;
  const windowNs = greatest(known.map((one) => one.windowNs));
  /** @type {number[]} */
  const operations = [];
  for (const timeline of known) {
    const size = timeline.windowNs > 0 ? windowNs / timeline.windowNs : 1;
    for (const [i, count] of timeline.operations.entries()) {
      const at = Math.floor(i / size);
      operations[at] = (operations[at] ?? 0) + count;
    }
  }
  return { windowNs, operations: Array.from(operations, (count) => count ?? 0) };
}

/** @param {readonly (Round['warmup'] | null)[]} values @returns {Round['warmup'] | null} */
function addWarmups(values) {
  const known = values.filter((one) => one !== null);
  if (known.length === 0) return null;
  return {
    ...known[0],
    operations: sum(known.map(({ operations }) => operations)),
    durationNs: greatest(known.map(({ durationNs }) => durationNs)),
  };
}
