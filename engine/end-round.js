/**
 * The end of a round of a benchmark, into the result, whatever its schedule; and the round under
 * way, as far as it came.
 */

import { failBenchmark, looksLost } from './lost-servers.js';
import { toRound } from './to-round.js';

/** @typedef {import('../lib/result.js').Benchmark} Benchmark */
/** @typedef {import('../lib/result.js').Round} Round */

/** @typedef {import('./benchmarks.js').Job} Job */
/** @typedef {import('./rounds.js').RoundsContext} RoundsContext */

/**
 * @typedef {object} Ended
 * @property {Job} job
 * @property {Round} round
 * @property {import('./segment.js').Segment | null} segment all that was measured in it
 */

/**
 * @param {Ended} ended
 * @param {RoundsContext} context
 * @param {boolean} [more] others end at the same time, after it
 */
export async function endRound({ job, round, segment }, context, more = false) {
  const { result, lost, onEvent, signal } = context;
  const { benchmark } = job;
  benchmark.rounds.push(round);
  const mayBeLost = looksLost(round) && !signal?.aborted;
  const failure = mayBeLost ? await lost.check(serversOf(job, context)) : null;
  if (failure !== null) {
    Object.assign(round, { state: 'failed', failure });
    failBenchmark(benchmark, failure);
  } else if (round.state === 'failed') {
    benchmark.state = 'failed';
    benchmark.reason = round.failure?.message ?? null;
  } else if (benchmark.state !== 'failed') {
    benchmark.state = round.state;
  }
  const measured = segment === null ? {} : { segment };
  onEvent?.({ type: 'benchmark-end', benchmark, round, result, more, ...measured });
}

/**
 * @param {Job} job
 * @param {RoundsContext} context
 * @returns {(import('./targets.js').ServerTarget | null)[]} that it needs
 */
export function serversOf({ target, load }, { others }) {
  return [target.server, ...others.filter(({ name }) => load.others.includes(name))];
}

/**
 * @param {import('./seat.js').Seat} seat
 * @param {readonly number[]} row indices of the loads of one benchmark
 * @param {{ benchmark: Benchmark, place: { round: number, position: number } }} about
 * @returns {Promise<import('./journal.js').Unfinished[]>} the round under way, aborted; none where
 *   nothing was measured
 */
export async function unfinishedOf(seat, row, { benchmark, place }) {
  const merged = seat.merged(row, { partial: true });
  if (merged === null || merged.scheduled === 0) return [];
  return [{ benchmark, round: await toRound({ ...merged, state: 'aborted' }, place) }];
}
