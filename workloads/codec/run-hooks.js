/** Legacy output: one line per benchmark. */

import { labelOf } from '../../lib/label.js';

/** @type {NonNullable<import('../../lib/types.js').RunHooks['legacyLines']>} */
export const legacyLines =
  ({ quiet }) =>
  (event) =>
    event.type === 'benchmark-end' && !quiet ? [benchmarkLine(event.benchmark, event.round)] : [];

/**
 * `ecql_decoding_1_4 100 iterations: 11737.2`, for encoders with the unit: names of codec and
 * fixture, and the mean time of one pass over the fixture.
 * @param {import('../../lib/result.js').Benchmark} benchmark
 * @param {import('../../lib/result.js').Round} round
 */
function benchmarkLine(benchmark, { state, failure, metrics = {}, outcomes, durationNs }) {
  const { direction, fixture } = benchmark.parameters ?? {};
  const name = `${labelOf(benchmark)}_${fixture}`;
  const passes = outcomes.ok * Number(metrics['repeat'] ?? 1);
  if (state !== 'measured' || passes === 0) {
    return `${name}: ${state}${failure === null ? '' : `, ${failure.message}`}`;
  }
  const microseconds = Number((durationNs / passes / 1000).toFixed(2));
  const unit = direction === 'encode' ? ' microseconds per call' : '';
  return `${name} ${passes} iterations: ${microseconds}${unit}`;
}
