/**
 * What a round of slices gives, into the result: a round of each benchmark, which every report of
 * whole benchmarks reads, and the slices themselves in `result.comparison`.
 */

import { isOfLoad } from '../../lib/comparison.js';
import { labelOf } from '../../lib/label.js';
import { OK } from '../../lib/outcome.js';
import { roundedToStep } from '../../lib/packed-values.js';
import { processMeans } from '../../stats/blocks.js';
import { emptyRecord } from '../record.js';
import { toRound } from '../round.js';
import { groupOf } from './comparison.js';
import { roundOfParts } from './parts.js';

/** @typedef {import('../../lib/result.js').Result} Result */
/** @typedef {import('../../lib/result.js').Benchmark} Benchmark */
/** @typedef {import('../../lib/comparison.js').StoredComparison} StoredComparison */
/** @typedef {import('../../lib/comparison.js').StoredContender} StoredContender */
/** @typedef {import('../benchmarks.js').Job} Job */
/** @typedef {import('./race.js').SliceContext} SliceContext */
/** @typedef {import('./entrants.js').RoleEntrant} RoleEntrant */
/** @typedef {import('./round.js').ContenderRound} ContenderRound */
/** @typedef {import('./round.js').Slice} Slice */
/** @typedef {import('./comparison.js').Progress} Progress */

/**
 * @param {Progress} progress
 * @param {readonly Job[]} jobs
 * @param {SliceContext} context
 * @param {StoredComparison} stored
 */
export async function storeRound(progress, jobs, { result, onEvent, workload }, stored) {
  const { round, blocks, entrants, done, spentNs, sliceNs } = progress;
  delete stored.unfinished;
  stored.blocks.push(blocks);
  stored.sliceNs = sliceNs;
  stored.spentNs = spentNs;
  /** @type {{ benchmark: Benchmark, round: import('../../lib/result.js').Round }[]} */
  const ended = [];
  for (const [load, { contenders }] of stored.loads.entries()) {
    const means = meansOf(done, load);
    const beside = programMetrics(progress, load, means, workload?.program?.perSecond);
    for (const [i, entrant] of entrants.entries()) {
      const job = jobs.find((one) => isOf(one, entrant, stored.loads[load]));
      keepSlices(contenders, entrant, done[i], { load, round, id: job?.benchmark.id ?? null });
      if (job === undefined) continue;
      const position = load * entrants.length + i;
      const parts = partsOf(job, entrant, stored);
      if (parts.length > 0 && load < parts[parts.length - 1]) continue;
      const place = { round, position };
      const made =
        parts.length > 0
          ? await roundOfParts(done[i], parts, place, stored)
          : await roundOf(done[i], load, place, means[i]);
      const { benchmark } = job;
      if (beside !== undefined) made.metrics = { ...made.metrics, ...beside };
      benchmark.rounds.push(made);
      benchmark.state = made.state;
      benchmark.reason = made.failure?.message ?? null;
      ended.push({ benchmark, round: made });
    }
    keepOverhead(result, stored.loads[load]);
  }
  for (const [i, one] of ended.entries()) {
    const { benchmark } = one;
    onEvent?.({ type: 'benchmark-start', benchmark, round, rounds: round + 1 });
    onEvent?.({ type: 'benchmark-end', ...one, result, more: i < ended.length - 1 });
  }
  const resolves = progress.standings.map((one) => one?.resolves ?? null);
  onEvent?.({ type: 'round-end', round, spentNs, resolves });
}

/**
 * @param {Job} job
 * @param {RoleEntrant} entrant
 * @param {StoredComparison['loads'][number]} load
 */
function isOf({ benchmark }, { name, role }, load) {
  return (
    (role === 'storage' || role === 'overhead') &&
    // Versions of a driver share their storage, not their name.
    labelOf(benchmark) === name &&
    (load.workload ?? benchmark.workload) === benchmark.workload &&
    isOfLoad(load, benchmark)
  );
}

/**
 * @param {Job} job
 * @param {RoleEntrant} entrant
 * @param {StoredComparison} stored
 * @returns {number[]} indices of the loads of its parts; none where it has no parts
 */
function partsOf(job, entrant, { loads }) {
  return loads.flatMap((load, i) => (load.part && isOf(job, entrant, load) ? [i] : []));
}

/**
 * @param {ContenderRound[]} done
 * @param {number} load
 * @returns {number[]} log of ns per operation of each process, block state out
 */
function meansOf(done, load) {
  const logs = done.map(({ slices }) => [
    slices[load].map((slice) => (slice?.valid ? Math.log(timeNs(slice)) : null)),
  ]);
  return processMeans(logs).map(([mean]) => mean);
}

/**
 * What another program in these blocks says, for the rounds beside it: its speed without the state
 * of the blocks that it ran in, as theirs is.
 * @param {Progress} progress
 * @param {number} load
 * @param {readonly number[]} means log of ns per operation, by entrant
 * @param {string} [perSecond] name of the metric of its speed
 * @returns {import('../../lib/types.js').WorkloadMetrics | undefined}
 */
function programMetrics({ entrants, done }, load, means, perSecond) {
  const i = entrants.findIndex(({ role }) => role === 'program');
  if (i < 0 || perSecond === undefined || done[i].failure !== null) return undefined;
  const rate = Number.isFinite(means[i]) ? { [perSecond]: 1e9 / Math.exp(means[i]) } : {};
  return { ...done[i].series[load].metrics, ...rate };
}

/** @param {Slice} slice */
function timeNs({ spanNs, spanOperations }) {
  return spanNs / spanOperations;
}

/**
 * @param {StoredContender[]} contenders is added to
 * @param {RoleEntrant} entrant
 * @param {ContenderRound} done
 * @param {{ load: number, round: number, id: string | null }} context
 */
function keepSlices(contenders, { name, role, server, of, ceiling }, done, { load, round, id }) {
  let found = contenders.find((one) => one.name === name);
  if (found === undefined && round === 0) {
    const about = { name, group: groupOf({ role, server }), benchmark: id };
    found = { ...about, ...(of && { of }), ...(ceiling && { ceiling }), rounds: [] };
    contenders.push(found);
  }
  if (done.failure !== null || found === undefined) return;
  found.rounds.push({
    ...storedSlices(done.slices[load], { ofServer: server !== null }),
    ...(done.occupancy && { occupancy: occupancyFor(done.occupancy[load], server) }),
  });
}

/**
 * @param {readonly (Slice | null)[]} all of one contender under one load
 * @param {{ ofServer: boolean }} about ofServer: it has one
 * @returns {StoredContender['rounds'][number]} what a result keeps of them
 */
export function storedSlices(all, { ofServer }) {
  const slices = all.map((slice) => (slice?.valid ? slice : null));
  const of1 = (/** @type {(slice: Slice) => number | null} */ value) =>
    slices.map((slice) => {
      const number = slice === null ? null : value(slice);
      return roundedToStep(number);
    });
  return {
    operations: slices.reduce((sum, slice) => sum + (slice?.operations ?? 0), 0),
    timePs: of1((slice) => 1000 * timeNs(slice)),
    clientCpuPs: of1(({ cpuNs, operations }) => cpuNs && (1000 * cpuNs) / operations),
    serverCpuPs: of1(({ serverCpuNs, operations }) =>
      ofServer ? serverCpuNs && (1000 * serverCpuNs) / operations : null,
    ),
    medianNs: of1(({ medianNs }) => medianNs),
  };
}

/**
 * @param {{ client: number | null, server: number | null }} occupancy
 * @param {string | null} server null: there is none
 */
function occupancyFor({ client, server: busiest }, server) {
  const digits = (/** @type {number | null} */ x) => x && Math.round(x * 1e4) / 1e4;
  return { client: digits(client), server: server === null ? null : digits(busiest) };
}

/**
 * @param {Result} result
 * @param {StoredComparison['loads'][number]} load
 */
function keepOverhead(result, { kind, contenders }) {
  const one = contenders.find(({ group }) => group === 'overhead');
  const times = one?.rounds.flatMap(({ timePs }) => timePs.filter((time) => time !== null)) ?? [];
  if (one === undefined || times.length === 0) return;
  times.sort((a, b) => a - b);
  const nsPerOperation = times[times.length >> 1] / 1000;
  const entry = { load: kind, nsPerOperation, n: one.rounds.length };
  result.harnessOverhead = [...result.harnessOverhead.filter((x) => x.load !== kind), entry];
}

/**
 * @param {ContenderRound} done
 * @param {number} load
 * @param {{ round: number, position: number }} place
 * @param {number} mean log of ns per operation
 * @returns {Promise<import('../../lib/result.js').Round>}
 */
async function roundOf({ series, servers, others, agents, failure }, load, place, mean) {
  if (failure !== null) return toRound({ record: null, failure, processNs: null }, place);
  const { cpu, rssBytes = 0, compared, metrics, refused: _, ...one } = series[load];
  const further = Object.entries(others?.[load] ?? {});
  const record = {
    ...emptyRecord(),
    ...one,
    state: /** @type {const} */ ('measured'),
    ...(compared && { compared }),
    ...(metrics && { metrics }),
    ...(agents && { agents: agents[load] }),
    client:
      cpu === undefined
        ? null
        : {
            ...cpu,
            ...{ rssBytesBefore: rssBytes, rssBytesAfter: rssBytes, rssBytesMax: rssBytes },
            ...{ gcCount: null, gcNs: null },
          },
    server: servers?.[load] ? { cpuNs: servers[load].cpuNs, rssBytes: null } : null,
    ...(further.length > 0 && {
      others: Object.fromEntries(
        further.map(([name, { cpuNs }]) => [name, { cpuNs, rssBytes: null }]),
      ),
    }),
  };
  const round = await toRound({ record, failure: null, processNs: null }, place);
  const isKnown = Number.isFinite(mean) && one.outcomes[OK] > 0;
  return isKnown ? { ...round, throughput: 1e9 / Math.exp(mean) } : round;
}
