/**
 * The result while a benchmark runs: with what it has measured until now as an aborted round, so
 * that a run that is killed leaves all but its last second behind.
 */

import { toRound } from './round.js';

/** @typedef {import('../lib/result.js').Result} Result */
/** @typedef {import('../lib/result.js').Benchmark} Benchmark */

/**
 * @param {((result: Result) => void) | undefined} onPartial
 * @param {Result} result
 * @param {Benchmark} benchmark that runs
 * @param {{ round: number, position: number }} place
 * @returns {{ onRecord?: (record: import('./record.js').BenchmarkRecord) => void, end(): void }}
 *   end: it has ended, and its whole round takes over
 */
export function watchPartial(onPartial, result, benchmark, place) {
  if (onPartial === undefined) return { end() {} };
  let hasEnded = false;
  return {
    async onRecord(record) {
      const round = await toRound({ record, failure: null, processNs: null }, place);
      if (hasEnded) return;
      const benchmarks = result.benchmarks.map((one) =>
        one === benchmark
          ? { ...one, state: /** @type {const} */ ('aborted'), rounds: [...one.rounds, round] }
          : one,
      );
      onPartial({ ...result, benchmarks });
    },
    end() {
      hasEnded = true;
    },
  };
}
