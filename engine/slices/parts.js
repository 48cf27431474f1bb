/**
 * The round of a benchmark whose parts are sliced each by itself, such as fetches of different
 * numbers of keys: their sums, and a series for each.
 */

import { OK, OUTCOMES } from '../../lib/outcome.js';
import { SAMPLES_MAX } from '../../load/recorder.js';
import { Histogram } from '../../measure/histogram.js';
import { emptyRecord } from '../record.js';
import { toLatency, toRound } from '../round.js';

/** @typedef {import('./round.js').ContenderRound} ContenderRound */
/** @typedef {import('./storage-contender.js').SeriesRecord} SeriesRecord */
/** @typedef {import('../../lib/result.js').SeriesResult} SeriesResult */

/**
 * @param {ContenderRound} done
 * @param {readonly number[]} parts indices of their loads
 * @param {{ round: number, position: number }} place
 * @param {import('../../lib/comparison.js').StoredComparison} stored
 * @returns {Promise<import('../../lib/result.js').Round>}
 */
export async function roundOfParts({ series, slices, servers, failure }, parts, place, stored) {
  if (failure !== null) return toRound({ record: null, failure, processNs: null }, place);
  const records = parts.map((load) => series[load]);
  const sum = (/** @type {(record: SeriesRecord) => number} */ of) =>
    records.reduce((all, record) => all + of(record), 0);
  const all = new Histogram();
  for (const { latency } of records) if (latency) all.mergeSparse(latency);
  const durationNs = sum((one) => one.durationNs);
  const rssBytes = Math.max(...records.map((one) => one.rssBytes ?? 0));
  const serverNs = parts.reduce((ns, load) => ns + (servers?.[load]?.cpuNs ?? 0), 0);
  const record = {
    ...emptyRecord(),
    state: /** @type {const} */ ('measured'),
    scheduled: sum((one) => one.scheduled),
    outcomes: OUTCOMES.map((_, code) => sum(({ outcomes }) => outcomes[code])),
    samples: records.flatMap(({ samples }) => samples).slice(0, SAMPLES_MAX),
    durationNs,
    inFlightMean: durationNs > 0 ? sum((one) => one.inFlightMean * one.durationNs) / durationNs : 0,
    latency: all.count === 0 ? null : all.toMessage(),
    compared: {
      replies: sum(({ compared }) => compared?.replies ?? 0),
      bytes: sum(({ compared }) => compared?.bytes ?? 0),
    },
    client: {
      userNs: sum(({ cpu }) => cpu?.userNs ?? 0),
      systemNs: sum(({ cpu }) => cpu?.systemNs ?? 0),
      ...{ rssBytesBefore: rssBytes, rssBytesAfter: rssBytes, rssBytesMax: rssBytes },
      ...{ gcCount: null, gcNs: null },
    },
    server: serverNs > 0 ? { cpuNs: serverNs, rssBytes: null } : null,
    series: await Promise.all(
      parts.map((load) => seriesOf(series[load], slices[load], stored.loads[load].part)),
    ),
  };
  return toRound({ record, failure: null, processNs: null }, place);
}

/**
 * @param {SeriesRecord} record
 * @param {ContenderRound['slices'][number]} slices
 * @param {import('../../lib/types.js').Part} [part]
 * @returns {Promise<SeriesResult>}
 */
async function seriesOf(record, slices, part) {
  const { scheduled, outcomes, latency: message, inFlightMean, inFlightSteady } = record;
  let [spanNs, operations] = [0, 0];
  for (const slice of slices) {
    if (!slice?.valid) continue;
    spanNs += slice.spanNs;
    operations += slice.spanOperations;
  }
  const latency = message === null ? null : await toLatency(Histogram.fromSparse(message));
  return {
    keys: part?.keys ?? null,
    warmup: part?.warmup ?? false,
    cycles: scheduled,
    ok: outcomes[OK],
    medianNs: latency?.p50Ns ?? null,
    p90Ns: latency?.p90Ns ?? null,
    p99Ns: latency?.p99Ns ?? null,
    minNs: latency?.minNs ?? null,
    maxNs: latency?.maxNs ?? null,
    durationNs: spanNs,
    throughput: spanNs > 0 ? (operations / spanNs) * 1e9 : 0,
    inFlightMean: inFlightSteady ?? inFlightMean,
    latenciesNs: null,
    ...(latency && { latency }),
  };
}
