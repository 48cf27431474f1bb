/**
 * One load shared by several processes, so that a single Node thread is not the limit: which part
 * is whose, and how their records become one. Pure; who starts them is executor.js.
 *
 * Process p of N issues the operations p, p + N, p + 2N …: together exactly those of one process,
 * with the same keys. Times are put together by the system's monotonic clock, which all processes
 * of a machine read alike (CLOCK_MONOTONIC, clock_gettime(2)).
 */

import { SAMPLES_MAX } from '../load/recorder.js';
import { Histogram } from '../measure/histogram.js';
import { mergeOutages } from './outages.js';
import { addRedirects } from './redirects.js';

/** @typedef {import('../lib/result.js').Load} Load */
/** @typedef {import('./benchmark.js').BenchmarkSpec} BenchmarkSpec */
/** @typedef {import('./record.js').BenchmarkRecord} BenchmarkRecord */
/** @typedef {{ index: number, count: number }} Share process `index` of `count` */

/**
 * @param {BenchmarkSpec} spec
 * @returns {BenchmarkSpec[]} one for each process
 */
export function shareSpec(spec) {
  const count = spec.load.processes ?? 1;
  return Array.from({ length: count }, (_, index) => ({ ...spec, share: { index, count } }));
}

/**
 * @template T
 * @param {T} whole
 * @param {Share} share
 * @returns {number | T} its part; parts differ by one at most
 */
function partOf(whole, { index, count }) {
  if (typeof whole !== 'number') return whole;
  return Math.floor(whole / count) + (index < whole % count ? 1 : 0);
}

/**
 * The load of one process. One in flight stays one: then there are as many in flight as processes.
 * @param {Load} load of all
 * @param {Share} share
 * @returns {Load}
 */
export function shareLoad(load, share) {
  const { kind, inFlight, operations, maxInFlight } = load;
  return {
    ...load,
    operations: partOf(operations, share),
    inFlight: kind === 'sync' ? inFlight : partOf(inFlight, share),
    ...(maxInFlight !== undefined && { maxInFlight: Math.max(1, partOf(maxInFlight, share)) }),
  };
}

/**
 * @param {import('../lib/types.js').BoundWorkload} bound
 * @param {Share} share
 * @returns {import('../lib/types.js').BoundWorkload} its operation i is that of all, i · N + p
 */
export function shareWorkload({ op, verify, kinds, ...rest }, { index: p, count: n }) {
  return {
    ...rest,
    op: (index, done) => op(index * n + p, done),
    verify: (index, reply, whole) => verify(index * n + p, reply, whole),
    ...(kinds && { kinds: { names: kinds.names, of: (i) => kinds.of(i * n + p) } }),
  };
}

/**
 * @param {readonly BenchmarkRecord[]} records of all processes of one benchmark, by their index
 * @returns {BenchmarkRecord} as if one process had done it: from the first start to the last end
 */
export function mergeRecords(records) {
  const [first] = records;
  const failed = records.find(({ state }) => state === 'failed');
  const sum = (/** @type {(record: BenchmarkRecord) => number} */ of) =>
    records.reduce((total, record) => total + of(record), 0);
  const startedNs = leastOf(records.map((record) => record.startedNs));
  const endedNs = greatestOf(records.map((record) => record.endedNs));
  const durationNs = startedNs === null || endedNs === null ? 0 : endedNs - startedNs;
  return {
    ...first,
    state: failed?.state ?? (records.find(({ state }) => state === 'aborted') ?? first).state,
    failure: (failed ?? records.find(({ failure }) => failure !== null) ?? first).failure,
    createdNs: greatestOf(records.map((record) => record.createdNs)),
    scheduled: sum(({ scheduled }) => scheduled),
    outcomes: first.outcomes.map((_, code) => sum(({ outcomes }) => outcomes[code])),
    samples: mergeSamples(records),
    ...{ startedNs, endedNs, durationNs },
    inFlightMean: durationNs > 0 ? sum((one) => one.inFlightMean * one.durationNs) / durationNs : 0,
    conditions: mergeConditions(records),
    latency: mergeLatencies(records.map(({ latency }) => latency)),
    ...(first.seconds && { seconds: mergeSeconds(records) }),
    open: mergeOpen(records),
    kinds: mergeKinds(records),
    client: mergeClients(records),
    ...(first.compared && { compared: mergeCompared(records) }),
    ...(first.outages && {
      outages: mergeOutages(records.flatMap(({ outages }) => outages ?? [])),
    }),
    ...mergeServers(records),
    ...(first.poolWait !== undefined && {
      poolWait: mergeLatencies(records.map(({ poolWait = null }) => poolWait)),
    }),
    ...(first.redirects && { redirects: addRedirects(records.map(({ redirects }) => redirects)) }),
    pendingBytes:
      first.pendingBytes === null
        ? null
        : sum(({ pendingBytes }) => pendingBytes ?? 0) / records.length,
    warmup: {
      ...first.warmup,
      operations: sum(({ warmup }) => warmup.operations),
      durationNs: greatestOf(records.map(({ warmup }) => warmup.durationNs)) ?? 0,
    },
    timeline: mergeTimelines(records.map(({ timeline }) => timeline)),
    workNs: greatestOf(records.map(({ workNs }) => workNs)),
  };
}

/** @param {readonly (number | null)[]} values */
function greatestOf(values) {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.max(...known);
}

/** @param {readonly (number | null)[]} values */
function leastOf(values) {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.min(...known);
}

/**
 * @param {readonly BenchmarkRecord[]} records
 * @returns {BenchmarkRecord['samples']} with the operation's index among all
 */
function mergeSamples(records) {
  return records
    .flatMap(({ samples }, p) =>
      samples.map((sample) => ({ ...sample, operation: sample.operation * records.length + p })),
    )
    .sort((a, b) => a.operation - b.operation)
    .slice(0, SAMPLES_MAX);
}

/**
 * @param {readonly (import('./record.js').HistogramMessage | null)[]} messages
 * @returns {import('./record.js').HistogramMessage | null}
 */
function mergeLatencies(messages) {
  const known = messages.filter((message) => message !== null);
  if (known.length === 0) return null;
  const merged = new Histogram();
  for (const message of known) merged.mergeSparse(message);
  return merged.toMessage();
}

/**
 * @param {readonly BenchmarkRecord[]} records
 * @returns {import('./record.js').HistogramMessage[]} second by second
 */
function mergeSeconds(records) {
  const count = Math.max(...records.map(({ seconds }) => seconds?.length ?? 0));
  return Array.from({ length: count }, (_, i) => {
    const all = mergeLatencies(records.map(({ seconds }) => seconds?.[i] ?? null));
    return all ?? new Histogram().toMessage();
  });
}

/**
 * Each process sees the same machine: sums would count it several times.
 * @param {readonly BenchmarkRecord[]} records
 * @returns {BenchmarkRecord['conditions']}
 */
function mergeConditions(records) {
  const all = records.flatMap(({ conditions }) => conditions ?? []);
  if (all.length === 0) return null;
  return {
    canaryNs: greatestOf(all.map(({ canaryNs }) => canaryNs)),
    stealShare: greatestOf(all.map(({ stealShare }) => stealShare)),
    busyShare: greatestOf(all.map(({ busyShare }) => busyShare)),
    throttledCount: greatestOf(all.map(({ throttledCount }) => throttledCount)),
    throttledNs: greatestOf(all.map(({ throttledNs }) => throttledNs)),
    loadAverage: greatestOf(all.map(({ loadAverage }) => loadAverage)),
  };
}

/**
 * @param {readonly BenchmarkRecord[]} records
 * @returns {BenchmarkRecord['open']}
 */
function mergeOpen(records) {
  const all = records.flatMap(({ open }) => open ?? []);
  if (all.length === 0) return null;
  const sum = (/** @type {'offered' | 'sent' | 'completed' | 'dropped' | 'late'} */ field) =>
    all.reduce((total, open) => total + open[field], 0);
  return {
    offered: sum('offered'),
    sent: sum('sent'),
    completed: sum('completed'),
    dropped: sum('dropped'),
    late: sum('late'),
    lateNsMax: Math.max(...all.map(({ lateNsMax }) => lateNsMax)),
    service: mergeLatencies(all.map(({ service }) => service)),
  };
}

/**
 * @param {readonly BenchmarkRecord[]} records
 * @returns {BenchmarkRecord['kinds']}
 */
function mergeKinds(records) {
  const all = records.flatMap(({ kinds }) => (kinds === null ? [] : [kinds]));
  if (all.length === 0) return null;
  return all[0].map(({ name }, i) => ({
    name,
    latency: mergeLatencies(all.map((kinds) => kinds[i].latency)),
  }));
}

/**
 * @param {readonly BenchmarkRecord[]} records
 * @returns {BenchmarkRecord['client']} sums; null where one is not known
 */
function mergeClients(records) {
  const all = records.flatMap(({ client }) => client ?? []);
  if (all.length < records.length) return null;
  const [{ collections: _own, ...total }, ...others] = all;
  for (const client of others) {
    for (const name of /** @type {(keyof typeof total)[]} */ (Object.keys(total))) {
      total[name] = Number(total[name]) + Number(client[name]);
    }
  }
  return total;
}

/**
 * Each process has read the same counters of the server: from the first reading to the last.
 * @param {readonly BenchmarkRecord[]} records
 * @returns {Pick<BenchmarkRecord, 'server' | 'serverSpanNs'>}
 */
function mergeServers(records) {
  const spans = records.flatMap(({ serverSpanNs }) => (serverSpanNs ? [serverSpanNs] : []));
  const servers = records.flatMap(({ server }) => server ?? []);
  if (spans.length < records.length || servers.length < records.length) {
    return { server: null, serverSpanNs: null };
  }
  const from = Math.min(...spans.map(([before]) => before));
  const to = Math.max(...spans.map(([, after]) => after));
  return {
    server: {
      cpuNs: to - from,
      rssBytes: greatestOf(servers.map(({ rssBytes }) => rssBytes)),
      threadNsMax: greatestOf(servers.map(({ threadNsMax }) => threadNsMax ?? null)),
    },
    serverSpanNs: [from, to],
  };
}

/**
 * All have begun at the same moment, within a millisecond or so; windows are joined in pairs as
 * they get too many, so that they differ by powers of two.
 * @param {readonly BenchmarkRecord['timeline'][]} timelines
 * @returns {BenchmarkRecord['timeline']}
 */
function mergeTimelines(timelines) {
  const windowNs = Math.max(...timelines.map((timeline) => timeline.windowNs));
  /** @type {number[]} */
  const operations = [];
  for (const timeline of timelines) {
    const size = timeline.windowNs > 0 ? windowNs / timeline.windowNs : 1;
    for (const [i, count] of timeline.operations.entries()) {
      const at = Math.floor(i / size);
      operations[at] = (operations[at] ?? 0) + count;
    }
  }
  return { windowNs, operations: Array.from(operations, (count) => count ?? 0) };
}

/**
 * @param {readonly { compared?: import('../lib/types.js').Compared }[]} records one or more
 * @returns {import('../lib/types.js').Compared} of all; stale where the first one counts it
 */
export function mergeCompared(records) {
  const sum = (/** @type {'replies' | 'bytes' | 'stale'} */ name) =>
    records.reduce((all, { compared }) => all + (compared?.[name] ?? 0), 0);
  const counted = records[0].compared?.stale !== undefined;
  return { replies: sum('replies'), bytes: sum('bytes'), ...(counted && { stale: sum('stale') }) };
}
