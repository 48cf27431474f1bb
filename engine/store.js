/**
 * Stores a round in the result: a round of each benchmark, and for segments in blocks the
 * values of each block in `result.comparison`.
 */

import { OK } from '../lib/outcome.js';
import { roundedToStep } from '../lib/packed-values.js';
import { processMeans } from '../stats/blocks.js';
import { groupOf } from './roles.js';
import { clientCpuNs, lengthOf, metricsOf, spanOfValid } from './segment.js';
import { latencyOf, occupancyOf, toRound } from './to-round.js';

/** @typedef {import('../lib/result.js').Result} Result */
/** @typedef {import('../lib/comparison.js').StoredComparison} StoredComparison */
/** @typedef {import('../lib/comparison.js').StoredContender} StoredContender */
/** @typedef {import('./benchmarks.js').Job} Job */
/** @typedef {import('./roles.js').Contender} Contender */
/** @typedef {import('./roles.js').RunLoad} RunLoad */
/** @typedef {import('./seat.js').Seat} Seat */
/** @typedef {import('./segment.js').Segment} Segment */

/** @typedef {import('./end-round.js').Ended} Ended */

/**
 * @typedef {object} PlayedRound a round of segments in blocks
 * @property {number} round
 * @property {readonly RunLoad[]} loads
 * @property {readonly Contender[]} contenders
 * @property {readonly Seat[]} seats seats of these contenders
 */

/**
 * @param {PlayedRound} played
 * @param {readonly Job[]} jobs
 * @param {StoredComparison} stored receives the values of each block
 * @param {string | undefined} programMetric name of the metric that is the speed of a program
 * @returns {Promise<Ended[]>} by load and contender
 */
export async function storeBlocks(played, jobs, stored, programMetric) {
  const { round, loads, contenders, seats } = played;
  /** @type {Ended[]} */
  const ended = [];
  for (const [load, runLoad] of loads.entries()) {
    const means = meansOf(seats, load);
    const walls = seats.flatMap(({ segments }) => segments[load].flatMap((one) => one?.wall ?? []));
    stored.loads[load].measuredNs = (stored.loads[load].measuredNs ?? 0) + lengthOf(walls);
    const beside = programMetrics(played, load, means, programMetric);
    for (const [i, contender] of contenders.entries()) {
      const job = jobs.find((one) => isOf(one, contender, runLoad));
      const id = job?.benchmark.id ?? null;
      keepSegments(stored.loads[load], contender, seats[i], { load, round, id });
      if (job === undefined) continue;
      const row = loads.flatMap((one, k) => (one.id === runLoad.id ? [k] : []));
      if (load < row[row.length - 1]) continue;
      const made = await roundOf(seats[i], row, played, {
        position: load * contenders.length + i,
        placement: stored.loads[load].placement,
        mean: row.length === 1 ? means[i] : Number.NaN,
      });
      if (beside !== undefined) made.metrics = { ...made.metrics, ...beside };
      ended.push({ job, round: made, segment: seats[i].merged(row) });
    }
  }
  return ended;
}

/**
 * @param {Job} job
 * @param {Contender} contender
 * @param {RunLoad} load
 */
function isOf({ label, load }, { name, role }, { id }) {
  // Versions of a driver share their storage but not their name.
  return (role === 'storage' || role === 'overhead') && label === name && load.id === id;
}

/**
 * @param {Seat} seat
 * @param {readonly number[]} row indices of the loads of one benchmark
 * @param {PlayedRound} played
 * @param {Pick<import('./to-round.js').Place, 'position' | 'placement'> & { mean: number }} context
 *   mean: log of ns per operation
 */
async function roundOf(seat, row, { round, loads }, { mean, ...place }) {
  const failure = seat.failure;
  const merged = failure === null ? seat.merged(row) : null;
  const isKnown = Number.isFinite(mean) && (merged?.outcomes[OK] ?? 0) > 0;
  const made = await toRound(merged, {
    round,
    ...place,
    failure,
    ...(isKnown && { throughput: 1e9 / Math.exp(mean) }),
  });
  if (loads[row[0]].part === undefined || failure !== null) return made;
  const series = await Promise.all(row.map((load) => seriesOf(seat, load, loads[load].part)));
  return { ...made, series };
}

/**
 * @param {Seat} seat
 * @param {number} load
 * @param {import('../lib/types.js').Part} [part]
 * @returns {Promise<import('../lib/result.js').SeriesResult>} part of a row
 */
async function seriesOf(seat, load, part) {
  const merged = seat.merged([load]);
  const all = await toRound(merged, { round: 0, position: 0 });
  const { spanNs, operations } = spanOfValid(seat.segments[load]);
  const latency = await latencyOf(merged?.histograms['latency'] ?? null);
  return {
    keys: part?.keys ?? null,
    warmup: part?.warmup ?? false,
    cycles: all.scheduled,
    ok: all.outcomes.ok,
    medianNs: latency?.p50Ns ?? null,
    p90Ns: latency?.p90Ns ?? null,
    p99Ns: latency?.p99Ns ?? null,
    minNs: latency?.minNs ?? null,
    maxNs: latency?.maxNs ?? null,
    durationNs: spanNs,
    throughput: spanNs > 0 ? (operations / spanNs) * 1e9 : 0,
    inFlightMean: all.inFlightSteady ?? all.inFlightMean,
    latenciesNs: null,
    ...(latency && { latency }),
  };
}

/**
 * @param {readonly Seat[]} seats
 * @param {number} load
 * @returns {number[]} log of ns per operation per process
 */
function meansOf(seats, load) {
  const logs = seats.map(({ segments }) => [
    segments[load].map((one) => (one?.figures?.valid ? Math.log(timeNs(one)) : null)),
  ]);
  return processMeans(logs, { figure: 'mean' }).map(([mean]) => mean);
}

/** @param {Segment} segment segment with figures @returns {number} ns per operation */
function timeNs({ figures }) {
  return Number(figures?.spanNs) / Number(figures?.spanOperations);
}

/**
 * Figures that another program reported in these blocks; its speed is a mean over these blocks,
 * like the speed of the rounds.
 * @param {PlayedRound} played
 * @param {number} load
 * @param {readonly number[]} means log of ns per operation, by contender
 * @param {string} [perSecond] name of the metric of its speed
 * @returns {import('../lib/types.js').WorkloadMetrics | undefined}
 */
function programMetrics({ contenders, seats }, load, means, perSecond) {
  const i = contenders.findIndex(({ role }) => role === 'program');
  if (i < 0 || perSecond === undefined || seats[i].failure !== null) return undefined;
  const rate = Number.isFinite(means[i]) ? { [perSecond]: 1e9 / Math.exp(means[i]) } : {};
  return { ...metricsOf(seats[i].merged([load])), ...rate };
}

/**
 * @param {StoredComparison['loads'][number]} stored contenders are added to it
 * @param {Contender} contender
 * @param {Seat} seat
 * @param {{ load: number, round: number, id: string | null }} context
 */
function keepSegments(stored, contender, seat, { load, round, id }) {
  const { name, role, server, of, ceiling, spec } = contender;
  let kept = stored.contenders.find((one) => one.name === name);
  if (kept === undefined && round === 0) {
    kept = {
      name,
      group: groupOf({ role, server }),
      benchmark: id,
      ...(of && { of }),
      ...(ceiling && { ceiling }),
      rounds: [],
    };
    stored.contenders.push(kept);
  }
  if (seat.failure !== null || kept === undefined) return;
  const merged = seat.merged([load]);
  const occupancy = merged?.occupation ? occupancyOf(merged.occupation, stored.placement) : null;
  kept.rounds.push({
    ...storedValues(seat.segments[load], server !== null),
    ...(stored.garbage && spec.opener === 'storage' && { charged: seat.charged[load] }),
    ...(occupancy && { occupancy: { ...occupancy, ...(server === null && { server: null }) } }),
  });
}

/**
 * @param {readonly (Segment | null)[]} segments segments of one contender and load, by block
 * @param {boolean} isOfServer whether the contender has a server
 * @returns {StoredContender['rounds'][number]} the part that results store
 */
function storedValues(segments, isOfServer) {
  const valid = segments.map((one) => (one?.figures?.valid ? one : null));
  const each = (/** @type {(segment: Segment) => number | null} */ value) =>
    valid.map((one) => roundedToStep(one === null ? null : value(one)));
  const perOperation = (/** @type {number | null} */ ns, /** @type {Segment} */ { scheduled }) =>
    ns === null ? null : (1000 * ns) / scheduled;
  return {
    operations: valid.reduce((sum, one) => sum + (one?.scheduled ?? 0), 0),
    timePs: each((one) => 1000 * timeNs(one)),
    clientCpuPs: each((one) => perOperation(clientCpuNs(one), one)),
    serverCpuPs: each((one) =>
      isOfServer && one.servers['']
        ? perOperation(lengthOf(one.servers[''].cpu) || null, one)
        : null,
    ),
    medianNs: each(({ figures }) => figures?.medianNs ?? null),
  };
}
