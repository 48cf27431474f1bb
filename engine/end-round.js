/**
 * Ends a round of a benchmark under any schedule and adds it to the result; also adds the running
 * round, as far as it has been measured.
 */

import { wrongOutcomes } from '../lib/outcome.js';
import { failBenchmark, looksLost } from './lost-servers.js';
import { toRound } from './to-round.js';

/** @typedef {import('../lib/result.js').Benchmark} Benchmark */
/** @typedef {import('../lib/result.js').Round} Round */

/** @typedef {import('./benchmarks.js').Job} Job */
/** @typedef {import('./rounds.js').RoundsContext} RoundsContext */

/** Below this share of correct replies a round has no speed: the rest would measure failures. */
const RIGHT_MIN = 0.99;

/**
 * @typedef {object} Ended
 * @property {Job} job
 * @property {Round} round
 * @property {import('./segment.js').Segment | null} segment everything measured in it
 */

/**
 * @param {Ended} ended
 * @param {RoundsContext} context
 * @param {boolean} [more] further contenders that end at the same time
 */
export async function endRound({ job, round, segment }, context, more = false) {
  const { result, lost, onEvent, signal } = context;
  const { benchmark } = job;
  benchmark.rounds.push(round);
  const mayBeLost = looksLost(round) && !signal?.aborted;
  const failure = mayBeLost ? await lost.check(serversOf(job, context), round) : null;
  if (failure !== null) {
    Object.assign(round, { state: 'failed', failure });
    failBenchmark(benchmark, failure);
  } else {
    const tooFew = round.state === 'measured' ? tooFewRight(round, benchmark) : null;
    if (tooFew !== null) Object.assign(round, { state: 'failed', failure: tooFew });
    if (round.state === 'failed') {
      benchmark.reason = round.failure?.message ?? null;
      benchmark.state = 'failed';
    } else if (benchmark.state !== 'failed') {
      benchmark.state = round.state;
    }
  }
  const measured = segment === null ? {} : { segment };
  onEvent?.({ type: 'benchmark-end', benchmark, round, result, more, ...measured });
}

/**
 * @param {Round} round
 * @param {Benchmark} benchmark
 * @returns {import('./segment.js').Failure | null} null: it has a speed. An open loop reports the
 *   rate that it achieved, and variants of a workload report their own failures
 */
function tooFewRight(round, { load, parameters }) {
  const { ok } = round.outcomes;
  const all = Object.values(round.outcomes).reduce((sum, count) => sum + count, 0);
  const isExempt = load.kind === 'rate' || parameters !== undefined;
  if (isExempt || ok >= all * RIGHT_MIN) return null;
  const message =
    `no speed: ${ok} of ${all} requests had a correct reply, less than ${100 * RIGHT_MIN} % ` +
    `(${wrongOutcomes(round)})`;
  return { code: 'E_REPLIES', message };
}

/**
 * @param {Job} job
 * @param {RoundsContext} context
 * @returns {(import('./targets.js').ServerTarget | null)[]} servers that it uses
 */
export function serversOf({ target, load }, { others }) {
  return [target.server, ...others.filter(({ name }) => load.others.includes(name))];
}

/**
 * @param {import('./seat.js').Seat} seat
 * @param {readonly number[]} row indices of the loads of one benchmark
 * @param {{ benchmark: Benchmark, place: { round: number, position: number } }} about
 * @returns {Promise<import('./journal.js').Unfinished[]>} the running round, aborted; empty if
 *   nothing was measured
 */
export async function unfinishedOf(seat, row, { benchmark, place }) {
  const merged = seat.merged(row, { partial: true });
  if (merged === null || merged.scheduled === 0) return [];
  return [{ benchmark, round: await toRound({ ...merged, state: 'aborted' }, place) }];
}
