/**
 * From what a contender has measured in a round to the round of a result: percentiles, throughput,
 * counters by name.
 */

import { OK, OUTCOMES } from '../lib/outcome.js';
import { encode } from '../measure/hdr.js';
import { BRIEF, Histogram } from '../measure/histogram.js';
import { emptySegment, lengthOf, metricsOf } from './segment.js';

/** @typedef {import('../lib/result.js').Round} Round */
/** @typedef {import('./segment.js').Segment} Segment */
/** @typedef {import('./segment.js').HistogramMessage} HistogramMessage */

/**
 * @typedef {object} Place
 * @property {number} round
 * @property {number} position
 * @property {number | null} [processNs] wall time of its processes; null: they had other loads, too
 * @property {import('./segment.js').Failure | null} [failure] why it has no figure
 * @property {number} [throughput] of segments with the state of their blocks out; absent:
 *   operations over wall time
 */

/**
 * @param {Segment | null} measured merged; null: nothing was
 * @param {Place} place
 * @returns {Promise<Round>}
 */
export async function toRound(measured, place) {
  const { round, position, processNs = null, failure = null } = place;
  const segment = measured ?? emptySegment();
  const { outcomes, histograms, process } = segment;
  const durationNs = lengthOf(segment.wall);
  const steadyNs = lengthOf(segment.steady);
  const ok = outcomes[OK];
  const isFailed = failure !== null || segment.state === 'failed';
  const isStopped = failure?.code === 'E_ABORTED' || segment.state === 'aborted';
  const { server, others } = serversOf(segment);
  const metrics = metricsOf(segment);
  const seconds = Object.entries(histograms).filter(([name]) => name.startsWith('second '));
  return {
    round,
    position,
    // Stopped by us is not a fault of the storage.
    state: isStopped ? 'aborted' : isFailed ? 'failed' : 'measured',
    failure: failure ?? segment.failure,
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
    ...(segment.occupation && { occupancy: occupancyOf(segment.occupation) }),
    pendingBytes:
      segment.pending && Number(segment.pending['bytes']) / Number(segment.pending['operations']),
    warmup: segment.warmup ?? { operations: 0, durationNs: 0, curve: [], windowNs: 0 },
    timeline: segment.timeline ?? { windowNs: 0, operations: [] },
    processNs,
    workNs: processNs === null ? null : (process?.['workNs'] ?? null),
  };
}

/** @param {Segment} segment @returns {Round['client']} */
function clientOf({ client, process, collections }) {
  if (client === null) return null;
  const rssBytesMax = process?.['rssBytesMax'] ?? 0;
  return {
    rssBytesBefore: rssBytesMax,
    rssBytesAfter: rssBytesMax,
    gcCount: null,
    gcNs: null,
    .../** @type {any} */ (client),
    rssBytesMax,
    // Of brief segments they are not observed.
    ...(client['gcCount'] !== undefined && { collections }),
  };
}

/** @param {Segment} segment @returns {Pick<Round, 'server' | 'others'>} */
function serversOf({ servers }) {
  const all = Object.entries(servers).map(([name, { cpu, rssBytes, threads }]) => {
    const times = Object.values(threads).map(lengthOf);
    const busiest = times.length > 0 && { threadNsMax: Math.max(...times) };
    return /** @type {const} */ ([name, { cpuNs: lengthOf(cpu), rssBytes, ...busiest }]);
  });
  const own = all.find(([name]) => name === '');
  const others = all.filter(([name]) => name !== '');
  return {
    server: own?.[1] ?? null,
    ...(others.length > 0 && { others: Object.fromEntries(others) }),
  };
}

/**
 * @param {import('./segment.js').Occupation} occupation
 * @returns {{ client: number | null, server: number | null }} run time as a share of the time in
 *   which a thread could have run: of the client's main thread, of the server's busiest one
 */
export function occupancyOf({ wallNs, runNs, waitNs, server }) {
  const share = (/** @type {number | null} */ run, /** @type {number | null} */ wait) => {
    if (run === null || wait === null || wallNs - wait <= 0) return null;
    return Math.round(Math.min(1, run / (wallNs - wait)) * 1e4) / 1e4;
  };
  let busiest = null;
  for (let i = 0; i < server.length; i += 2) {
    const own = share(server[i], server[i + 1]);
    if (own !== null && (busiest === null || own > busiest)) busiest = own;
  }
  return { client: share(runNs, waitNs), server: busiest };
}

/** Histograms that a round has by another name than its own. */
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
