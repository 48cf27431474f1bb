/**
 * Converts the measurements of a contender in a round into the round of a result: percentiles,
 * throughput, counters by name.
 */

import { OK, OUTCOMES } from '../lib/outcome.js';
import { encode } from '../measure/hdr.js';
import { BRIEF, Histogram } from '../measure/histogram.js';
import { emptySegment, lengthOf, metricsOf } from './segment.js';
import { unservedOf } from './unserved.js';

/** @typedef {import('../lib/result.js').Round} Round */
/** @typedef {import('./segment.js').Segment} Segment */
/** @typedef {import('./segment.js').HistogramMessage} HistogramMessage */

/** @typedef {Pick<import('../lib/comparison.js').StoredLoad['placement'], 'kind' | 'client'>} Placed */

/**
 * @typedef {object} Place
 * @property {number} round
 * @property {number} position
 * @property {number | null} [processNs] wall time of its processes; null: they had other loads, too
 * @property {import('./segment.js').Failure | null} [failure] reason why it has no figure
 * @property {Placed} [placement] processors of client and server
 * @property {number} [throughput] throughput of segments in blocks, without their ramps and drains;
 *   absent: operations over wall time
 */

/**
 * @param {Segment | null} measured merged segment; null: nothing was measured
 * @param {Place} place
 * @returns {Promise<Round>}
 */
export async function toRound(measured, place) {
  const { round, position, processNs = null } = place;
  const segment = measured ?? emptySegment();
  const failure = place.failure ?? segment.failure ?? unservedOf(segment);
  const { outcomes, histograms, process } = segment;
  const durationNs = lengthOf(segment.wall);
  const steadyNs = lengthOf(segment.steady);
  const ok = outcomes[OK];
  const isFailed = failure !== null || segment.state === 'failed';
  // The measurements of a process that has died include a running segment.
  const isUnderWay = segment.state === 'aborted' && place.failure == null;
  const isStopped = failure?.code === 'E_ABORTED' || isUnderWay;
  const { server, others } = serversOf(segment);
  const metrics = metricsOf(segment);
  const seconds = Object.entries(histograms).filter(([name]) => name.startsWith('second '));
  return {
    round,
    position,
    // An abort by Dragstrip is not a fault of the storage.
    state: isStopped ? 'aborted' : isFailed ? 'failed' : 'measured',
    failure,
    createdNs: process?.['createdNs'] ?? null,
    scheduled: segment.scheduled,
    outcomes: /** @type {Round['outcomes']} */ (
      Object.fromEntries(OUTCOMES.map((name, code) => [name, outcomes[code]]))
    ),
    samples: segment.samples,
    durationNs,
    throughput: place.throughput ?? (durationNs > 0 ? (ok / durationNs) * 1e9 : 0),
    inFlightMean: durationNs > 0 ? segment.inFlightAreaNs / durationNs : 0,
    ...(steadyNs > 0 && { inFlightSteady: segment.steadyAreaNs / steadyNs }),
    ...(segment.conditions && { conditions: /** @type {any} */ (segment.conditions) }),
    ...Object.fromEntries(Object.entries(segment.counters).filter(([, own]) => own !== null)),
    ...(await furtherOf(histograms)),
    ...(segment.outages && { outages: segment.outages }),
    latency: await latencyOf(histograms['latency'] ?? null),
    ...(segment.open && {
      open: /** @type {any} */ ({
        ...segment.open,
        service: await latencyOf(histograms['service'] ?? null),
      }),
    }),
    ...(segment.agents.length > 0 && {
      ...(seconds.length > 0 && { seconds: seconds.map(([, message]) => toSecond(message)) }),
      agents: segment.agents,
    }),
    ...(await kindsOf(histograms)),
    ...(segment.series.length > 0 && { series: segment.series }),
    client: clientOf(segment),
    server,
    ...(others && { others }),
    ...(Object.keys(metrics).length > 0 && { metrics }),
    ...(segment.occupation && { occupancy: occupancyOf(segment.occupation, place.placement) }),
    pendingBytes:
      segment.pending && Number(segment.pending['bytes']) / Number(segment.pending['operations']),
    warmup: segment.warmup ?? { operations: 0, durationNs: 0, curve: [], windowNs: 0 },
    timeline: segment.timeline ?? { windowNs: 0, operations: [] },
    processNs,
    workNs: processNs === null ? null : (process?.['workNs'] ?? null),
  };
}

/** @param {Segment} segment @returns {Round['client']} */
function clientOf({ client, process, collections, timeline }) {
  if (client === null) return null;
  const { rssBytesMax = 0, keptBytes, keptOperations } = /** @type {any} */ (process ?? {});
  return {
    rssBytesBefore: rssBytesMax,
    rssBytesAfter: rssBytesMax,
    gcCount: null,
    gcNs: null,
    .../** @type {any} */ (transfersOf(client)),
    rssBytesMax,
    ...(keptOperations !== undefined && { keptBytes, keptOperations }),
    // Latencies of brief segments are not kept individually, so these have no timeline.
    ...(client['gcCount'] !== undefined && timeline !== null && { collections }),
  };
}

/**
 * Its reads and writes, which are its total I/O only if the bytes read are at least those of the
 * replies: other system calls (recv, recvmsg), io_uring and mapped files are not counted.
 * @param {import('./segment.js').Counters} client
 * @returns {import('./segment.js').Counters}
 */
function transfersOf({ replyBytes, ...client }) {
  const { readBytes } = client;
  if (readBytes === undefined || (replyBytes && Number(readBytes) >= replyBytes)) return client;
  return { ...client, reads: null, writes: null, readBytes: null, writtenBytes: null };
}

/** @param {Segment} segment @returns {Pick<Round, 'server' | 'others'>} */
function serversOf({ servers }) {
  const all = Object.entries(servers).map(([name, { cpu, rssBytes, threads }]) => {
    const times = Object.values(threads).map(lengthOf);
    const busiest = times.length > 0 && { threadNsMax: Math.max(...times) };
    return /** @type {const} */ ([name, { cpuNs: lengthOf(cpu), rssBytes, ...busiest }]);
  });
  const server = all.find(([name]) => name === '');
  const others = all.filter(([name]) => name !== '');
  return {
    server: server?.[1] ?? null,
    ...(others.length > 0 && { others: Object.fromEntries(others) }),
  };
}

/**
 * @param {import('./segment.js').Occupation} occupation
 * @param {Placed} [placement] absent: client and server may share a processor
 * @returns {{ client: number | null, server: number | null, waiting: number | null }} run time as a
 *   share of the time in which a thread could have run: of the client's main thread, of the
 *   server's busiest one; waiting: share of the wall time in which the client waited for a
 *   processor that its server did not use
 */
export function occupancyOf({ wallNs, runNs, waitNs, server }, placement) {
  const share = (/** @type {number | null} */ run, /** @type {number | null} */ wait) => {
    if (run === null || wait === null || wallNs - wait <= 0) return null;
    return Math.round(Math.min(1, run / (wallNs - wait)) * 1e4) / 1e4;
  };
  let busiest = null;
  let serverRunNs = 0;
  for (let i = 0; i < server.length; i += 2) {
    const own = share(server[i], server[i + 1]);
    if (own !== null && (busiest === null || own > busiest)) busiest = own;
    serverRunNs += server[i];
  }
  // On one processor the client waits while its server runs, on two only for other processes.
  const isApart =
    placement?.kind === 'two-cpus' || (placement?.kind === 'pinned' && placement.client.length > 0);
  const othersNs = Math.max(0, (waitNs ?? Number.NaN) - (isApart ? 0 : serverRunNs));
  const waiting = wallNs > 0 ? Math.round(Math.min(1, othersNs / wallNs) * 1e4) / 1e4 : Number.NaN;
  return {
    client: share(runNs, waitNs),
    server: busiest,
    waiting: Number.isNaN(waiting) ? null : waiting,
  };
}

/** Histograms with a different name in a round. */
const PLACED = /^(latency|service|kind .*|second .*)$/;

/** @param {Segment['histograms']} histograms @returns {Promise<Pick<Round, 'poolWait'>>} */
async function furtherOf(histograms) {
  const further = Object.entries(histograms).filter(([name]) => !PLACED.test(name));
  const stored = further.map(async ([name, message]) => [name, await latencyOf(message)]);
  return Object.fromEntries(await Promise.all(stored));
}

/** @param {Segment['histograms']} histograms @returns {Promise<Pick<Round, 'kinds'>>} */
async function kindsOf(histograms) {
  const kinds = Object.entries(histograms).filter(([name]) => name.startsWith('kind '));
  if (kinds.length === 0) return {};
  return {
    kinds: await Promise.all(
      kinds.map(async ([name, message]) => ({
        name: name.slice('kind '.length),
        ok: message?.count ?? 0,
        latency: await latencyOf(message),
      })),
    ),
  };
}

/** @param {HistogramMessage | null} message */
function toSecond(message) {
  const histogram = message === null ? new Histogram() : Histogram.fromSparse(message);
  return { ok: histogram.count, ...histogram.percentiles(BRIEF), maxNs: histogram.max };
}

/**
 * @param {HistogramMessage | null} message
 * @returns {Promise<import('../lib/result.js').Latency | null>}
 */
export async function latencyOf(message) {
  if (message === null) return null;
  const histogram = Histogram.fromSparse(message);
  return {
    count: histogram.count,
    minNs: histogram.min,
    maxNs: histogram.max,
    meanNs: histogram.sum / histogram.count,
    ...histogram.percentiles(),
    histogram: await encode(histogram),
  };
}
